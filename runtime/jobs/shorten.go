package jobs

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"transect/client/ledger"
)

const (
	shortenAfter  = 24 * time.Hour // after a job succeeded
	shortenAtOnce = 500            // jobs
	shortened     = 0              // the epoch of the rows of a shortened ledger
)

// ShortenLedgers removes, from the ledgers of jobs done a day ago, the responses that may reports as readable
// from the platform again, like for ledgers of other runs. It returns the number of ledgers processed.
func (s *Store) ShortenLedgers(ctx context.Context, may func(op string, r *ledger.Result) bool) (n int, err error) {
	ids, err := Column[int64](ctx, s.db,
		`select t.job_id from tr_job t join river_job j on j.id = t.job_id and j.state = 'completed'
		where t.outcome = $1 and t.ended_at > 0 and t.ended_at < `+s.Now+` - $2
		and exists (select 1 from tr_ledger l where l.run = 'job-' || t.job_id and l.epoch > $3) order by t.job_id limit $4`,
		string(Done), shortenAfter.Milliseconds(), shortened, shortenAtOnce)
	if err != nil {
		return 0, s.Explain(err)
	}
	var failed error
	for _, id := range ids {
		if err := s.shortenLedger(ctx, id, may); err != nil {
			failed = err // continue with the others
			continue
		}
		n++
	}
	return n, failed
}

func (s *Store) shortenLedger(ctx context.Context, job int64, may func(op string, r *ledger.Result) bool) (err error) {
	var epoch int64
	if err := s.db.QueryRowContext(ctx, "select epoch from tr_job where job_id = $1", job).Scan(&epoch); err != nil {
		return s.Explain(err)
	}
	l, err := ledger.OpenRemoteToEdit(RunID(job), s.Ledger(ctx, job, 0))
	if err != nil {
		return err
	}
	defer l.Close()
	short, err := l.Shortened(may)
	if err != nil {
		return err
	}
	if short != nil {
		defer func() { err = errors.Join(err, short.Close(), os.Remove(short.Name())) }()
	}
	return s.Tx(ctx, func(tx *Tx) error {
		if err := s.fence(ctx, tx, job, epoch); err != nil {
			return err // being edited
		}
		if short == nil {
			_, err := tx.ExecContext(ctx, "update tr_ledger set epoch = $1 where run = $2", shortened, RunID(job))
			return err
		}
		if _, err := tx.ExecContext(ctx, "delete from tr_ledger where run = $1", RunID(job)); err != nil {
			return err
		}
		b := make([]byte, maxRead)
		for at := int64(0); ; {
			n, err := io.ReadFull(short, b)
			if n > 0 {
				if _, err := tx.ExecContext(ctx, "insert into tr_ledger (run, at, epoch, bytes) values ($1, $2, $3, $4)",
					RunID(job), at, shortened, b[:n]); err != nil {
					return err
				}
				at += int64(n)
			}
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				return nil
			}
			if err != nil {
				return err
			}
		}
	})
}
