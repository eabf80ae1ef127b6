package jobs

import (
	"fmt"
	"iter"
	"strings"
	"time"
)

// Unsuccessful lists the states of jobs that ended unsuccessfully.
var Unsuccessful = []State{DoneFailures, Failed, Stopped, NeedsDecision}

// StateText returns the state for lists, with what the job waits for.
func (j *Job) StateText() string {
	switch {
	case j.State == Running && j.Cancelled:
		return "running, being cancelled"
	case j.Waiting != "" && j.State == Running:
		return "running, waits for " + j.Waiting
	case j.Waiting != "" && !j.State.Final():
		return string(j.State) + " for " + j.Waiting
	}
	return string(j.State)
}

// StartOrDue returns when the newest attempt started, or when the next one is due.
func (j *Job) StartOrDue() time.Time {
	if j.Started.IsZero() || j.State == Scheduled || j.State == Retrying {
		return j.Due
	}
	return j.Started
}

// Took returns how long the newest attempt took, or has been running; 0 without one.
func (j *Job) Took(now time.Time) time.Duration {
	switch {
	case j.Started.IsZero():
	case j.State == Running:
		return max(now.Sub(j.Started), 0).Round(time.Second)
	case j.State.Final():
		return max(j.Ended.Sub(j.Started), 0)
	}
	return 0
}

// Cancellable reports whether the job can be cancelled.
func (j *Job) Cancellable() bool { return !j.State.Final() && !j.Cancelled }

// Retryable reports whether the job can be retried.
func (j *Job) Retryable() bool {
	return j.State.Final() && j.State != Done || j.State == Scheduled || j.State == Retrying
}

// Took returns how long the attempt took, or has been running.
func (a Attempt) Took(now time.Time) time.Duration {
	if a.Ended == nil {
		return max(now.Sub(a.Started), 0).Round(time.Second)
	}
	return a.Ended.Sub(a.Started)
}

// State returns a word for the state of the worker.
func (w *Worker) State() string {
	switch {
	case w.Died:
		return "died"
	case !w.Alive:
		return "left"
	case w.Stopping:
		return "stopping"
	case len(w.Jobs) == 0:
		return "idle"
	}
	return "working"
}

// InOrder iterates over the states with jobs, in the order in which jobs pass them.
func (t Tally) InOrder() iter.Seq2[State, int] {
	return func(yield func(State, int) bool) {
		for _, state := range States {
			if n := t[state]; n > 0 && !yield(state, n) {
				return
			}
		}
	}
}

// String returns a text such as 12 done, 1 failed.
func (t Tally) String() string {
	var parts []string
	for state, n := range t.InOrder() {
		parts = append(parts, fmt.Sprintf("%d %s", n, state))
	}
	return strings.Join(parts, ", ")
}

// All returns the number of jobs in all states.
func (t Tally) All() (n int) {
	for _, jobs := range t {
		n += jobs
	}
	return n
}
