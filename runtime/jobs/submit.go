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
		now, err := ReadTime(ctx, tx, s.Now)
		if err != nil {
			return 0, err
		}
		options.ScheduledAt = now.Add(spec.In)
	}
	row, err := s.engine.insert(ctx, tx, spec.Public(), options)
	if err != nil {
		return 0, err
	}
	_, err = tx.ExecContext(ctx, "insert into tr_job (job_id, title, key, schedule, bundle, "+
		"parent, submitter) values ($1, $2, $3, $4, $5, $6, "+s.submitter("$7")+")",
		row.ID, spec.Title(), spec.Key, spec.Schedule, spec.Bundle, spec.Parent, spec.Submitter)
	if err == nil && (spec.OnFailure != "" || spec.Ping != "") {
		err = s.PutTargetsTx(ctx, tx, row.ID, "", spec)
	}
	if err == nil {
		err = s.WatchTx(ctx, tx, row.ID, spec)
	}
	return row.ID, err
}

// submitter returns an SQL expression for the submitter: the user of the connection unless a parameter names
// another one.
func (s *Store) submitter(parameter string) string {
	return "coalesce(nullif(cast(" + parameter + " as text), ''), " + s.user + ")"
}

// PutTargetsTx stores the targets of notices for a job or a schedule.
func (s *Store) PutTargetsTx(ctx context.Context, tx *Tx, job int64, schedule string, spec Spec) error {
	_, err := tx.ExecContext(ctx, "insert into tr_target (job_id, schedule, on_failure, ping) values ($1, $2, $3, $4) "+
		"on conflict (job_id, schedule) do update set on_failure = excluded.on_failure, ping = excluded.ping",
		job, schedule, spec.OnFailure, spec.Ping)
	return err
}

// WatchTx registers a job for notices about its end, or about a late start. A job that is retried is watched
// again.
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

// maxAttempts limits River's count, which takeovers increment as well; retries are counted in tr_job.
const maxAttempts = 30_000
