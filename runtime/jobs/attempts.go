package jobs

import (
	"context"
	"database/sql"
	"time"
)

// Attempt is one execution of a job, a start of its run.
type Attempt struct {
	Run      int64      `json:"-"` // of tr_run
	Number   int        `json:"attempt"`
	Worker   string     `json:"worker"`
	Started  time.Time  `json:"started"`
	Ended    *time.Time `json:"ended"` // nil while running
	ExitCode *int       `json:"exit_code"`
	Outcome  State      `json:"outcome"` // running, lost, or a state of jobs
	record   string
}

// Attempts lists the attempts of a job in order.
func (s *Store) Attempts(ctx context.Context, id int64) ([]Attempt, error) {
	list, err := Collect(ctx, s.db, func(rows *sql.Rows) (a Attempt, err error) {
		var started, ended int64
		err = rows.Scan(&a.Run, &a.Number, &a.Worker, &started, &ended, &a.ExitCode, &a.Outcome, &a.record)
		a.Started = FromMillis(started)
		if ended > 0 {
			end := FromMillis(ended)
			a.Ended = &end
		} else {
			a.Outcome = Running
		}
		return a, err
	}, `select id, attempt, worker, started_at, coalesce(ended_at, 0), exit_code, outcome, record
		from tr_run where job_id = $1 order by id`, id)
	return list, s.Explain(err)
}
