package worker

// All uses of River's unstable interface are in this file. River's public interface cannot define which jobs
// a worker may fetch, nor keep River from setting the state of a job that was taken over: it only checks
// whether the job runs, so that the result of a worker that slept would complete its successor's. Hence a
// Pilot, which River calls in place of its queries. pilot_test.go names the version that was reviewed, and
// what to check in another one.

import (
	"context"
	"database/sql"
	"encoding/json"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivershared/baseservice"
	"github.com/riverqueue/river/rivershared/riverpilot"
	"github.com/riverqueue/river/rivertype"

	"transect/runtime/jobs"
)

// client is a worker's River client, for either database.
type client interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
	StopAndCancel(ctx context.Context) error
}

func newClient(store *jobs.Store, p *pilot, c *river.Config) (client, error) {
	if store.Postgres {
		return river.NewClient(&driver[pgx.Tx]{riverpgxv5.New(store.Pool()), p}, c)
	}
	return river.NewClient(&driver[*sql.Tx]{riversqlite.New(store.DB()), p}, c)
}

// driver is a driver with a pilot. It reports that it cannot listen: the session does (wake.go), for all
// queues.
type driver[T any] struct {
	riverdriver.Driver[T]
	pilot *pilot
}

func (d *driver[T]) PluginInit(*baseservice.Archetype) {}
func (d *driver[T]) PluginPilot() riverpilot.Pilot     { return d.pilot }
func (d *driver[T]) SupportsListener() bool            { return false }

// pilot fetches no job without a lease, and takes turns among the queues of the worker, so that they share
// its slots. It leaves the states of jobs to the attempts (finish.go), which know whether they still own a
// job.
type pilot struct {
	riverpilot.StandardPilot
	lease  *lease
	queues []string
	free   func() int      // slots
	took   func(job int64) // called for a fetched job
	wake   func()          // makes River look for jobs

	mu         sync.Mutex
	turn       int            // the queue to fetch from first
	unreadable map[int64]bool // fetched jobs that never get an attempt
}

// PilotInit keeps the function that wakes the producer, which is meant for inserts.
func (p *pilot) PilotInit(archetype *baseservice.Archetype, params *riverpilot.PilotInitParams) {
	inserted := []*rivertype.JobInsertResult{{Job: &rivertype.JobRow{Queue: p.queues[0]}}}
	p.wake = func() { params.NotifyNonTxJobInsert(context.Background(), inserted) }
	p.StandardPilot.PilotInit(archetype, params)
}

// JobGetAvailable fetches jobs from all queues.
func (p *pilot) JobGetAvailable(ctx context.Context, exec riverdriver.Executor, state riverpilot.ProducerState,
	params *riverdriver.JobGetAvailableParams) (*riverdriver.JobGetAvailableResult, error) {
	taken := &riverdriver.JobGetAvailableResult{DecodeErrors: map[int64]error{}}
	free := min(p.free(), params.MaxToLock)
	if free == 0 || !p.lease.valid() {
		return taken, nil
	}
	ctx, cancel := context.WithTimeout(ctx, p.lease.times.Hold) // River allows more
	defer cancel()
	p.mu.Lock()
	defer p.mu.Unlock()
	first := p.turn
	p.turn = (p.turn + 1) % len(p.queues)
	for i := range p.queues {
		one := *params
		one.Queue = p.queues[(first+i)%len(p.queues)]
		one.MaxToLock = free - len(taken.Jobs)
		more, err := p.StandardPilot.JobGetAvailable(ctx, exec, state, &one)
		if err != nil {
			if len(taken.Jobs) == 0 {
				return nil, err
			}
			break
		}
		taken.Jobs = append(taken.Jobs, more.Jobs...)
		for id, err := range more.DecodeErrors {
			taken.DecodeErrors[id] = err
		}
	}
	for _, row := range taken.Jobs {
		if taken.DecodeErrors[row.ID] != nil || json.Unmarshal(row.EncodedArgs, &jobs.Spec{}) != nil {
			p.unreadable[row.ID] = true
		} else {
			p.took(row.ID)
		}
	}
	return taken, nil
}

// JobSetStateIfRunningMany sets the states of jobs that get no attempt.
func (p *pilot) JobSetStateIfRunningMany(ctx context.Context, exec riverdriver.Executor,
	params *setStates) ([]*rivertype.JobRow, error) {
	rest := p.withoutAttempt(params)
	if len(rest.ID) == 0 || !p.lease.valid() {
		return nil, nil
	}
	return p.StandardPilot.JobSetStateIfRunningMany(ctx, exec, rest)
}

type setStates = riverdriver.JobSetStateIfRunningManyParams

// withoutAttempt filters out the jobs whose attempts record their states.
func (p *pilot) withoutAttempt(all *setStates) *setStates {
	p.mu.Lock()
	defer p.mu.Unlock()
	rest := &setStates{Now: all.Now, Schema: all.Schema}
	for i, id := range all.ID {
		if !p.unreadable[id] {
			continue
		}
		delete(p.unreadable, id)
		rest.ID = append(rest.ID, id)
		rest.Attempt = append(rest.Attempt, all.Attempt[i])
		rest.ErrData = append(rest.ErrData, all.ErrData[i])
		rest.FinalizedAt = append(rest.FinalizedAt, all.FinalizedAt[i])
		rest.MetadataDoMerge = append(rest.MetadataDoMerge, all.MetadataDoMerge[i])
		rest.MetadataUpdates = append(rest.MetadataUpdates, all.MetadataUpdates[i])
		rest.ScheduledAt = append(rest.ScheduledAt, all.ScheduledAt[i])
		rest.State = append(rest.State, all.State[i])
	}
	return rest
}
