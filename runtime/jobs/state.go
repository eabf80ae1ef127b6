package jobs

import (
	"fmt"
	"strconv"
	"strings"
)

// State is the state of a job, in the terms of users.
type State string

// The states of a job.
const (
	Waiting       State = "waiting"
	Scheduled     State = "scheduled"
	Running       State = "running"
	Retrying      State = "retrying"
	Done          State = "done"
	DoneFailures  State = "done with failures" // exit code 3
	Failed        State = "failed"
	Stopped       State = "stopped"          // 2, 4: repeating it would not help
	NeedsDecision State = "needs a decision" // 7
	Cancelled     State = "cancelled"
)

// Outcomes of attempts that are not states of jobs.
const (
	Lost     State = "lost"     // its worker died
	Released State = "released" // its worker was stopped
)

// States lists the states of jobs, in the order in which jobs pass them.
var States = []State{Waiting, Scheduled, Running, Retrying, Done, DoneFailures, Failed, Stopped, NeedsDecision,
	Cancelled}

// Final reports whether a job in this state has ended.
func (s State) Final() bool {
	switch s {
	case Waiting, Scheduled, Running, Retrying, Lost, Released:
		return false
	}
	return true
}

// ByExitCode returns the state of a job whose last attempt ended with an exit code.
func ByExitCode(code int) State {
	switch code {
	case 0:
		return Done
	case 3:
		return DoneFailures
	case 2, 4:
		return Stopped
	case 7:
		return NeedsDecision
	}
	return Failed
}

// StateSQL is an expression for the State of a row of river_job j and tr_job t.
const StateSQL = `case
	when j.state = 'running' then 'running'
	when j.state = 'retryable' then 'retrying'
	when t.waiting <> '' or j.state in ('available', 'pending') then 'waiting'
	when j.state = 'scheduled' then 'scheduled'
	when j.state = 'cancelled' then 'cancelled'
	when t.outcome <> '' then t.outcome
	when j.state = 'completed' then 'done'
	else 'failed' end`

// CancelAskedSQL is a condition: the cancellation of a row of river_job j was requested.
const CancelAskedSQL = "j.metadata ->> 'cancel_attempted_at' is not null"

// RunID returns the ID of a job's run, which its attempts continue.
func RunID(job int64) string { return fmt.Sprintf("job-%d", job) }

// JobOfRun returns the job with a run ID; 0 for other runs.
func JobOfRun(run string) int64 {
	digits, _ := strings.CutPrefix(run, "job-")
	job, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || job <= 0 || RunID(job) != run {
		return 0
	}
	return job
}
