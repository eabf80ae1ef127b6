package board

import (
	"time"

	"transect/runtime/jobs"
)

// Row is a job as lists show it.
type Row struct {
	*jobs.Job
	Now      time.Time
	Children Counts // the jobs that it has submitted
}

// Class is the colour of the job's state.
func (r *Row) Class() string { return class(r.State) }

func class(state jobs.State) string {
	switch state {
	case jobs.Running:
		return "busy"
	case jobs.Done:
		return "good"
	case jobs.Retrying, jobs.DoneFailures, jobs.Lost, jobs.Released:
		return "warn"
	case jobs.Failed, jobs.Stopped, jobs.NeedsDecision:
		return "bad"
	}
	return ""
}

// Word is the state, with what the job waits for.
func (r *Row) Word() string {
	switch {
	case r.State == jobs.Running && r.Cancelled:
		return "running, being cancelled"
	case r.Waiting != "" && !r.State.Final():
		return string(r.State) + " for " + r.Waiting
	}
	return string(r.State)
}

// When is the start of the newest attempt, or when the next one is due.
func (r *Row) When() time.Time {
	if r.Started.IsZero() || r.State == jobs.Scheduled || r.State == jobs.Retrying {
		return r.Due
	}
	return r.Started
}

// Took is how long the newest attempt took, or takes; 0 when there is none.
func (r *Row) Took() time.Duration {
	switch {
	case r.Started.IsZero():
		return 0
	case r.State == jobs.Running:
		return max(r.Now.Sub(r.Started), 0).Round(time.Second)
	}
	return max(r.Ended.Sub(r.Started), 0)
}

// Cancellable reports whether the job can be cancelled.
func (r *Row) Cancellable() bool { return !r.State.Final() && !r.Cancelled }

// Retryable reports whether the job can be run again, or now.
func (r *Row) Retryable() bool {
	return r.State.Final() && r.State != jobs.Done || r.State == jobs.Scheduled || r.State == jobs.Retrying
}

func rows(list []*jobs.Job, now time.Time) (all []*Row) {
	for _, job := range list {
		all = append(all, &Row{Job: job, Now: now})
	}
	return all
}

// Count is how many jobs are in a state.
type Count struct {
	State jobs.State
	N     int
}

// Class is the colour of the state.
func (c Count) Class() string { return class(c.State) }

// Counts are numbers of jobs in the order in which they pass the states.
type Counts []Count

func countsOf(tally jobs.Tally) (all Counts) {
	for _, state := range jobs.States {
		if n := tally[state]; n > 0 {
			all = append(all, Count{state, n})
		}
	}
	return all
}

// All is the sum.
func (c Counts) All() (n int) {
	for _, one := range c {
		n += one.N
	}
	return n
}
