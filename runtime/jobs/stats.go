package jobs

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Stats sums up the jobs.
type Stats struct {
	Queues  map[string]map[State]int `json:"queues"`  // jobs that have not ended
	Ended   map[State]int            `json:"ended"`   // those that ended since
	Since   time.Time                `json:"since"`   //
	Wait    time.Duration            `json:"wait_ns"` // median from being due to the first start, of those that started since
	Run     time.Duration            `json:"run_ns"`  // median of the attempts that ended since
	Workers int                      `json:"workers"` // that live
	Slots   int                      `json:"slots"`   // of these
	Size    int64                    `json:"bytes"`   // of the database
}

// Stats sums up the jobs, those that ended within a time.
func (s *Store) Stats(ctx context.Context, within time.Duration) (*Stats, error) {
	type count struct {
		queue string
		state State
		jobs  int
	}
	stats := &Stats{Queues: map[string]map[State]int{}, Ended: map[State]int{}}
	now, err := ReadTime(ctx, s.db, s.now)
	if err != nil {
		return nil, s.explain(err)
	}
	stats.Since = now.Add(-within)
	since := Millis(stats.Since)
	counts, err := Collect(ctx, s.db, func(rows *sql.Rows) (c count, err error) {
		err = rows.Scan(&c.queue, &c.state, &c.jobs)
		return c, err
	}, "select queue, state, n from (select j.queue as queue, "+stateSQL+` as state, count(*) as n from river_job j join tr_job t on t.job_id = j.id
		where t.ended_at = 0 or t.ended_at >= $1 group by 1, 2) x`, since)
	if err != nil {
		return nil, s.explain(err)
	}
	for _, c := range counts {
		if c.state.Final() {
			stats.Ended[c.state] += c.jobs
			continue
		}
		if stats.Queues[c.queue] == nil {
			stats.Queues[c.queue] = map[State]int{}
		}
		stats.Queues[c.queue][c.state] = c.jobs
	}
	due := fmt.Sprintf(s.millis, "j.scheduled_at")
	middle := func(list string) string { // of a list of one column d
		return "select coalesce((select d from (" + list + ") a order by d limit 1 offset (select count(*) / 2 from (" + list + ") b)), 0)"
	}
	var wait, run float64
	for _, question := range []struct {
		sql  string
		into any
		args []any
	}{
		{middle("select r.started_at - case when " + due + " > t.submitted_at then " + due + ` else t.submitted_at end as d from tr_run r
			join tr_job t on t.job_id = r.job_id join river_job j on j.id = r.job_id where r.attempt = 1 and t.tries <= 1 and r.started_at >= $1`), &wait, []any{since}},
		{middle("select ended_at - started_at as d from tr_run where ended_at >= $1"), &run, []any{since}},
		{"select count(*) from tr_worker where dead_at is null", &stats.Workers, nil},
		{"select coalesce(sum(slots), 0) from tr_worker where dead_at is null", &stats.Slots, nil},
		{s.size, &stats.Size, nil},
	} {
		if err := s.db.QueryRowContext(ctx, question.sql, question.args...).Scan(question.into); err != nil {
			return nil, s.explain(err)
		}
	}
	stats.Wait, stats.Run = time.Duration(max(wait, 0))*time.Millisecond, time.Duration(run)*time.Millisecond
	return stats, nil
}
