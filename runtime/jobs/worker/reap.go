package worker

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"

	"transect/runtime/jobs"
)

// mostLost is how many attempts in a row may end with the death of their worker: a
// job that kills each machine it comes to is not passed on for ever.
const mostLost = 10

// reap looks for dead workers and gives their jobs to others.
func (s *session) reap(ctx context.Context) {
	for sleep(ctx, s.w.o.Times.Reap) {
		if !s.lease.trusted() {
			continue
		}
		asking, cancel := s.asking(ctx)
		err := s.reapOnce(asking)
		if cancel(); err != nil && ctx.Err() == nil {
			s.log.Debug("jobs of dead workers were not looked for", "error", err)
		}
	}
}

// prune removes what is old, once an hour.
func (s *session) prune(ctx context.Context) {
	for sleep(ctx, time.Duration(rand.Int64N(int64(time.Hour)))) {
		removed, err := s.store.Prune(ctx, jobs.DefaultRetention)
		if err != nil && ctx.Err() == nil {
			s.log.Debug("old jobs were not removed", "error", err)
		}
		if removed > 0 {
			s.log.Info(fmt.Sprintf("%d jobs that ended long ago were removed", removed))
		}
		s.w.removeOld("folders", jobs.DefaultRetention.Jobs)
		s.w.removeOld("scripts", jobs.DefaultRetention.Logs) // of workers that were killed
	}
}

// removeOld removes folders of jobs that nobody has changed for so long.
func (w *Worker) removeOld(name string, age time.Duration) {
	entries, _ := os.ReadDir(w.folder(name)) // there may be none
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > age {
			_ = os.RemoveAll(w.folder(name, e.Name())) // the next time, else
		}
	}
}

// orphan is a job that runs on no living worker.
type orphan struct {
	id        int64
	attempt   int
	cancelled bool
	worker    string
	given     int // attempts that were lost in a row, with this one
}

func (s *session) reapOnce(ctx context.Context) error {
	found, err := s.mayReap(ctx)
	if err != nil || !found {
		return err
	}
	var taken []orphan
	err = s.store.Tx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "update tr_worker set dead_at = "+s.store.Now()+" where dead_at is null and lease_until < "+s.store.Now()); err != nil {
			return err
		}
		if taken, err = s.orphans(ctx, tx); err != nil || len(taken) == 0 {
			return err
		}
		return s.rescue(ctx, tx, taken)
	})
	if err != nil {
		return err
	}
	for _, o := range taken {
		s.log.Warn(fmt.Sprintf("job %d was taken from the worker %s, which does not answer", o.id, o.worker))
	}
	if len(taken) > 0 {
		s.pilot.wake()
	}
	return nil
}

// mayReap looks without writing, for each write waits for others on SQLite.
func (s *session) mayReap(ctx context.Context) (found bool, err error) {
	err = s.store.DB().QueryRowContext(ctx, `select exists (select 1 from tr_worker where dead_at is null and lease_until < `+s.store.Now()+`)
		or exists (select 1 from river_job j where `+s.orphaned()+`)`).Scan(&found)
	return found, err
}

// orphaned is the condition that a job of river_job j runs on no living worker.
func (s *session) orphaned() string {
	return "j.state = 'running' and not exists (select 1 from tr_worker w where w.dead_at is null and w.id = " + s.store.Owner() + ")"
}

const cancelAsked = "j.metadata ->> 'cancel_attempted_at' is not null"

func (s *session) orphans(ctx context.Context, tx *sql.Tx) ([]orphan, error) {
	return jobs.Collect(ctx, tx, func(rows *sql.Rows) (o orphan, err error) {
		err = rows.Scan(&o.id, &o.attempt, &o.cancelled, &o.worker, &o.given)
		return o, err
	}, `select j.id, j.attempt, `+cancelAsked+`,
		coalesce((select r.worker from tr_run r where r.job_id = j.id order by r.id desc limit 1), ''),
		(select count(*) from tr_run r where r.job_id = j.id and (r.outcome = 'lost' or r.ended_at is null)
			and r.id > coalesce((select max(e.id) from tr_run e where e.job_id = j.id and e.ended_at is not null and e.outcome <> 'lost'), 0))
		from river_job j where `+s.orphaned()+` order by j.id limit 500`+s.store.Lock("for update skip locked"))
}

// rescue ends the attempts of orphans and fences them off.
func (s *session) rescue(ctx context.Context, tx *sql.Tx, orphans []orphan) error {
	now := s.lease.databaseTime()
	p := &riverdriver.JobRescueManyParams{}
	for _, o := range orphans {
		state, outcome, finalized := rivertype.JobStateAvailable, jobs.State(""), (*time.Time)(nil)
		switch {
		case o.cancelled:
			state, outcome, finalized = rivertype.JobStateCancelled, jobs.Cancelled, &now
		case o.given >= mostLost:
			state, outcome, finalized = rivertype.JobStateDiscarded, jobs.Failed, &now
		}
		text, err := json.Marshal(rivertype.AttemptError{At: now, Attempt: o.attempt, Error: "its worker " + o.worker + " does not answer"})
		if err != nil {
			return err
		}
		p.ID, p.Error, p.State = append(p.ID, o.id), append(p.Error, text), append(p.State, string(state))
		p.FinalizedAt, p.ScheduledAt = append(p.FinalizedAt, finalized), append(p.ScheduledAt, now)
		if _, err := tx.ExecContext(ctx, "update tr_job set epoch = epoch + 1 where job_id = $1", o.id); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "update tr_run set ended_at = "+s.store.Now()+", outcome = $1 where job_id = $2 and ended_at is null", string(jobs.Lost), o.id); err != nil {
			return err
		}
		if err := s.store.NotifyTx(ctx, tx, o.id); err != nil {
			return err
		}
		if outcome == "" {
			continue
		}
		message := ""
		if outcome == jobs.Failed {
			message = fmt.Sprintf("%d workers in a row died while they ran it", o.given)
		}
		if _, err := tx.ExecContext(ctx, "update tr_job set outcome = $1, message = $2, ended_at = "+s.store.Now()+" where job_id = $3", string(outcome), message, o.id); err != nil {
			return err
		}
	}
	_, err := s.store.Driver().UnwrapExecutor(tx).JobRescueMany(ctx, p)
	return err
}
