package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"transect/runtime/jobs"
	"transect/runtime/unattended/notice"
)

// fetch begins jobs while slots are free: when woken, or when a poll finds some that are due. It ends when the
// worker stops or its lease is lost.
func (s *session) fetch() {
	s.wake() // for earlier jobs
	for {
		select {
		case <-s.over.Done():
			return
		case <-s.stopping:
			return
		case <-s.woken:
		case <-time.After(s.pollInterval()):
			if s.free() == 0 || !s.lease.valid() || !s.anyDue(s.over) {
				continue
			}
		}
		for _, a := range s.take() {
			s.start(a)
		}
	}
}

// wake makes fetch look for jobs.
func (s *session) wake() {
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

// pollInterval is long where jobs are announced: polls then find those that become due. A worker wakes itself
// for its own.
func (s *session) pollInterval() time.Duration {
	switch t := s.w.o.Times; {
	case s.listening.Load():
		return 2 * t.Beat
	case s.store.Postgres:
		return t.Beat*2/3 + rand.N(t.Beat*2/3) // workers that started together spread
	default:
		return t.Poll
	}
}

// take begins the attempts of due jobs, taking turns among the queues of the worker, so that they share its slots.
func (s *session) take() (taken []*attempt) {
	free := s.free()
	if free == 0 || !s.lease.valid() {
		return nil
	}
	ctx, cancel := s.asking(s.over)
	defer cancel()
	s.turn++
	err := s.store.Tx(ctx, func(tx *jobs.Tx) error {
		taken = nil
		var args []any
		due := s.due("('scheduled', 'retryable')", &args) + s.store.Lock("for update skip locked")
		if _, err := tx.ExecContext(ctx, "update river_job set state = 'available' where id in (select id"+due+")",
			args...); err != nil {
			return err
		}
		for i := range s.w.queues {
			queue := s.w.queues[(s.turn+i)%len(s.w.queues)]
			list, err := s.store.TakeTx(ctx, tx, s.id, queue, free-len(taken))
			if err != nil {
				return err
			}
			for _, job := range list {
				a := &attempt{s: s, job: job}
				if err := a.begin(ctx, tx); err != nil {
					return err
				}
				taken = append(taken, a)
			}
			if len(taken) == free {
				break
			}
		}
		return nil
	})
	if err != nil {
		if what := notice.Explain(err); what != s.fault && s.over.Err() == nil && s.lease.valid() {
			s.fault = what // else the lease reports it
			s.log.Warn("jobs cannot be fetched", "error", what)
		}
		return nil
	}
	s.fault = ""
	return taken
}

// start runs an attempt that has begun.
func (s *session) start(a *attempt) {
	if a.id == 0 { // its key is taken, or it cannot be read
		time.AfterFunc(a.again, s.wake)
		return
	}
	s.mu.Lock()
	s.attempts[a.job.ID] = a
	s.mu.Unlock()
	s.working.Go(func() {
		if err := a.finish(a.perform()); err != nil && !errors.Is(err, errFenced) {
			s.log.Error(fmt.Sprintf("the outcome of job %d could not be recorded; it will run again", a.job.ID), "error", err)
		}
		s.mu.Lock()
		delete(s.attempts, a.job.ID)
		s.mu.Unlock()
		s.wake()
		if a.again > 0 {
			time.AfterFunc(a.again, s.wake)
		}
	})
}

// due returns the end of a query for the jobs of this worker in some states that are due.
func (s *session) due(states string, args *[]any) string {
	return " from river_job where " + jobs.In("queue", s.w.queues, args) + " and " + s.store.Due + " and state in " +
		states
}

// anyDue reports whether there are jobs for this worker. It does not write, because each write waits for others
// on SQLite.
func (s *session) anyDue(ctx context.Context) (yes bool) {
	ctx, cancel := s.asking(ctx)
	defer cancel()
	var args []any
	err := s.store.DB().QueryRowContext(ctx,
		"select exists (select 1"+s.due("('available', 'scheduled', 'retryable')", &args)+")", args...).Scan(&yes)
	return err == nil && yes // the lease reports an unavailable database
}

// cancels cancels running jobs on request.
func (s *session) cancels(ctx context.Context) {
	interval := s.w.o.Times.Poll
	if s.store.Postgres {
		interval *= 4
	}
	for sleep(ctx, interval) {
		if s.running() > 0 {
			s.cancelAsked(ctx)
		}
	}
}

// cancelAsked cancels the running jobs with a requested cancellation.
func (s *session) cancelAsked(ctx context.Context) {
	var ids []int64
	for _, a := range s.all() {
		ids = append(ids, a.job.ID)
	}
	ctx, cancel := s.asking(ctx)
	defer cancel()
	// retried after an error
	requested, _ := jobs.Column[int64](ctx, s.store.DB(),
		"select j.id from river_job j where "+jobs.In("j.id", ids, nil)+" and "+jobs.CancelAskedSQL)
	for _, a := range s.all() {
		if slices.Contains(requested, a.job.ID) {
			a.cancel()
		}
	}
}

// listen wakes fetch when PostgreSQL announces a job in a queue of this worker.
func (s *session) listen(ctx context.Context) {
	for ctx.Err() == nil && s.store.Listens() {
		_ = s.listenOnce(ctx) // polling finds the jobs meanwhile
		s.listening.Store(false)
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
	s.listening.Store(true)
	s.wake() // for earlier jobs
	for {
		n, err := c.WaitForNotification(ctx) // polling covers a dead connection
		if err != nil {
			return err
		}
		var inserted struct{ Queue string }
		if json.Unmarshal([]byte(n.Payload), &inserted) == nil && slices.Contains(s.w.queues, inserted.Queue) {
			s.wake()
		}
	}
}
