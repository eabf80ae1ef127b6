package jobs

import (
	"context"
	"encoding/json"
	"time"

	"transect/client/fault"
	"transect/runtime/unattended/history"
)

// Record is the record of the run of a job, as reported by its newest attempt. It is only in the database:
// the history of a machine has the runs that no worker started.
type Record struct {
	Summary  *history.Summary  `json:"summary"`
	Progress *history.Progress `json:"progress"`
}

// Transferred returns the bytes of files that the attempt has sent and received.
func (r *Record) Transferred() (sent, received int64) {
	switch {
	case r.Summary != nil && r.Summary.End != nil:
		return r.Summary.End.Sent, r.Summary.End.Received
	case r.Progress != nil && len(r.Progress.Samples) > 0:
		last := r.Progress.Samples[len(r.Progress.Samples)-1]
		return last.Sent, last.Received
	}
	return 0, 0
}

// Items returns the number of items that the attempt has worked on.
func (r *Record) Items() int64 {
	if r.Progress == nil {
		return 0
	}
	return r.Progress.ItemsDone + r.Progress.ItemsFailed
}

// putRecord replaces the record of an attempt in progress.
func (s *Store) putRecord(ctx context.Context, job, epoch int64, record json.RawMessage) error {
	return s.Tx(ctx, func(tx *Tx) error {
		_, err := tx.ExecContext(ctx, "update tr_run set record = $1 where job_id = $2 and epoch = $3 and ended_at is null",
			string(record), job, epoch)
		return err
	})
}

// Record returns the record of the run of a job. For an attempt that was killed, or has not reported yet, it
// is derived from what the worker recorded.
func (s *Store) Record(ctx context.Context, id int64) (*Record, error) {
	job, err := s.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	attempts, err := s.Attempts(ctx, id)
	if err != nil {
		return nil, err
	}
	if len(attempts) == 0 {
		return nil, fault.Of(&fault.KeyError{}, "job %d has not started", id)
	}
	last := attempts[len(attempts)-1]
	r := &Record{}
	if last.record != "" {
		if err := json.Unmarshal([]byte(last.record), r); err != nil {
			return nil, err
		}
	}
	if r.Progress == nil {
		r.Progress = &history.Progress{}
	}
	if r.Summary == nil {
		r.Summary = &history.Summary{Script: job.Script, Arguments: job.Args, Host: last.Worker, Started: last.Started}
	}
	r.Summary.ID, r.Summary.Run, r.Summary.State = RunID(id), "", history.Running
	if r.Summary.Plan = job.Plan(); r.Summary.Plan != "" {
		r.Summary.AgreedBy = job.By() // not the user of the worker
	}
	switch {
	case last.Ended == nil:
	case r.Summary.End != nil:
		r.Summary.State = history.Ended
	case last.ExitCode != nil: // it reported no more
		r.Summary.State = history.Ended
		r.Summary.End = &history.End{At: *last.Ended, Seconds: last.Ended.Sub(last.Started).Seconds(),
			ExitCode: *last.ExitCode, Outcome: history.Outcome(*last.ExitCode)}
	default:
		r.Summary.State = history.Lost
	}
	return r, nil
}

// recordInterval is how often the process of a job reports its progress, and recordPatience how long it waits
// for the worker to store it.
const (
	recordInterval = 5 * time.Second
	recordPatience = 30 * time.Second
)

// Recorder stores the record of the run of a job through its worker.
type Recorder struct {
	Linked
	Record
	progress json.RawMessage
	sent     time.Time
}

// WriteProgress stores the progress of the run.
func (r *Recorder) WriteProgress(text []byte) error {
	r.progress = text
	if time.Since(r.sent) < recordInterval {
		return nil
	}
	return r.send()
}

// End stores the outcome of the run.
func (r *Recorder) End(summary *history.Summary) error {
	r.Summary = summary
	return r.send()
}

func (r *Recorder) send() error {
	r.sent = time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), recordPatience)
	defer cancel()
	return r.Link.Call(ctx, CallRecord, map[string]any{"summary": r.Summary, "progress": r.progress}, nil)
}
