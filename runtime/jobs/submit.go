package jobs

import (
	"context"
	"fmt"

	"github.com/riverqueue/river"
)

// Submit inserts a job and returns its id.
func (s *Store) Submit(ctx context.Context, spec Spec) (id int64, err error) {
	err = s.Tx(ctx, func(tx *Tx) error {
		id, err = s.SubmitTx(ctx, tx, spec)
		return err
	})
	return id, err
}

// SubmitTx inserts a job in a transaction.
func (s *Store) SubmitTx(ctx context.Context, tx *Tx, spec Spec) (int64, error) {
	if err := spec.Complete(); err != nil {
		return 0, err
	}
	options := &river.InsertOpts{Queue: spec.Queue, Priority: spec.Priority, MaxAttempts: maxAttempts,
		ScheduledAt: spec.At}
	if spec.In > 0 {
		now, err := ReadTime(ctx, tx, s.now)
		if err != nil {
			return 0, err
		}
		options.ScheduledAt = now.Add(spec.In)
	}
	row, err := s.engine.insert(ctx, tx, spec, options)
	if err != nil {
		return 0, err
	}
	_, err = tx.ExecContext(ctx, "insert into tr_job (job_id, title, key, schedule, bundle, "+
		"parent) values ($1, $2, $3, $4, $5, $6)",
		row.ID, spec.Title(), spec.Key, spec.Schedule, spec.Bundle, spec.Parent)
	if err == nil {
		err = s.WatchTx(ctx, tx, row.ID, spec)
	}
	return row.ID, err
}

// WatchTx lets workers look after a job whose submitter wants to be told how it
// ends, or when it does not start. A job that is tried again is watched again.
func (s *Store) WatchTx(ctx context.Context, tx *Tx, id int64, spec Spec) error {
	if spec.OnFailure == "" && spec.Ping == "" {
		return nil
	}
	late := int64(0)
	if spec.OnFailure != "" {
		late = spec.Late.Milliseconds()
	}
	due := fmt.Sprintf(s.millis, "scheduled_at")
	_, err := tx.ExecContext(ctx, "insert into tr_watch (job_id, starts, late_at) select id, cast($2 as bigint), case "+
		"when cast($3 as bigint) > 0 then "+due+" + cast($3 as bigint) else 0 end from river_job where id = $1"+
		" on conflict (job_id) do nothing", id, Bit(spec.Ping != ""), late)
	return err
}

// maxAttempts bounds River's count, which takeovers raise as well; retries are
// counted in tr_job.
const maxAttempts = 30_000
