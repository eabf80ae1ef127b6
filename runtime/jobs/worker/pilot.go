package worker

import (
	"context"
	"database/sql"
	"encoding/json"
	"sync"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivershared/baseservice"
	"github.com/riverqueue/river/rivershared/riverpilot"
	"github.com/riverqueue/river/rivertype"

	"transect/runtime/jobs"
)

// pilot stands between River and its driver. River says of this interface that it
// is not stable: the version is pinned, and a test says so.
//
// It fetches no job without a lease, and for all queues of the worker in turn, so
// that these share its slots. The states of jobs it leaves to the attempts (finish.go),
// which know whether a job is still theirs: River only asks whether a job runs, so
// that the result of a worker that slept would complete its successor's.
type pilot struct {
	riverpilot.StandardPilot
	lease  *lease
	queues []string
	free   func() int      // slots
	took   func(job int64) // is called for a job that was fetched
	wake   func()          // makes River look for jobs

	mu      sync.Mutex
	turn    int            // the queue that is asked first
	foreign map[int64]bool // fetched jobs that are none of ours, or cannot be read
}

// driver is a driver with a pilot. It says that it cannot listen: the session does
// (wake.go), for all queues.
type driver struct {
	riverdriver.Driver[*sql.Tx]
	pilot *pilot
}

func (d *driver) PluginInit(*baseservice.Archetype) {}
func (d *driver) PluginPilot() riverpilot.Pilot     { return d.pilot }
func (d *driver) SupportsListener() bool            { return false }

// PilotInit keeps what wakes the producer: the function is meant for inserts.
func (p *pilot) PilotInit(archetype *baseservice.Archetype, params *riverpilot.PilotInitParams) {
	inserted := []*rivertype.JobInsertResult{{Job: &rivertype.JobRow{Queue: p.queues[0]}}}
	p.wake = func() { params.NotifyNonTxJobInsert(context.Background(), inserted) }
	p.StandardPilot.PilotInit(archetype, params)
}

// JobGetAvailable takes jobs of all queues.
func (p *pilot) JobGetAvailable(ctx context.Context, exec riverdriver.Executor, state riverpilot.ProducerState, params *riverdriver.JobGetAvailableParams) ([]*rivertype.JobRow, error) {
	free := min(p.free(), params.MaxToLock)
	if free == 0 || !p.lease.valid() {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, p.lease.times.Hold) // River sets no limit
	defer cancel()
	p.mu.Lock()
	first := p.turn
	p.turn = (p.turn + 1) % len(p.queues)
	p.mu.Unlock()
	var taken []*rivertype.JobRow
	for i := range p.queues {
		one := *params
		one.Queue = p.queues[(first+i)%len(p.queues)]
		one.MaxToLock = free - len(taken)
		more, err := p.StandardPilot.JobGetAvailable(ctx, exec, state, &one)
		if taken = append(taken, more...); err != nil && len(taken) == 0 {
			return nil, err
		}
	}
	for _, row := range taken {
		if row.Kind != (jobs.Spec{}).Kind() || json.Unmarshal(row.EncodedArgs, &jobs.Spec{}) != nil {
			p.mu.Lock()
			p.foreign[row.ID] = true
			p.mu.Unlock()
		} else {
			p.took(row.ID)
		}
	}
	return taken, nil
}

// JobSetStateIfRunningMany sets the states of jobs that come to no attempt.
func (p *pilot) JobSetStateIfRunningMany(ctx context.Context, exec riverdriver.Executor, params *riverdriver.JobSetStateIfRunningManyParams) ([]*rivertype.JobRow, error) {
	rest := p.foreigners(params)
	if len(rest.ID) == 0 || !p.lease.valid() {
		return nil, nil
	}
	return p.StandardPilot.JobSetStateIfRunningMany(ctx, exec, rest)
}

// foreigners leaves out the jobs whose attempts note their states.
func (p *pilot) foreigners(all *riverdriver.JobSetStateIfRunningManyParams) *riverdriver.JobSetStateIfRunningManyParams {
	p.mu.Lock()
	defer p.mu.Unlock()
	rest := &riverdriver.JobSetStateIfRunningManyParams{Now: all.Now, Schema: all.Schema}
	for i, id := range all.ID {
		if !p.foreign[id] {
			continue
		}
		delete(p.foreign, id)
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
