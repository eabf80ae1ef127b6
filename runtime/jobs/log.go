package jobs

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"transect/client/fault"
)

// Batch is a piece of the output of an attempt: whole lines.
type Batch struct {
	Run     int64 // of tr_run
	Attempt int
	Seq     int64 // 1, 2 … within the attempt
	At      time.Time
	Stream  string // out, err, or worker for the worker's own messages
	Lines   string // each ended by a newline
}

// Streams of a log.
const (
	StreamOut    = "out"
	StreamErr    = "err"
	StreamWorker = "worker"
)

// AppendLog adds a batch to the log of an attempt unless its worker is declared dead, and reports whether it
// was added. Adding a batch again has no effect.
func (s *Store) AppendLog(ctx context.Context, worker string, b Batch) (alive bool, err error) {
	insert := `insert into tr_log (run_id, seq, at, stream, lines) select $1, $2, ` + s.Now +
		`, $3, $4 from tr_worker where id = $5 and dead_at is null`
	var args = []any{b.Run, b.Seq, b.Stream, b.Lines, worker}
	conflict := ` on conflict (run_id, seq) do update set seq = excluded.seq`
	if !s.Postgres {
		result, err := s.db.ExecContext(ctx, insert+conflict, args...)
		if err != nil {
			return false, s.Explain(err)
		}
		n, err := result.RowsAffected()
		return n > 0, err
	}
	// The lock delays declaring the worker dead: a reader that has reached the next attempt has seen this one
	// completely.
	err = s.db.QueryRowContext(ctx, `with added as (`+insert+` for share`+conflict+` returning run_id)
		select count(pg_notify('`+channel+`', (select job_id from tr_run where id = run_id)::text)) > 0 from added`,
		args...).Scan(&alive)
	return alive, s.Explain(err)
}

// Position is a reader's position in a log. The zero value is the beginning.
type Position struct{ Run, Seq int64 }

// batchesAtOnce limits the batches of one query.
const batchesAtOnce = 200

const logSQL = "select l.run_id, r.attempt, l.seq, l.at, l.stream, l.lines from tr_log l join tr_run " +
	"r on r.id = l.run_id where r.job_id = $1"

// Log returns the log of a job after a position, in order. A long log is cut: continue from the last batch.
func (s *Store) Log(ctx context.Context, id int64, after Position) ([]Batch, error) {
	return s.batches(ctx, logSQL+" and (l.run_id, l.seq) > ($2, $3) order by l.run_id, l.seq limit $4", id, after.Run,
		after.Seq, batchesAtOnce)
}

// LogEnd returns the batches with at least the last n lines of a job, in order.
func (s *Store) LogEnd(ctx context.Context, id int64, n int) ([]Batch, error) {
	list, err := s.batches(ctx, logSQL+" order by l.run_id desc, l.seq desc limit $2", id, n)
	lines := 0
	for i, b := range list {
		if lines += strings.Count(b.Lines, "\n"); lines >= n {
			list = list[:i+1]
			break
		}
	}
	slices.Reverse(list)
	return list, err
}

func (s *Store) batches(ctx context.Context, query string, args ...any) ([]Batch, error) {
	list, err := Collect(ctx, s.db, func(rows *sql.Rows) (b Batch, err error) {
		var at int64
		err = rows.Scan(&b.Run, &b.Attempt, &b.Seq, &at, &b.Stream, &b.Lines)
		b.At = FromMillis(at)
		return b, err
	}, query, args...)
	return list, s.Explain(err)
}

// Follow passes the log of a job to each, in order, until the job has ended, and returns the job. It retries
// for a few minutes when the database is unavailable.
func (s *Store) Follow(ctx context.Context, id int64, after Position, each func(Batch) error) (*Job, error) {
	return s.until(ctx, id, func() error {
		return s.ReadLog(ctx, id, &after, func(b Batch) error {
			if err := each(b); err != nil {
				return &stop{err}
			}
			return nil
		})
	})
}

// ReadLog passes the present log of a job to each, and moves the position.
func (s *Store) ReadLog(ctx context.Context, id int64, after *Position, each func(Batch) error) error {
	for {
		list, err := s.Log(ctx, id, *after)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, b := range list {
			if err := each(b); err != nil {
				return err
			}
			*after = Position{b.Run, b.Seq}
		}
	}
}

// Wait waits until a job has ended.
func (s *Store) Wait(ctx context.Context, id int64) (*Job, error) {
	return s.until(ctx, id, func() error { return nil })
}

// stop wraps an error of the caller's function, which ends the waiting.
type stop struct{ error }

// maxOutage is how long a reader retries while the database is unavailable.
const maxOutage = 5 * time.Minute

// until calls read at each change of a job, and after its end.
func (s *Store) until(ctx context.Context, id int64, read func() error) (*Job, error) {
	changes := s.changes(ctx, id)
	defer changes.close()
	answered := time.Now()
	for {
		job, err := s.Get(ctx, id)
		if err == nil {
			err = read()
		}
		var own *stop
		switch {
		case errors.As(err, &own):
			return job, own.error
		case err == nil && job.State.Final():
			return job, nil
		case err == nil:
			answered = time.Now()
		case !isAway(err) || time.Since(answered) > maxOutage:
			return nil, err
		}
		if err := changes.wait(ctx); err != nil {
			return nil, fault.Stopped(ctx)
		}
	}
}

func isAway(err error) bool {
	_, away := errors.AsType[*fault.ConnectionError](err)
	return away
}
