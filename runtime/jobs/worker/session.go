package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"transect/client/fault"
	"transect/runtime/jobs"
)

// session is the period of one lease.
type session struct {
	w     *Worker
	store *jobs.Store
	id    string // of the worker in the database, new in each session
	log   *slog.Logger
	lease *lease

	woken     chan struct{} // makes fetch look for jobs
	turn      int           // the queue to fetch from first
	fault     string        // why jobs cannot be fetched, as reported
	listening atomic.Bool   // the database announces jobs
	seen      chan sight    // of other workers and their jobs, at each renewal

	stopping chan struct{}   // closed when the worker must stop
	fenced   chan struct{}   // closed when the lease is lost for good
	release  chan struct{}   // closed when running jobs must end
	over     context.Context // ends when nothing can be recorded any more
	end      context.CancelFunc
	services sync.WaitGroup
	working  sync.WaitGroup // fetch and the attempts

	mu       sync.Mutex
	attempts map[int64]*attempt // by job
}

func newSession(w *Worker) *session {
	id, err := uuid.NewV7()
	if err != nil {
		id = uuid.New()
	}
	s := &session{w: w, store: w.store, id: id.String(), log: w.o.Log, stopping: make(chan struct{}),
		fenced: make(chan struct{}), release: make(chan struct{}), attempts: map[int64]*attempt{},
		woken: make(chan struct{}, 1), seen: make(chan sight, 1)}
	s.over, s.end = context.WithCancel(context.Background())
	s.lease = &lease{times: w.o.Times, log: w.o.Log, changed: s.renewed}
	w.count(s)
	return s
}

// work runs jobs until ctx ends or the lease is lost.
func (s *session) work(ctx context.Context) error {
	defer s.end()
	lost := make(chan error, 1)
	go func() { lost <- s.lease.keep(s.over) }()
	idle := make(chan struct{})
	s.working.Go(s.fetch)
	go func() { s.working.Wait(); close(idle) }()
	services, stopServices := context.WithCancel(s.over)
	defer stopServices()
	for _, each := range []func(context.Context){s.watch, s.watchQuiet, s.reap, s.prune, s.cancels, s.listen} {
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
		err = s.drain(lost, idle)
	case err = <-lost:
	}
	if err != nil {
		close(s.fenced)
		s.end()
		s.killAll()
	}
	select {
	case <-idle:
	case <-time.After(20 * time.Second): // what does not stop ends with the process
	}
	stopServices()
	s.end()
	s.services.Wait()
	if err == nil {
		s.leave()
	}
	return err
}

// drain lets running jobs end within the grace period, then releases them.
func (s *session) drain(lost <-chan error, idle <-chan struct{}) error {
	close(s.stopping)
	s.note("stopping = 1")
	if n := s.running(); n > 0 {
		s.log.Info(fmt.Sprintf("stopping: %d running jobs have %s to finish; a second signal stops at once", n, s.w.o.Grace))
	}
	for _, wait := range []struct {
		for_ time.Duration
		then func()
	}{{s.w.o.Grace, func() { close(s.release) }}, {s.w.o.KillAfter + 2*s.w.o.Times.Beat, s.end}} {
		select {
		case <-idle:
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

// watchQuiet watches for jobs that show no progress.
func (s *session) watchQuiet(ctx context.Context) {
	for sleep(ctx, s.w.o.Times.Hold) {
		for _, a := range s.all() {
			a.checkQuiet()
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
	free := s.w.o.Slots
	for _, a := range s.attempts {
		if !a.idle() {
			free--
		}
	}
	return max(free, 0)
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
