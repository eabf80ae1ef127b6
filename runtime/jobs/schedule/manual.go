package schedule

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"transect/client/fault"
	"transect/client/wait"
	"transect/runtime/jobs"
	"transect/runtime/timetable"
)

// Set pauses or resumes a schedule. Slots that pass while it is paused are not caught up; overdue ones are
// recorded first, and fired by its policy once it is resumed.
func Set(ctx context.Context, store *jobs.Store, name string, paused bool) (*Schedule, error) {
	r := newRunner(store, Options{}, 0)
	err := store.Tx(ctx, func(tx *jobs.Tx) error {
		s, err := locked(ctx, store, tx, name)
		if err != nil || s.Paused || !paused {
			return err
		}
		f, err := r.begin(ctx, tx, s)
		if err != nil || s.Next.IsZero() || s.Next.After(f.now) {
			return err
		}
		return f.slots(ctx)
	})
	if err != nil {
		return nil, err
	}
	return Edit(ctx, store, name, func(s *Schedule) error { s.Paused = paused; return nil })
}

// RunNow submits a job of a schedule, even of a paused one. While another job of the schedule is active it
// returns 0 and the job that it waits for.
func RunNow(ctx context.Context, store *jobs.Store, name string) (job, behind int64, err error) {
	r := newRunner(store, Options{}, 0)
	err = store.Tx(ctx, func(tx *jobs.Tx) error {
		job, behind = 0, 0
		s, err := locked(ctx, store, tx, name)
		if err != nil {
			return err
		}
		f, err := r.begin(ctx, tx, s)
		if err != nil {
			return err
		}
		due := f.now
		for { // an earlier manual run may occupy this millisecond
			added, err := f.note(ctx, slot{Due: due, How: byHand, State: waiting, Count: 1})
			if err != nil {
				return err
			}
			if added {
				break
			}
			due = due.Add(time.Millisecond)
		}
		if err := f.pump(ctx); err != nil {
			return err
		}
		return tx.QueryRowContext(ctx,
			`select case when due_at >= $2 then job_id else 0 end, case when due_at >= $2 then 0 else job_id end
			from tr_fired where schedule = $1 and state = 'active'`, name, jobs.Millis(due)).Scan(&job, &behind)
	})
	return job, behind, err
}

// AwaitRun waits until the newest slot from RunNow has its job.
func AwaitRun(ctx context.Context, store *jobs.Store, name string) (job int64, err error) {
	var due int64
	ask := func(tx *jobs.Tx) error {
		if due == 0 {
			if err := tx.QueryRowContext(ctx, "select coalesce(max(due_at), 0) from tr_fired where schedule = $1 and how = $2",
				name, byHand).Scan(&due); err != nil {
				return err
			}
		}
		return tx.QueryRowContext(ctx,
			"select coalesce(job_id, 0) from tr_fired where schedule = $1 and due_at = $2 and (job_id > 0 or state = $3)",
			name, due, waiting).Scan(&job)
	}
	for {
		err := store.Tx(ctx, ask)
		switch {
		case ctx.Err() != nil:
			return 0, context.Cause(ctx)
		case errors.Is(err, sql.ErrNoRows):
			return 0, fault.Of(&fault.CancelledError{}, "the schedule %s was removed before this run started", name)
		case err != nil || job > 0:
			return job, err
		}
		if wait.Sleep(ctx, time.Second/4) != nil {
			return 0, context.Cause(ctx)
		}
	}
}

// InHand returns the active job of a schedule, or 0, and the number of slots waiting for it.
func InHand(ctx context.Context, store *jobs.Store, name string) (job int64, slots int, err error) {
	err = store.Tx(ctx, func(tx *jobs.Tx) error {
		return tx.QueryRowContext(ctx,
			`select coalesce(max(case when state = 'active' then job_id end), 0), count(case when state = 'waiting' then 1 end)
			from tr_fired where schedule = $1`, name).Scan(&job, &slots)
	})
	return job, slots, err
}

// Backfill queues the slots from one time up to, excluding, another one, to be fired one after the other.
// Slots that were fired or wait are left unchanged. A dry run only returns them.
func Backfill(ctx context.Context, store *jobs.Store, name string, from, to time.Time, dry bool) (slots []time.Time,
	before int, err error) {
	r := newRunner(store, Options{}, 0)
	err = store.Tx(ctx, func(tx *jobs.Tx) error {
		slots, before = nil, 0
		s, err := locked(ctx, store, tx, name)
		if err != nil {
			return err
		}
		f, err := r.begin(ctx, tx, s)
		if err != nil {
			return err
		}
		times, err := s.Times()
		if err != nil {
			return err
		}
		if to.IsZero() || to.After(f.now) {
			to = f.now
		}
		all := times.Between(from, to)
		if len(all) > timetable.MaxSlots {
			return fault.Hinted(fault.Of(&fault.UsageError{}, "there are more than %d slots from %s to %s", timetable.MaxSlots,
				from.In(times.Zone).Format(showSlot), to.In(times.Zone).Format(showSlot)),
				"fill in shorter times, one after the other")
		}
		for _, due := range all {
			if !s.Next.IsZero() && !due.Before(s.Next) && !s.Paused {
				break // the schedule fires it itself
			}
			added, err := f.fillIn(ctx, times, due, dry)
			if err != nil {
				return err
			}
			if added {
				slots = append(slots, due)
			} else {
				before++
			}
		}
		if dry {
			return nil
		}
		return f.pump(ctx)
	})
	return slots, before, err
}

// fillIn queues a slot that was not fired before.
func (f *firing) fillIn(ctx context.Context, times *timetable.Times, due time.Time, dry bool) (bool, error) {
	var state string
	var missed int
	var last int64
	switch err := f.tx.QueryRowContext(ctx,
		"select state, slots, last_at from tr_fired where schedule = $1 and due_at = $2", f.Name,
		jobs.Millis(due)).Scan(&state, &missed, &last); {
	case err == sql.ErrNoRows:
		if dry {
			return true, nil
		}
		return f.note(ctx, slot{Due: due, How: backfill, State: waiting, Count: 1})
	case err != nil || state != leftOut:
		return false, err
	case dry:
		return true, nil
	}
	if _, err := f.tx.ExecContext(ctx,
		"update tr_fired set how = 'backfill', state = 'waiting', slots = 1, last_at = 0, at = $3 where schedule = $1 and "+
			"due_at = $2", f.Name, jobs.Millis(due), jobs.Millis(f.now)); err != nil {
		return false, err
	}
	if missed > 1 { // the others of the row
		if next := times.Next(due, 1); len(next) > 0 {
			if _, err := f.note(ctx, slot{Due: next[0], How: "missed", State: leftOut, Count: missed - 1,
				Last: time.UnixMilli(last)}); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}
