package jobs

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"transect/runtime/jobs/bundle"
	"transect/runtime/jobs/link"
)

// Queue is the access of a script to jobs: the jobs it submits are parts of its run. Store implements it, and
// Linked in the process of a job.
type Queue interface {
	// SubmitPart submits a job, unless the run already did: then it returns that job, after retrying it if it
	// failed.
	SubmitPart(ctx context.Context, p Part) (id int64, err error)
	// EndedParts returns the jobs that have ended, only some of them if their results are large.
	EndedParts(ctx context.Context, ids []int64) ([]Ended, error)
}

// Part is a job that a script submits.
type Part struct {
	Key    string         `json:"key"` // of the job in its run; "" to submit it in any case
	Spec   Spec           `json:"spec"`
	At     time.Time      `json:"at"`
	In     time.Duration  `json:"in"`
	Bundle *bundle.Bundle `json:"bundle"` // nil for scripts of the binary
}

// Ended is a job that has ended.
type Ended struct {
	ID       int64           `json:"id"`
	State    string          `json:"state"`
	OK       bool            `json:"ok"` // it succeeded completely
	ExitCode *int            `json:"exit_code,omitempty"`
	Message  string          `json:"message,omitempty"`
	Result   json.RawMessage `json:"result,omitempty"`
}

// SubmitPart implements Queue.
func (s *Store) SubmitPart(ctx context.Context, p Part) (int64, error) {
	return s.submitPart(ctx, p, 0, 0)
}

// submitPart submits a part of the run of a job while its epoch is current; for another run job is 0.
func (s *Store) submitPart(ctx context.Context, p Part, job, epoch int64) (id int64, err error) {
	spec := p.Spec
	spec.At, spec.In = p.At, p.In
	key := s.submitter("$2") + " || '/' || cast($1 as text)" // in tr_part
	if p.Bundle != nil {
		if spec.Bundle, err = s.PutBundle(ctx, p.Bundle); err != nil {
			return 0, err
		}
	}
	err = s.Tx(ctx, func(tx *Tx) error {
		if job != 0 {
			if err := s.fence(ctx, tx, job, epoch); err != nil {
				return err
			}
		}
		err := tx.QueryRowContext(ctx, "select job_id from tr_part where key = "+key, p.Key, spec.Submitter).Scan(&id)
		if err == nil {
			state, err := s.state(ctx, tx, id)
			if err != nil || state != Failed && state != Stopped {
				return err
			}
			return s.retryTx(ctx, tx, id, spec.Bundle)
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if id, err = s.SubmitTx(ctx, tx, spec); err != nil || p.Key == "" {
			return err
		}
		_, err = tx.ExecContext(ctx, "insert into tr_part (key, job_id) values ("+key+", $3)", p.Key, spec.Submitter, id)
		return err
	})
	return id, err
}

// removed is the state that scripts see for jobs that no longer exist.
const removed = "removed"

// maxResults limits the results in one response, in bytes.
const maxResults = 8 << 20

// EndedParts implements Queue.
func (s *Store) EndedParts(ctx context.Context, ids []int64) (ended []Ended, err error) {
	found, err := s.jobs(ctx, s.db, " where "+In("j.id", ids, nil))
	if err != nil {
		return nil, err
	}
	exists := map[int64]bool{}
	size := 0
	for _, job := range found {
		exists[job.ID] = true
		if !job.State.Final() || size > maxResults {
			continue
		}
		e := Ended{ID: job.ID, State: string(job.State), OK: job.State == Done, ExitCode: job.ExitCode, Message: job.Message}
		if e.Result, err = s.Result(ctx, job.ID); err != nil {
			return nil, err
		}
		size += len(e.Result)
		ended = append(ended, e)
	}
	last := int64(-1)
	for _, id := range ids {
		if exists[id] {
			continue
		}
		if last < 0 {
			if err := s.db.QueryRowContext(ctx, s.lastID).Scan(&last); err != nil {
				return nil, s.Explain(err)
			}
		}
		if id < 1 || id > last {
			return nil, unknown(id)
		}
		ended = append(ended, Ended{ID: id, State: removed, Message: "it was removed"})
	}
	return ended, nil
}

// Names of the calls of a job's process about its own result and other jobs.
const (
	callSubmit = "jobs.submit"
	callEnded  = "jobs.ended"
	callResult = "result"

	// CallRecord brings the record of the run, see Record.
	CallRecord = "record"
)

// Linked is the Queue of a job's process. The worker adds the job's own flags, variables and folder to the
// jobs it submits.
type Linked struct{ Link *link.Child }

// SubmitPart implements Queue.
func (l Linked) SubmitPart(ctx context.Context, p Part) (id int64, err error) {
	err = l.Link.Call(ctx, callSubmit, p, &id)
	return id, err
}

// EndedParts implements Queue.
func (l Linked) EndedParts(ctx context.Context, ids []int64) (ended []Ended, err error) {
	err = l.Link.Call(ctx, callEnded, ids, &ended)
	return ended, err
}

// PutResult stores the result of the process's own job, as JSON.
func (l Linked) PutResult(ctx context.Context, value json.RawMessage) error {
	return l.Link.Call(ctx, callResult, value, nil)
}

// Part returns the job without settings for it alone: the files that it writes.
func (s Spec) Part() Spec {
	own := func(word string) bool {
		name, _, _ := strings.Cut(word, "=")
		return slices.Contains([]string{"--report", "--metrics", "TRANSECT_REPORT", "TRANSECT_METRICS"}, name)
	}
	s.Run, s.Env = slices.DeleteFunc(slices.Clone(s.Run), own), slices.DeleteFunc(slices.Clone(s.Env), own)
	return s
}

// Answers returns the handlers for the process of an attempt. They retry while the database does not answer.
// They call waits whenever the process polled for the end of other jobs and found none.
func (s *Store) Answers(ctx context.Context, job, epoch int64, waits func(), p Patience) link.Handlers {
	h := link.Handlers{
		callSubmit: link.Handler(func(ctx context.Context, part Part) (id int64, err error) {
			p.Moved()
			own := part.Spec.Run
			err = p.retry(ctx, func(ctx context.Context) error {
				parent, err := s.Get(ctx, job)
				if err != nil {
					return err
				}
				to, common := &part.Spec, parent.Part()
				to.Parent, to.User, to.Submitter = job, parent.User, parent.Submitter
				to.Run, to.Env, to.Folder = slices.Concat(own, common.Run), common.Env, parent.Folder
				id, err = s.submitPart(ctx, part, job, epoch)
				return err
			})
			return id, err
		}),
		callEnded: link.Handler(func(ctx context.Context, ids []int64) (ended []Ended, err error) {
			err = p.retry(ctx, func(ctx context.Context) error { ended, err = s.EndedParts(ctx, ids); return err })
			if err == nil && len(ended) == 0 {
				waits()
			}
			return ended, err
		}),
		callResult: link.Handler(func(ctx context.Context, value json.RawMessage) (any, error) {
			return nil, p.retry(ctx, func(ctx context.Context) error { return s.PutResult(ctx, job, epoch, value) })
		}),
		CallRecord: link.Handler(func(ctx context.Context, record json.RawMessage) (any, error) {
			return nil, p.retry(ctx, func(ctx context.Context) error { return s.putRecord(ctx, job, epoch, record) })
		}),
	}
	link.ServeLedger(h, retryingLedger{s.Ledger(ctx, job, epoch), p})
	return h
}
