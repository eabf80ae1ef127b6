package schedule

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"transect/client/fault"
	"transect/runtime/jobs"
	"transect/runtime/timetable"
)

// States of a slot in tr_fired.
const (
	waiting = "waiting" // its job will be submitted
	active  = "active"  // its job was submitted and has not ended
	ended   = "ended"   // its job has ended
	leftOut = "left out"
)

// How a slot was fired, or why it was not.
const (
	inTime   = "slot"
	caughtUp = "caught up"
	byHand   = "run"
	backfill = "backfill"
	missed   = "missed"   // no worker fired it in time
	skipped  = "skipped"  // a job was running
	replaced = "replaced" // the next slot came while it waited
)

// ready selects the schedules with something to do: a slot is due, an active job has ended, or a slot waits
// and no job is active. %s is the time.
const ready = `(s.paused = 0 and s.next_at > 0 and s.next_at <= %s
	or exists (select 1 from tr_fired where schedule = s.name and ` + over + `)
	or not exists (select 1 from tr_fired a where a.schedule = s.name and a.state = 'active')
	and exists (select 1 from tr_fired w where w.schedule = s.name and w.state = 'waiting'
		and (s.paused = 0 or w.how = 'run')))`

// over selects the active slots whose job has ended or was removed.
const over = `state = 'active' and not exists (
	select 1 from river_job j where j.id = job_id and j.state not in ('completed', 'cancelled', 'discarded'))`

// firing is one transaction on one schedule.
type firing struct {
	*runner
	*Schedule
	tx  *jobs.Tx
	now time.Time
}

// fire processes one schedule, unless another process is doing so.
func (r *runner) fire(ctx context.Context, name string) error {
	return r.store.Tx(ctx, func(tx *jobs.Tx) error {
		s, err := scan(tx.QueryRowContext(ctx,
			"select "+columns+" from tr_schedule s where name = $1 and "+fmt.Sprintf(ready, r.clock)+
				r.store.Lock("for update skip locked"), name))
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		f, err := r.begin(ctx, tx, s)
		if err != nil {
			return err
		}
		if !s.Paused && !s.Next.IsZero() && !s.Next.After(f.now) {
			if err := f.slots(ctx); err != nil {
				return err
			}
		}
		return f.pump(ctx)
	})
}

// begin first records which jobs have ended.
func (r *runner) begin(ctx context.Context, tx *jobs.Tx, s *Schedule) (*firing, error) {
	now, err := jobs.ReadTime(ctx, tx, r.clock)
	f := &firing{runner: r, Schedule: s, tx: tx, now: now}
	if err != nil {
		return nil, err
	}
	return f, f.sweep(ctx)
}

// sweep records the outcomes of active jobs that have ended.
func (f *firing) sweep(ctx context.Context) error {
	_, err := f.tx.ExecContext(ctx, `update tr_fired set state = 'ended', outcome = coalesce((select `+jobs.StateSQL+`
		from river_job j join tr_job t on t.job_id = j.id where j.id = tr_fired.job_id), 'removed') where schedule = $1 and `+
		over, f.Name)
	return err
}

// slots records the slots that are due, and the time of the next one.
func (f *firing) slots(ctx context.Context) error {
	times, err := f.Times()
	if err != nil {
		return err
	}
	due := times.Due(f.Next, f.now)
	if due.Missed > 0 {
		if _, err := f.note(ctx, slot{Due: due.First, How: missed, State: leftOut, Count: due.Missed,
			Last: due.Last}); err != nil {
			return err
		}
	}
	if err := f.lateNotice(ctx, due, times); err != nil {
		return err
	}
	for i, at := range due.Fire {
		how := inTime
		if i < due.Late {
			how = caughtUp
		}
		if err := f.slot(ctx, at, how); err != nil {
			return err
		}
	}
	f.Next = due.Next
	_, err = f.tx.ExecContext(ctx, "update tr_schedule set next_at = $2 where name = $1", f.Name, jobs.Millis(f.Next))
	return err
}

