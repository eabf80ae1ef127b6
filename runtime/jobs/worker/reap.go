package worker

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"transect/runtime/jobs"
	"transect/runtime/jobs/link"
)

// maxLost limits consecutive attempts that end with the death of their worker: a job that kills every machine
// it runs on is not passed on for ever.
const maxLost = 10

// reap releases the jobs of dead workers to others, at each renewal of the lease.
func (s *session) reap(ctx context.Context) {
	r := &reaper{session: s}
	for {
		select {
		case <-ctx.Done():
			return
		case seen := <-s.seen:
			asking, cancel := s.asking(ctx)
			err := r.reapOnce(asking, seen)
			if cancel(); err != nil && ctx.Err() == nil {
				s.log.Debug("jobs of dead workers could not be released", "error", err)
			}
		}
	}
}

// prune removes old data, once an hour.
func (s *session) prune(ctx context.Context) {
	for sleep(ctx, time.Duration(rand.Int64N(int64(time.Hour)))) {
		removed, err := s.store.Prune(ctx, jobs.DefaultRetention)
		if err != nil && ctx.Err() == nil {
			s.log.Debug("cannot remove old jobs", "error", err)
		}
		if removed > 0 {
			s.log.Info(fmt.Sprintf("removed %d jobs that ended long ago", removed))
		}
		if s.w.o.Readable != nil {
			if _, err := s.store.ShortenLedgers(ctx, s.w.o.Readable); err != nil && ctx.Err() == nil {
				s.log.Debug("cannot shorten old ledgers", "error", err)
			}
		}
		s.w.removeOld("folders", jobs.DefaultRetention.Jobs)
		s.w.removeOld("files", jobs.DefaultRetention.Jobs)
		s.w.removeOld("scripts", jobs.DefaultRetention.Logs) // left by killed workers
	}
}

// removeOld removes the folders of jobs unchanged for a time.
func (w *Worker) removeOld(name string, age time.Duration) {
	entries, _ := os.ReadDir(w.folder(name)) // there may be none
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > age {
			_ = os.RemoveAll(w.folder(name, e.Name())) // otherwise the next time
		}
	}
}

// orphan is a job without a living worker.
type orphan struct {
	id        int64
	cancelled bool
	worker    string // "" when no worker started it
	given     int    // lost attempts in a row, including this one
}

// why describes the fate of its worker.
func (o orphan) why() string {
	if o.worker == "" {
		return "it was taken but never started"
	}
	return "its worker " + o.worker + " does not respond"
}

// reaper watches workers and jobs for the duration of a lease, by the clock of this machine: the database's
// may be set at any moment.
type reaper struct {
	*session
	leases unchanged[string, int64] // expiry of the leases of other living workers
	strays unchanged[int64, bool]   // jobs taken by this worker without its knowledge, because the response was lost
}

// unchanged records since when, by link.Now, each key has had its value.
type unchanged[K, V comparable] map[K]since[V]

type since[V comparable] struct {
	value V
	began time.Duration
}

// see takes the current values, and returns the ones unchanged for a time.
func (u *unchanged[K, V]) see(there map[K]V, now, long time.Duration) map[K]V {
	next, old := unchanged[K, V]{}, map[K]V{}
	for k, v := range there {
		next[k] = since[V]{v, now}
		if before, ok := (*u)[k]; ok && before.value == v {
			next[k] = before
		}
		if now-next[k].began >= long {
			old[k] = v
		}
	}
	*u = next
	return old
}

func (r *reaper) reapOnce(ctx context.Context, seen sight) error {
	now, times := link.Now(), r.w.o.Times
	silent, strays := r.leases.see(seen.leases, now, times.Lease-times.Beat), r.strays.see(seen.strays, now, times.Lease)
	if !seen.orphans && len(silent)+len(strays) == 0 || !r.lease.trusted() {
		return nil
	}
	var taken []orphan
	err := r.store.Tx(ctx, func(tx *jobs.Tx) (err error) {
		for id, until := range silent {
			now := r.store.Now // the clocks may differ: a worker that left has an expired lease
			if _, err := tx.ExecContext(ctx, "update tr_worker set dead_at = "+now+", lease_until = case when lease_until > "+
				now+" - 1000 then "+now+" - 1000 else lease_until end where id = $1 and dead_at is null and lease_until = $2",
				id, until); err != nil {
				return err
			}
		}
		if taken, err = r.orphans(ctx, tx, strays); err != nil || len(taken) == 0 {
			return err
		}
		return r.rescue(ctx, tx, taken)
	})
	if err != nil {
		return err
	}
	for _, o := range taken {
		r.log.Warn(fmt.Sprintf("job %d is queued again: %s", o.id, o.why()))
	}
	r.w.o.Counters.takeovers.Add(int64(len(taken)))
	if len(taken) > 0 {
		r.wake()
	}
	return nil
}

