package jobs

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river/rivertype"

	"transect/client/fault"
)

// Cancel cancels a job: immediately if it is not running, otherwise its worker stops it within about a
// second. For a job that has ended it returns a *fault.ValueError.
func (s *Store) Cancel(ctx context.Context, id int64) error {
	return s.Tx(ctx, func(tx *Tx) error { return s.CancelTx(ctx, tx, id) })
}

// CancelTx is like Cancel, in a transaction.
func (s *Store) CancelTx(ctx context.Context, tx *Tx, id int64) error {
	state, err := s.state(ctx, tx, id)
	switch {
	case err != nil:
		return err
	case state.Final():
		return fault.Of(&fault.ValueError{}, "job %d has ended: %s", id, state)
	}
	job, err := s.engine.cancel(ctx, tx, id)
	if err != nil {
		return err
	}
	if job.State == rivertype.JobStateCancelled {
		_, err = tx.ExecContext(ctx, "update tr_job set outcome = $1, waiting = '', ended_at = "+s.Now+" where job_id = $2",
			string(Cancelled), id)
	}
	return errors.Join(err, s.NotifyTx(ctx, tx, id))
}

// Retry runs a job now that has ended or waits for its time. The attempt continues the same run: earlier
// writes are not repeated.
func (s *Store) Retry(ctx context.Context, id int64) error {
	return s.Tx(ctx, func(tx *Tx) error { return s.retryTx(ctx, tx, id, "") })
}

// retryTx is like Retry, in a transaction, with another bundle unless it is "".
func (s *Store) retryTx(ctx context.Context, tx *Tx, id int64, bundle string) error {
	state, err := s.state(ctx, tx, id)
	switch {
	case err != nil:
		return err
	case state == Running:
		return fault.Of(&fault.ValueError{}, "job %d is running", id)
	case state == Done:
		return fault.Hinted(fault.Of(&fault.ValueError{}, "job %d is done", id), "submit it again")
	}
	job, err := s.engine.retry(ctx, tx, id)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "update river_job set metadata = "+s.uncancel+" where id = $1", id); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx,
		"update tr_job set tries = 0, outcome = '', message = '', waiting = '', exit_code = null, "+
			"ended_at = 0 where job_id = $1", id); err != nil {
		return err
	}
	var spec Spec
	if err := json.Unmarshal(job.EncodedArgs, &spec); err != nil {
		return err
	}
	if bundle != "" && bundle != spec.Bundle { // the script was corrected
		spec.Bundle = bundle
		text, err := json.Marshal(spec)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "update river_job set args = "+s.json+" where id = $2", string(text),
			id); err != nil {
			return err
		}
		// otherwise it would be pruned
		if _, err := tx.ExecContext(ctx, "update tr_job set bundle = $1 where job_id = $2", bundle, id); err != nil {
			return err
		}
	}
	var onFailure, ping sql.NullString
	if err := tx.QueryRowContext(ctx, "select on_failure, ping from tr_target where job_id = $1", id).Scan(&onFailure,
		&ping); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	spec.SetTargets(onFailure, ping)
	return errors.Join(s.WatchTx(ctx, tx, id, spec), s.NotifyTx(ctx, tx, id))
}

// Remove deletes a job with its log, its ledger and its result. For a running job it returns a
// *fault.ValueError.
func (s *Store) Remove(ctx context.Context, id int64) error {
	return s.Tx(ctx, func(tx *Tx) error {
		state, err := s.state(ctx, tx, id)
		switch {
		case err != nil:
			return err
		case state == Running:
			return fault.Hinted(fault.Of(&fault.ValueError{}, "job %d is running", id), "cancel it first")
		}
		return s.removeTx(ctx, tx, id)
	})
}

func (s *Store) removeTx(ctx context.Context, tx *Tx, id int64) error {
	if err := s.engine.remove(ctx, tx, id); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "delete from tr_ledger where run = $1", RunID(id)); err != nil {
		return err
	}
	for _, statement := range []string{
		"delete from tr_log where run_id in (select id from tr_run where job_id = $1)",
		"delete from tr_run where job_id = $1",
		"delete from tr_result where job_id = $1", "delete from tr_key where job_id = $1",
		"delete from tr_watch where job_id = $1", "delete from tr_target where job_id = $1",
		"delete from tr_part where job_id = $1",
		"delete from tr_job where job_id = $1",
	} {
		if _, err := tx.ExecContext(ctx, statement, id); err != nil {
			return err
		}
	}
	return s.NotifyTx(ctx, tx, id)
}

