package worker

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"transect/runtime/jobs"
)

// poll wakes River when jobs are due, and cancels running ones on request. River's own polling costs more, is
// seconds apart, and uses the clock of this machine instead of the database's.
func (s *session) poll(ctx context.Context) {
	every := s.w.o.Times.Poll
	next := time.Time{}
	for sleep(ctx, every) {
		if s.running() > 0 {
			s.cancelAsked(ctx)
		}
		if s.store.Postgres { // listen notifies; this is for jobs that become due
			if time.Now().Before(next) {
				continue
			}
			next = time.Now().Add(4 * every)
		}
		if s.free() > 0 && s.lease.valid() && s.anyDue(ctx) {
			s.pilot.wake()
		}
	}
}

// anyDue reports whether there are jobs for this worker. It makes jobs available that have become due.
func (s *session) anyDue(ctx context.Context) bool {
	ctx, cancel := s.asking(ctx)
	defer cancel()
	var args []any
	due := " from river_job where " + jobs.In("queue", s.w.queues, &args) + " and " + s.store.Due + " and state in "
	const later = "('scheduled', 'retryable')"
	var available, come bool // an update would wait for others on SQLite
	err := s.store.DB().QueryRowContext(ctx,
		"select exists (select 1"+due+"('available')), exists (select 1"+due+later+")", args...).Scan(&available, &come)
	if err == nil && come {
		_, err = s.store.DB().ExecContext(ctx,
			"update river_job set state = 'available' where id in (select "+
				"id"+due+later+s.store.Lock("for update skip locked")+")", args...)
	}
	return err == nil && (available || come) // the lease reports an unavailable database
}

// cancelAsked cancels the running jobs with a requested cancellation.
func (s *session) cancelAsked(ctx context.Context) {
	var ids []int64
	for _, a := range s.all() {
		ids = append(ids, a.job)
	}
	ctx, cancel := s.asking(ctx)
	defer cancel()
	// retried after an error
	requested, _ := jobs.Column[int64](ctx, s.store.DB(),
		"select j.id from river_job j where "+jobs.In("j.id", ids, nil)+" and "+jobs.CancelAskedSQL)
	for _, a := range s.all() {
		if slices.Contains(requested, a.job) {
			a.cancel()
		}
	}
}

// listen wakes River when PostgreSQL announces a new job in a queue of this worker.
func (s *session) listen(ctx context.Context) {
	for ctx.Err() == nil && s.store.Postgres {
		_ = s.listenOnce(ctx) // polling finds the jobs meanwhile
		sleep(ctx, s.w.o.Times.Beat/3)
	}
}

func (s *session) listenOnce(ctx context.Context) error {
	conn, err := s.store.Pool().Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	c := conn.Hijack() // it listens, so it does not return to the pool
	defer c.Close(context.Background())
	var schema string
	if err := c.QueryRow(ctx, "select current_schema()").Scan(&schema); err != nil {
		return err
	}
	if _, err := c.Exec(ctx, `listen "`+schema+`.river_insert"`); err != nil {
		return err
	}
	s.pilot.wake() // for earlier jobs
	for {
		n, err := c.WaitForNotification(ctx) // polling covers a dead connection
		if err != nil {
			return err
		}
		var inserted struct{ Queue string }
		if json.Unmarshal([]byte(n.Payload), &inserted) == nil && slices.Contains(s.w.queues, inserted.Queue) {
			s.pilot.wake()
		}
	}
}