// sight is what a worker sees of the others.
type sight struct {
	leases  map[string]int64 // when the leases of other living workers expire
	strays  map[int64]bool   // jobs taken by this worker that it does not run
	orphans bool             // there are jobs of dead workers
}

// look finds the other workers, strays and orphans.
func (s *session) look(ctx context.Context, tx *jobs.Tx) (sight, error) {
	seen := sight{leases: map[string]int64{}, strays: map[int64]bool{}}
	_, err := jobs.Collect(ctx, tx, func(rows *sql.Rows) (worker string, err error) {
		var until, job int64
		err = rows.Scan(&worker, &until, &job)
		switch {
		case job == 0:
			seen.leases[worker] = until
		case worker == "":
			seen.orphans = true
		case !s.has(job):
			seen.strays[job] = true
		}
		return worker, err
	}, "select id, lease_until, 0 from tr_worker where dead_at is null and id <> $1 union all select case when "+
		s.owned()+" then cast($1 as text) else '' end, 0, j.id from river_job j where j.state = 'running' and ("+s.owned()+
		" or "+s.orphaned()+")", s.id)
	return seen, err
}

// has reports whether a job runs here.
func (s *session) has(job int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attempts[job] != nil
}

// orphaned returns the condition that a job of river_job j runs on no living worker.
func (s *session) orphaned() string {
	return "not exists (select 1 from tr_worker w where w.dead_at is null and w.id = " + s.store.Owner + ")"
}

// owned returns the condition that the worker $1 last fetched a job of river_job j.
func (s *session) owned() string {
	return "coalesce(" + s.store.Owner + " = $1, false)"
}

func (r *reaper) orphans(ctx context.Context, tx *jobs.Tx, strays map[int64]bool) ([]orphan, error) {
	ids := slices.Collect(maps.Keys(strays))
	return jobs.Collect(ctx, tx, func(rows *sql.Rows) (o orphan, err error) {
		err = rows.Scan(&o.id, &o.cancelled, &o.worker, &o.given)
		return o, err
	}, `select j.id, `+jobs.CancelAskedSQL+`,
		coalesce((select r.worker from tr_run r where r.job_id = j.id and r.ended_at is null order by r.id desc limit 1), ''),
		(select count(*) from tr_run r where r.job_id = j.id and (r.outcome = 'lost' or r.ended_at is null)
			and r.id > coalesce((select max(e.id) from tr_run e where e.job_id = j.id
			and e.ended_at is not null and e.outcome <> 'lost'), 0))
		from river_job j where j.state = 'running' and (`+r.orphaned()+` or `+r.owned()+` and `+jobs.In("j.id", ids, nil)+
		`) order by j.id limit 500`+r.store.Lock("for update skip locked"), r.id)
}

// rescue ends the attempts of orphans and fences them off.
func (s *session) rescue(ctx context.Context, tx *jobs.Tx, orphans []orphan) error {
	now := s.store.Now
	for _, o := range orphans {
		outcome, message := jobs.Lost, ""
		switch {
		case o.cancelled:
			outcome = jobs.Cancelled
		case o.given >= maxLost:
			outcome, message = jobs.Failed, fmt.Sprintf("%d workers in a row died while they ran it", o.given)
		}
		if err := s.store.SetStateTx(ctx, tx, o.id, outcome, 0); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx,
			"update tr_run set ended_at = "+now+", outcome = $1 where job_id = $2 and ended_at is null", string(jobs.Lost),
			o.id); err != nil {
			return err
		}
		fence, args := "update tr_job set epoch = epoch + 1", []any{o.id}
		if outcome.Final() {
			fence, args = fence+", outcome = $2, message = $3, ended_at = "+now, append(args, string(outcome), message)
		}
		if _, err := tx.ExecContext(ctx, fence+" where job_id = $1", args...); err != nil {
			return err
		}
		if err := s.store.NotifyTx(ctx, tx, o.id); err != nil {
			return err
		}
	}
	return nil
}