// slot queues a slot for its job, unless the overlap policy drops it.
func (f *firing) slot(ctx context.Context, at time.Time, how string) error {
	running, queued, err := f.count(ctx)
	if err != nil {
		return err
	}
	s := slot{Due: at, How: how, State: waiting, Count: 1}
	switch {
	case queued >= timetable.MaxSlots, f.Overlap == timetable.Skip && how == inTime && running > 0 && queued == 0:
		s.How, s.State = skipped, leftOut
	case f.Overlap == timetable.Cancel && how == inTime:
		if err := f.cancelOthers(ctx); err != nil {
			return err
		}
	}
	_, err = f.note(ctx, s)
	return err
}

func (f *firing) count(ctx context.Context) (running, queued int, err error) {
	err = f.tx.QueryRowContext(ctx, `select (select count(*) from tr_fired where schedule = $1 and state = 'active'),
		(select count(*) from tr_fired where schedule = $1 and state = 'waiting')`, f.Name).Scan(&running, &queued)
	return running, queued, err
}

// cancelOthers makes room for the newest slot. Runs requested by a person stay.
func (f *firing) cancelOthers(ctx context.Context) error {
	if _, err := f.tx.ExecContext(ctx,
		"update tr_fired set state = 'left out', how = 'replaced' where schedule = $1 and state = 'waiting' "+
			"and how = 'slot'", f.Name); err != nil {
		return err
	}
	running, err := jobs.Column[int64](ctx, f.tx,
		"select job_id from tr_fired where schedule = $1 and state = 'active' and how <> 'backfill'", f.Name)
	if err != nil {
		return err
	}
	for _, id := range running {
		if err := f.store.CancelTx(ctx, f.tx, id); err != nil && fault.Find(err) == nil {
			return err // it fails if the job has ended
		}
	}
	return nil
}

// slot is a row of tr_fired.
type slot struct {
	Due, Last  time.Time
	How, State string
	Count      int
}

// note inserts a slot, once.
func (f *firing) note(ctx context.Context, s slot) (added bool, err error) {
	result, err := f.tx.ExecContext(ctx,
		`insert into tr_fired (schedule, due_at, at, how, state, slots, last_at) values ($1, $2, $3, $4, $5, $6, $7)
		on conflict (schedule, due_at) do nothing`, f.Name, jobs.Millis(s.Due), jobs.Millis(f.now), s.How, s.State, s.Count,
		jobs.Millis(s.Last))
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

// pump submits the job of the first waiting slot, when no job is active. Backfilled slots come last.
func (f *firing) pump(ctx context.Context) error {
	running, queued, err := f.count(ctx)
	if err != nil || running > 0 || queued == 0 {
		return err
	}
	only := ""
	if f.Paused {
		only = " and how = 'run'"
	}
	var due int64
	var how string
	err = f.tx.QueryRowContext(ctx, "select due_at, how from tr_fired where schedule = $1 and state = 'waiting'"+only+
		" order by case when how = 'run' then 0 when how = 'backfill' then 2 else 1 end, due_at limit 1", f.Name).Scan(&due,
		&how)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	spec, err := f.job(time.UnixMilli(due))
	if err != nil {
		return err
	}
	id, err := f.store.SubmitTx(ctx, f.tx, spec)
	if err != nil {
		return err
	}
	_, err = f.tx.ExecContext(ctx,
		"update tr_fired set state = 'active', job_id = $3, at = $4 where schedule = $1 and due_at = $2", f.Name, due, id,
		jobs.Millis(f.now))
	return err
}

// job returns the job of a slot: {slot} in its arguments is the slot's time in the schedule's zone, such as
// 2027-03-28T02:30:00+01:00, {slot_date} its date.
func (f *firing) job(due time.Time) (jobs.Spec, error) {
	zone, err := timetable.Zone(f.Zone)
	if err != nil {
		return jobs.Spec{}, err
	}
	spec, at := f.Spec, due.In(zone)
	spec.Schedule, spec.Slot = f.Name, jobs.Millis(due)
	if spec.Key == "" {
		spec.Key = "schedule:" + f.Name // also blocks jobs retried by hand
	}
	replacer := strings.NewReplacer("{slot}", at.Format(time.RFC3339), "{slot_date}", at.Format(time.DateOnly))
	spec.Args = nil
	for _, arg := range f.Spec.Args {
		spec.Args = append(spec.Args, replacer.Replace(arg))
	}
	return spec, nil
}
