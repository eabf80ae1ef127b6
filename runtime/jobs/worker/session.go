package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/riverqueue/river"

	"transect/client/fault"
	"transect/runtime/jobs"
)

// session is the period of one lease.
type session struct {
	w      *Worker
	store  *jobs.Store
	id     string // of the worker in the database, new in each session
	log    *slog.Logger
	lease  *lease
	pilot  *pilot
	client client

	stopping chan struct{}   // closed when the worker must stop
	fenced   chan struct{}   // closed when the lease is lost for good
	release  chan struct{}   // closed when running jobs must end
	over     context.Context // ends when nothing can be recorded any more
	end      context.CancelFunc
	services sync.WaitGroup

	mu       sync.Mutex
	attempts map[int64]*attempt // by job
	fetched  map[int64]bool     // jobs whose attempt is about to begin
}

func newSession(w *Worker) *session {
	id, err := uuid.NewV7()
	if err != nil {
		id = uuid.New()
	}
	s := &session{w: w, store: w.store, id: id.String(), log: w.o.Log, stopping: make(chan struct{}),
		fenced: make(chan struct{}), release: make(chan struct{}), attempts: map[int64]*attempt{}, fetched: map[int64]bool{}}
	s.over, s.end = context.WithCancel(context.Background())
	s.lease = &lease{times: w.o.Times, log: w.o.Log, changed: s.renewed}
	s.pilot = &pilot{lease: s.lease, queues: w.queues, free: s.free, took: s.took, unreadable: map[int64]bool{},
		wake: func() {}}
	w.count(s)
	return s
}

// work runs jobs until ctx ends or the lease is lost.
func (s *session) work(ctx context.Context) error {
	defer s.end()
	lost := make(chan error, 1)
	go func() { lost <- s.lease.keep(s.over) }()
	if err := s.start(ctx); err != nil {
		s.end()
		s.leave()
		return err
	}
	services, stopServices := context.WithCancel(s.over)
	defer stopServices()
	for _, each := range []func(context.Context){s.watch, s.reap, s.prune, s.poll, s.listen} {
		s.services.Go(func() { each(services) })
	}
	firing, stopFiring := context.WithCancel(services)
	defer context.AfterFunc(ctx, stopFiring)()
	for _, each := range s.w.o.Beside {
		s.services.Go(func() { each(firing) })
	}
	var err error
	select {
	case <-ctx.Done():
		err = s.drain(lost)
	case err = <-lost:
	}
	if err != nil {
		close(s.fenced)
		s.end()
		s.killAll()
	}
	stopping, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	_ = s.client.StopAndCancel(stopping) // what does not stop ends with the process
	stopServices()
	s.end()
	s.services.Wait()
	if err == nil {
		s.leave()
	}
	return err
}

// start starts River. It retries while the database does not answer.
func (s *session) start(ctx context.Context) (err error) {
	s.client, err = newClient(s.store, s.pilot, s.config())
	if err != nil {
		return err
	}
	return s.retry(ctx, func(context.Context) error { return s.client.Start(s.over) })
}

// config returns the settings of River.
func (s *session) config() *river.Config {
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(s.run))
	const never = 10 * 365 * 24 * time.Hour
	return &river.Config{
		ID: s.id, Workers: workers, Logger: slog.New(&quiet{s.log.Handler()}),
		// the pilot limits it
		Queues:        map[string]river.QueueConfig{s.w.queues[0]: {MaxWorkers: river.QueueNumWorkersMax}},
		FetchCooldown: 5 * time.Millisecond, FetchPollInterval: 10 * time.Second,
		FetchOnlyKnownKinds: true, JobTimeout: -1, RescueStuckJobsAfter: never, // the lease determines who is dead
		// All three are set: one alone makes River delete what it should keep.
		CancelledJobRetentionPeriod: -1, CompletedJobRetentionPeriod: -1, DiscardedJobRetentionPeriod: -1,
	}
}

// drain lets running jobs end within the grace period, then releases them.
func (s *session) drain(lost <-chan error) error {
	close(s.stopping)
	s.note("stopping = 1")
	if n := s.running(); n > 0 {
		s.log.Info(fmt.Sprintf("stopping: %d running jobs have %s to finish; a second signal stops at once", n, s.w.o.Grace))
	}
	stopped := make(chan struct{})
	go func() { _ = s.client.Stop(s.over); close(stopped) }()
	for _, wait := range []struct {
		for_ time.Duration
		then func()
	}{{s.w.o.Grace, func() { close(s.release) }}, {s.w.o.KillAfter + 2*s.w.o.Times.Beat, s.end}} {
		select {
		case <-stopped:
			return nil
		case err := <-lost:
			return err
		case <-time.After(wait.for_):
			wait.then()
		}
	}
	return nil
}

// note updates the row of the worker.
func (s *session) note(what string) {
	ctx, cancel := context.WithTimeout(context.Background(), s.w.o.Times.Beat)
	defer cancel()
	_ = s.store.Tx(ctx, func(tx *jobs.Tx) error { // it is only shown in lists of workers
		_, err := tx.ExecContext(ctx, "update tr_worker set "+what+" where id = $1", s.id)
		return err
	})
}

// renewed sends running jobs their new deadline.
func (s *session) renewed(until time.Duration) {
	for _, a := range s.all() {
		a.renewed(until)
	}
}

// watch stops the processes of jobs when the lease expires, and continues them when it is renewed.
func (s *session) watch(ctx context.Context) {
	for sleep(ctx, s.w.o.Times.Beat/30) {
		late := s.lease.left() <= s.w.o.Times.Hold/24 // before the processes exit by themselves
		for _, a := range s.all() {
			a.hold(late)
		}
	}
}

func (s *session) all() []*attempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*attempt, 0, len(s.attempts))
	for _, a := range s.attempts {
		all = append(all, a)
	}
	return all
}

func (s *session) running() int { return len(s.all()) }

// free returns the number of free slots. Jobs that wait for others use none, otherwise a worker with one slot
// would wait for ever.
func (s *session) free() int {
	select {
	case <-s.stopping: // released jobs are for other workers
		return 0
	default:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	free := s.w.o.Slots - len(s.fetched)
	for _, a := range s.attempts {
		if !a.idle() {
			free--
		}
	}
	return max(free, 0)
}

// took records a fetched job.
func (s *session) took(job int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fetched[job] = true
}

func (s *session) killAll() {
	for _, a := range s.all() {
		a.kill()
	}
}

// sleep waits and returns false if ctx has ended.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// permanent reports whether waiting cannot resolve an error of the database.
func permanent(err error) bool {
	var refused *fault.PermissionError
	var login *fault.MissingCredentialsError
	var gone *fault.KeyError
	return errors.As(err, &refused) || errors.As(err, &login) || errors.As(err, &gone)
}

// quiet passes on only those messages of River that concern users: it repeats an outage for each of its
// services.
type quiet struct{ slog.Handler }

func (q *quiet) Enabled(ctx context.Context, level slog.Level) bool {
	return q.Handler.Enabled(ctx, slog.LevelDebug)
}

func (q *quiet) Handle(ctx context.Context, r slog.Record) error {
	r.Level = slog.LevelDebug
	return q.Handler.Handle(ctx, r)
}

func (q *quiet) WithAttrs(attrs []slog.Attr) slog.Handler { return &quiet{q.Handler.WithAttrs(attrs)} }
func (q *quiet) WithGroup(name string) slog.Handler       { return &quiet{q.Handler.WithGroup(name)} }
