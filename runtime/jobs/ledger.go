package jobs

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"time"

	"transect/client/fault"
	"transect/client/wait"
)

// Ledger is the ledger of a job's run, writable for the holder of the job's epoch. It implements
// client/ledger.Remote.
type Ledger struct {
	store *Store
	ctx   context.Context
	job   int64
	epoch int64 // 0 to read only
}

// Ledger returns the ledger for an attempt, which may append while its epoch is current.
func (s *Store) Ledger(ctx context.Context, job, epoch int64) *Ledger {
	return &Ledger{s, ctx, job, epoch}
}

// EditLedger returns the ledger of a job that does not run, for decisions about its writes. It fails with
// *fault.LockedError while the job runs.
func (s *Store) EditLedger(ctx context.Context, job int64) (*Ledger, error) {
	l := s.Ledger(ctx, job, 0)
	err := s.db.QueryRowContext(ctx, `update tr_job set epoch = epoch + 1 where job_id = $1
		and not exists (select 1 from river_job where id = $1 and state = 'running') returning epoch`, job).Scan(&l.epoch)
	if !errors.Is(err, sql.ErrNoRows) {
		return l, s.Explain(err)
	}
	j, err := s.Get(ctx, job)
	if err != nil {
		return nil, err
	}
	return nil, fault.Hinted(fault.Of(&fault.LockedError{}, "job %d is running on %s", job, j.Worker), "wait for its end")
}

// maxRead limits the bytes that one Read returns, unless one row is larger.
const maxRead = 4 << 20

// Read returns a part of the ledger from an offset, nothing at its end.
func (l *Ledger) Read(from int64) (all []byte, err error) {
	rows, err := l.store.db.QueryContext(l.ctx,
		"select at, bytes from tr_ledger where run = $1 and at >= $2 order by at", RunID(l.job), from)
	if err != nil {
		return nil, l.store.Explain(err)
	}
	defer rows.Close()
	for len(all) < maxRead && rows.Next() {
		var at int64
		var b []byte
		if err := rows.Scan(&at, &b); err != nil {
			return nil, l.store.Explain(err)
		}
		if at != from+int64(len(all)) {
			return nil, fault.Of(&fault.RuntimeError{}, "the ledger of job %d is damaged: byte %d is missing", l.job,
				from+int64(len(all)))
		}
		all = append(all, b...)
	}
	return all, l.store.Explain(rows.Err())
}

// Append appends to the ledger. It fails with *fault.CancelledError, without appending, when another attempt
// has taken over the job. Appending the same again, as after a lost response, has no effect.
func (l *Ledger) Append(at int64, b []byte) error {
	s, run := l.store, RunID(l.job)
	lock := s.Lock("for share") // a takeover waits for this statement, or it fails
	added, err := s.db.ExecContext(l.ctx, s.words.Replace(`insert into tr_ledger (run, at, epoch, bytes)
		select cast($1 as text), cast($2 as bigint), cast($3 as bigint), cast($4 as {bytes})
		from tr_job where job_id = $5 and epoch = $3`)+lock+
		" on conflict do nothing", run, at, l.epoch, b, l.job)
	if err != nil {
		return s.Explain(err)
	}
	if n, err := added.RowsAffected(); err != nil || n == 1 {
		return s.Explain(err)
	}
	var there []byte
	err = s.db.QueryRowContext(l.ctx, "select bytes from tr_ledger where run = $1 and at = $2 and epoch = $3", run, at,
		l.epoch).Scan(&there)
	switch {
	case err == nil && bytes.Equal(there, b):
		return nil
	case err == nil || errors.Is(err, sql.ErrNoRows):
		return fault.Of(&fault.CancelledError{}, "job %d was taken over: what this attempt would write now is not sent",
			l.job)
	}
	return s.Explain(err)
}

// retryingLedger is a ledger that retries while its database is unavailable.
type retryingLedger struct {
	*Ledger
	Patience
}

func (l retryingLedger) Read(from int64) (b []byte, err error) {
	err = l.retry(l.ctx, func(ctx context.Context) error { b, err = l.within(ctx).Read(from); return err })
	return b, err
}

func (l retryingLedger) Append(at int64, b []byte) error {
	l.Moved()
	return l.retry(l.ctx, func(ctx context.Context) error { return l.within(ctx).Append(at, b) })
}

func (l *Ledger) within(ctx context.Context) *Ledger { return &Ledger{l.store, ctx, l.job, l.epoch} }

// Patience defines how database operations for a job's process are retried.
type Patience struct {
	Try   time.Duration                    // limit of one try: a connection may be dead
	Slow  func(since time.Time, why error) // called once for a slow operation, and with nil when it succeeds
	Moved func()                           // called when the process shows progress
}

// retry calls f until it succeeds or is refused. It is limited by the lease of the job, which is not renewed
// without the database.
func (p Patience) retry(ctx context.Context, f func(context.Context) error) error {
	began, reported := time.Now(), false
	for n := 1; ; n++ {
		try, cancel := context.WithTimeout(ctx, p.Try<<min(n-1, 6)) // the line may be slow
		err := f(try)
		_, taken := errors.AsType[*fault.CancelledError](err)
		silent := try.Err() != nil && ctx.Err() == nil && !taken
		cancel()
		_, broken := errors.AsType[*fault.FileError](err) // SQLite's, such as a full disk
		if err == nil || !silent && !broken && !fault.Transient(err) {
			if reported {
				p.Slow(began, nil)
			}
			return err
		}
		if !reported && time.Since(began) >= p.Try {
			reported = true
			p.Slow(began, err)
		}
		if wait.Sleep(ctx, wait.Backoff(n, 50*time.Millisecond, 2*time.Second)) != nil {
			return err
		}
	}
}
