package jobs

import (
	"context"
	"fmt"
	"time"
)

// Stats is a summary of the jobs.
type Stats struct {
	Queues  map[string]Tally `json:"queues"`  // jobs that have not ended
	Ended   Tally            `json:"ended"`   // jobs that ended since
	Since   time.Time        `json:"since"`   //
	Wait    time.Duration    `json:"wait_ns"` // median from being due to the first start, of jobs started since
	Run     time.Duration    `json:"run_ns"`  // median of the attempts that ended since
	Workers int              `json:"workers"` // live workers
	Slots   int              `json:"slots"`   // their slots
	Size    int64            `json:"bytes"`   // of the database
}

// Stats summarises the jobs, and the ones that ended within a time.
func (s *Store) Stats(ctx context.Context, within time.Duration) (*Stats, error) {
	stats := &Stats{Queues: map[string]Tally{}, Ended: Tally{}}
	now, err := ReadTime(ctx, s.db, s.Now)
	if err != nil {
		return nil, s.Explain(err)
	}
	stats.Since = now.Add(-within)
	since := Millis(stats.Since)
	queues, err := tally[string](ctx, s, "j.queue", "t.ended_at = 0 or t.ended_at >= $1", since)
	if err != nil {
		return nil, err
	}
	for queue, states := range queues {
		for state, n := range states {
			if state.Final() {
				stats.Ended[state] += n
				continue
			}
			if stats.Queues[queue] == nil {
				stats.Queues[queue] = Tally{}
			}
			stats.Queues[queue][state] = n
		}
	}
	due := fmt.Sprintf(s.millis, "j.scheduled_at")
	middle := func(list string) string { // median of a list of one column d
		return "select coalesce((select d from (" + list + ") a order by d limit 1 offset (select count(*) / 2 from (" +
			list + ") b)), 0)"
	}
	var wait, run float64
	for _, question := range []struct {
		sql  string
		into any
		args []any
	}{
		{middle("select r.started_at - case when " + due + " > t.submitted_at then " + due +
			` else t.submitted_at end as d from tr_run r
			join tr_job t on t.job_id = r.job_id join river_job j on j.id = r.job_id
			where r.attempt = 1 and t.tries <= 1 and r.started_at >= $1`), &wait, []any{since}},
		{middle("select ended_at - started_at as d from tr_run where ended_at >= $1"), &run, []any{since}},
		{"select count(*) from tr_worker where dead_at is null", &stats.Workers, nil},
		{"select coalesce(sum(slots), 0) from tr_worker where dead_at is null", &stats.Slots, nil},
		{s.size, &stats.Size, nil},
	} {
		if err := s.db.QueryRowContext(ctx, question.sql, question.args...).Scan(question.into); err != nil {
			return nil, s.Explain(err)
		}
	}
	stats.Wait, stats.Run = time.Duration(max(wait, 0))*time.Millisecond, time.Duration(run)*time.Millisecond
	return stats, nil
}
