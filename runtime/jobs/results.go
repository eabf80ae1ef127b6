package jobs

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"transect/client/fault"
	"transect/client/human"
)

// MaxResult is the largest size of a result, in bytes.
const MaxResult = 1 << 20

// PutResult stores the result of a job, JSON of at most MaxResult bytes, while the epoch is current;
// otherwise it returns a *fault.CancelledError.
func (s *Store) PutResult(ctx context.Context, id, epoch int64, value []byte) error {
	if len(value) > MaxResult {
		return fault.Hinted(fault.Of(&fault.ValueError{},
			"the result has %s bytes as JSON, more than the %s (%s) that are kept", human.Number(len(value)),
			human.Number(MaxResult), human.Limit(MaxResult)),
			"write large results to a file or the platform, and return its name")
	}
	if !json.Valid(value) {
		return fault.Of(&fault.ValueError{}, "the result is not JSON")
	}
	return s.Tx(ctx, func(tx *Tx) error {
		if err := s.fence(ctx, tx, id, epoch); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "insert into tr_result (job_id, epoch, value) values ($1, $2, $3) on conflict "+
			"(job_id) do update set epoch = excluded.epoch, value = excluded.value, at = "+s.Now,
			id, epoch, value)
		return err
	})
}

// fence fails unless the epoch of a job is current. A takeover waits for the transaction.
func (s *Store) fence(ctx context.Context, tx *Tx, id, epoch int64) error {
	var newest int64
	err := tx.QueryRowContext(ctx, "select epoch from tr_job where job_id = $1"+s.Lock("for share"), id).Scan(&newest)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return unknown(id)
	case err == nil && newest != epoch:
		return fault.Of(&fault.CancelledError{}, "another attempt of job %d has begun", id)
	}
	return err
}

// Result returns the result of a job, as JSON; nil without one.
func (s *Store) Result(ctx context.Context, id int64) (value json.RawMessage, err error) {
	err = s.db.QueryRowContext(ctx, "select value from tr_result where job_id = $1", id).Scan((*[]byte)(&value))
	if errors.Is(err, sql.ErrNoRows) {
		_, err = s.Get(ctx, id)
		return nil, err
	}
	return value, s.Explain(err)
}
