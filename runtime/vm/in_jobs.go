package vm

import (
	"context"
	"time"

	"transect/runtime/jobs/setting"
)

// Jobs is where a script submits jobs, see runtime/jobs.
type Jobs struct {
	// Submit queues a job and returns its ID. A further start of the run gets the
	// ID of the job that an earlier one has submitted.
	Submit func(ctx context.Context, r JobRequest) (int64, error)
	// Rehearse returns an ID for a job that is not submitted.
	Rehearse func(ctx context.Context, r JobRequest) (int64, error)
	// Ended returns those of the jobs that have ended, or some of them.
	Ended func(ctx context.Context, ids []int64) ([]EndedJob, error)
}

// JobRequest is a job to submit.
type JobRequest struct {
	Script string
	Args   []string
	Delay  time.Duration // not before
	setting.Settings
}

// EndedJob is a job that has ended.
type EndedJob struct {
	ID       int64  `json:"id"`
	State    string `json:"state"`
	OK       bool   `json:"ok"` // it is done, without failed items
	ExitCode *int   `json:"exit_code,omitempty"`
	Message  string `json:"message,omitempty"` // of its failure
	Result   []byte `json:"result,omitempty"`  // JSON; nil when it has none
}