// state returns the state of a job, whose row stays locked on PostgreSQL.
func (s *Store) state(ctx context.Context, tx *Tx, id int64) (state State, err error) {
	err = tx.QueryRowContext(ctx, "select "+StateSQL+" from river_job j join tr_job t on t.job_id = j.id where j.id = "+
		"$1"+s.Lock("for update of j"), id).Scan(&state)
	if !errors.Is(err, sql.ErrNoRows) {
		return state, err
	}
	var submitter string
	if err := tx.QueryRowContext(ctx, "select submitter from tr_job where job_id = $1", id).Scan(&submitter); err == nil {
		return "", NotYours(fmt.Sprintf("job %d", id), submitter)
	}
	return "", unknown(id)
}

// NotYours returns the error for a change to something that another user of the database submitted.
func NotYours(what, submitter string) error {
	return fault.Hinted(fault.Of(&fault.PermissionError{}, "%s is not yours: %s submitted it", what, submitter),
		"ask %s, or do it as a user with the role transect_worker", submitter)
}

// riverState returns the state in River's terms.
func (s State) riverState() string {
	switch s {
	case Done, DoneFailures:
		return "completed"
	case Retrying:
		return "retryable"
	case Waiting:
		return "scheduled"
	case Cancelled:
		return "cancelled"
	case Lost, Released:
		return "available"
	}
	return "discarded"
}

// SetStateTx ends the attempt of a running job: the job has ended, or runs again after a delay. Attempts that
// waited or were released do not count for River.
func (s *Store) SetStateTx(ctx context.Context, tx *Tx, id int64, to State, delay time.Duration) error {
	at, finalized, attempt := s.After("$3"), "null", "attempt"
	switch {
	case to.Final():
		at, finalized = "scheduled_at", at
	case to == Waiting || to == Released:
		attempt = "attempt - 1"
	}
	_, err := tx.ExecContext(ctx, "update river_job set state = $2, attempt = "+attempt+", "+
		"scheduled_at = "+at+", finalized_at = "+finalized+
		" where id = $1 and state = 'running'", id, to.riverState(), delay.Milliseconds())
	return err
}

// Retention defines how long ended jobs are kept.
type Retention struct {
	Jobs time.Duration // with all their data; 0: for ever
	Logs time.Duration // their output; 0: as long as the job
}

// DefaultRetention is the retention of workers.
var DefaultRetention = Retention{Jobs: 90 * 24 * time.Hour, Logs: 30 * 24 * time.Hour}

// pruneAtOnce limits the jobs per transaction of Prune.
const pruneAtOnce = 200

// Prune removes jobs that ended too long ago, old logs, the rows of dead workers and unused scripts. It
// returns the number of jobs removed. Jobs that wait for a decision are kept.
func (s *Store) Prune(ctx context.Context, keep Retention) (removed int, err error) {
	for keep.Jobs > 0 {
		ids, err := s.ended(ctx, keep.Jobs)
		if err != nil || len(ids) == 0 {
			break
		}
		err = s.Tx(ctx, func(tx *Tx) error {
			for _, id := range ids {
				if err := s.removeTx(ctx, tx, id); err != nil && !errors.Is(err, rivertype.ErrNotFound) {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return removed, err
		}
		removed += len(ids)
	}
	day := int64(24 * time.Hour / time.Millisecond)
	if keep.Logs > 0 {
		if _, err := s.db.ExecContext(ctx,
			"delete from tr_log where run_id in (select id from tr_run where ended_at < "+s.Now+" - $1)",
			keep.Logs.Milliseconds()); err != nil {
			return removed, s.Explain(err)
		}
	}
	for _, statement := range []string{
		"delete from tr_worker where dead_at < " + s.Now + " - $1",
		"delete from tr_bundle where at < " + s.Now + ` - $1 and not exists (select 1 from tr_job where bundle = hash)
			and not exists (select 1 from tr_schedule where spec like '%' || hash || '%')`,
	} {
		if _, err := s.db.ExecContext(ctx, statement, day); err != nil {
			return removed, s.Explain(err)
		}
	}
	return removed, nil
}

func (s *Store) ended(ctx context.Context, age time.Duration) (ids []int64, err error) {
	ids, err = Column[int64](ctx, s.db, `select j.id from river_job j join tr_job t on t.job_id = j.id
		where t.ended_at > 0 and t.ended_at < `+s.Now+
		` - $1 and j.state in ('completed', 'discarded', 'cancelled') and t.outcome <> $2
		order by t.ended_at limit $3`, age.Milliseconds(), string(NeedsDecision), pruneAtOnce)
	return ids, s.Explain(err)
}
