package worker

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"transect/runtime/jobs"
)

// look wakes River when there are jobs, and cancels running ones where that was asked
// for. River's own looks cost more, are seconds apart, and go by the clock of this
// machine, not by that of the database.
func (s *session) look(ctx context.Context) {
	every := s.w.o.Times.Poll
	next := time.Time{}
	for sleep(ctx, every) {
		if s.running() > 0 {
			s.cancelAsked(ctx)
		}
		if s.store.Postgres { // listen tells; this is for jobs whose time has come
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

// anyDue reports whether there are jobs for this worker. It makes those available
// whose time has come.
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
	return err == nil && (available || come) // the lease tells of a database that is away
}

// cancelAsked cancels the running jobs of which that is asked.
func (s *session) cancelAsked(ctx context.Context) {
	var ids []int64
	for _, a := range s.all() {
		ids = append(ids, a.job)
	}
	ctx, cancel := s.asking(ctx)
	defer cancel()
	// after an error it is asked again
	asked, _ := jobs.Column[int64](ctx, s.store.DB(),
		"select j.id from river_job j where "+jobs.In("j.id", ids, nil)+" and "+jobs.CancelAskedSQL)
	for _, a := range s.all() {
		if slices.Contains(asked, a.job) {
			a.cancel()
		}
	}
}

// listen wakes River when PostgreSQL tells of a new job in a queue of this worker.
func (s *session) listen(ctx context.Context) {
	for ctx.Err() == nil && s.store.Postgres {
		_ = s.listenOnce(ctx) // look finds the jobs meanwhile
		sleep(ctx, s.w.o.Times.Beat/3)
	}
}

func (s *session) listenOnce(ctx context.Context) error {
	conn, err := s.store.Pool().Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	c := conn.Hijack() // it listens, so it does not go back
	defer c.Close(context.Background())
	var schema string
	if err := c.QueryRow(ctx, "select current_schema()").Scan(&schema); err != nil {
		return err
	}
	if _, err := c.Exec(ctx, `listen "`+schema+`.river_insert"`); err != nil {
		return err
	}
	s.pilot.wake() // for what came before
	for {
		n, err := c.WaitForNotification(ctx) // look finds what a dead line does not tell
		if err != nil {
			return err
		}
		var inserted struct{ Queue string }
		if json.Unmarshal([]byte(n.Payload), &inserted) == nil && slices.Contains(s.w.queues, inserted.Queue) {
			s.pilot.wake()
		}
	}
}
