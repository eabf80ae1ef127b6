package jobs

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Outcome counts jobs in one state that belong together: submitted by one job, by one schedule, or all
// others.
type Outcome struct {
	Parent   int64  // the job that submitted them; 0: none
	Schedule string // the schedule that submitted them; "": none
	State    State
	Jobs     int
	Newest   int64 // id of the newest
}

// Outcomes counts the jobs that ended within a time, by parent or schedule and by state.
func (s *Store) Outcomes(ctx context.Context, within time.Duration) ([]Outcome, error) {
	return s.outcomes(ctx, "ended_at >= "+s.Now+" - $1 and outcome <> ''", within.Milliseconds())
}

// Undecided counts the jobs that need a decision, whenever they ended, by parent or schedule.
func (s *Store) Undecided(ctx context.Context) ([]Outcome, error) {
	return s.outcomes(ctx, "outcome = 'needs a decision'")
}

func (s *Store) outcomes(ctx context.Context, where string, args ...any) ([]Outcome, error) {
	list, err := Collect(ctx, s.db, func(rows *sql.Rows) (o Outcome, err error) {
		err = rows.Scan(&o.Parent, &o.Schedule, &o.State, &o.Jobs, &o.Newest)
		return o, err
	}, `select parent, case when parent = 0 then schedule else '' end, outcome, count(*), max(job_id) from tr_job
		where `+where+" group by 1, 2, 3 order by 1, 2", args...)
	return list, s.Explain(err)
}

// Tally counts jobs by their state.
type Tally map[State]int

// Submitted counts the jobs submitted by each of the given jobs.
func (s *Store) Submitted(ctx context.Context, parents ...int64) (map[int64]Tally, error) {
	return tally[int64](ctx, s, "t.parent", "t.parent > 0 and "+In("t.parent", parents, nil))
}

// Open counts the jobs of each queue that have not ended.
func (s *Store) Open(ctx context.Context) (map[string]Tally, error) {
	return tally[string](ctx, s, "j.queue", "t.ended_at = 0")
}

// Backlog is what waits in the queues.
type Backlog struct {
	Jobs map[string]Tally         // by queue: jobs that have not ended, or need a decision
	Due  map[string]time.Duration // by queue: for how long the job that waits longest has been due
}

// Backlog returns what waits in the queues.
func (s *Store) Backlog(ctx context.Context) (b *Backlog, err error) {
	b = &Backlog{Due: map[string]time.Duration{}}
	b.Jobs, err = tally[string](ctx, s, "j.queue", "t.ended_at = 0 or t.outcome = 'needs a decision'")
	if err != nil {
		return nil, err
	}
	_, err = Collect(ctx, s.db, func(rows *sql.Rows) (queue string, err error) {
		var ms int64
		err = rows.Scan(&queue, &ms)
		b.Due[queue] = time.Duration(max(ms, 0)) * time.Millisecond
		return queue, err
	}, "select queue, "+s.Now+" - min("+fmt.Sprintf(s.millis, "scheduled_at")+") from river_job where state in "+
		"('available', 'pending', 'scheduled', 'retryable') and "+s.Due+" group by queue")
	if err != nil {
		return nil, s.Explain(err)
	}
	return b, nil
}

// tally counts jobs by an expression and their state.
func tally[K comparable](ctx context.Context, s *Store, by, where string, args ...any) (map[K]Tally, error) {
	all := map[K]Tally{}
	_, err := Collect(ctx, s.db, func(rows *sql.Rows) (key K, err error) {
		var state State
		var n int
		if err = rows.Scan(&key, &state, &n); err == nil {
			if all[key] == nil {
				all[key] = Tally{}
			}
			all[key][state] = n
		}
		return key, err
	}, "select key, state, n from (select "+by+" as key, "+StateSQL+" as state, count(*) as n from river_job j join "+
		"tr_job t on t.job_id = j.id where "+where+" group by 1, 2) x", args...)
	return all, s.Explain(err)
}
