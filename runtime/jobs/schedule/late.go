package schedule

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"transect/client/fault"
	"transect/client/human"
	"transect/runtime/jobs"
	"transect/runtime/timetable"
	"transect/runtime/unattended/notice"
)

// showSlot is the layout of slots in messages, in the schedule's zone.
const showSlot = "2006-01-02 15:04 MST"

// lateNotice writes one notice about all slots that did not start in time, if one of them is left out or
// they are too late. The first worker that runs again writes it.
func (f *firing) lateNotice(ctx context.Context, due timetable.Due, times *timetable.Times) error {
	oldest := f.now
	if len(due.Fire) > 0 {
		oldest = due.Fire[0]
	}
	if due.Missed > 0 && due.First.Before(oldest) {
		oldest = due.First
	}
	behind := f.now.Sub(oldest)
	if f.Spec.OnFailure == "" || due.Missed == 0 && (f.Spec.Late <= 0 || behind < f.Spec.Late) {
		return nil
	}
	what, they := fmt.Sprintf("the slot of %s was", oldest.In(times.Zone).Format(showSlot)), "it is"
	if n := due.Missed + len(due.Fire); n > 1 {
		what, they = fmt.Sprintf("%d slots since %s were", n, oldest.In(times.Zone).Format(showSlot)), "they are"
	}
	what += fmt.Sprintf(" not fired in time: no worker was running for %s; ", human.Duration(behind.Round(time.Second)))
	switch newest := len(due.Fire); {
	case newest == 0:
		what += they + " left out"
	case due.Missed == 0:
		what += they + " due now"
	case newest == 1 && due.Missed == 1:
		what += "the newer one is due now, the other is left out"
	case newest == 1:
		what += "the newest is due now, the others are left out"
	default:
		what += fmt.Sprintf("the newest %d are due now, the others are left out", newest)
	}
	return f.addNotice(ctx, oldest, what)
}

// blocking selects the active slots that delayed a later one of their schedule for too long.
const blocking = `select s.name from tr_schedule s
	join tr_fired a on a.schedule = s.name and a.state = 'active' and a.noticed = 0
	where s.late > 0
	and exists (select 1 from tr_fired w where w.schedule = s.name and w.due_at > a.due_at
		and w.how in ('slot', 'skipped') and w.state <> 'ended' and w.due_at + s.late <= %s)`

// blocked writes notices about schedules blocked by a long-running job, once per job.
func (r *runner) blocked(ctx context.Context, names []string) (notified bool, err error) {
	for _, name := range names {
		written := false
		err := r.store.Tx(ctx, func(tx *jobs.Tx) error {
			s, err := locked(ctx, r.store, tx, name)
			if err != nil {
				return err
			}
			var job, due int64
			err = tx.QueryRowContext(ctx, "update tr_fired set noticed = 1 where schedule = $1 and state = 'active' and "+
				"noticed = 0 returning job_id, due_at", name).Scan(&job, &due)
			if errors.Is(err, sql.ErrNoRows) {
				return nil // another worker wrote it
			}
			if err != nil {
				return err
			}
			zone, err := timetable.Zone(s.Zone)
			if err != nil {
				return err
			}
			written = true
			f := &firing{runner: r, Schedule: s, tx: tx}
			return f.addNotice(ctx, time.UnixMilli(due),
				fmt.Sprintf("later slots do not start: job %d of the slot of %s has not ended", job,
					time.UnixMilli(due).In(zone).Format(showSlot)))
		})
		switch about := "later slots of " + name; {
		case err == nil:
			notified = notified || written
			delete(r.broken, about)
		case errors.As(err, new(*fault.KeyError)): // the schedule was removed meanwhile
		case fault.Find(err) == nil:
			return notified, err
		case r.broken[about].what != err.Error():
			r.broken[about] = delay{what: err.Error()}
			r.Warn(fmt.Sprintf("the notice about the schedule %s was not written: %s", name, notice.Explain(err)))
		}
	}
	return notified, nil
}

// addNotice writes a notice about a schedule.
func (f *firing) addNotice(ctx context.Context, slot time.Time, what string) error {
	n := notice.Of("schedule "+f.Name+": "+what, "", notice.Outcome{Script: f.Spec.Title(), Outcome: "late",
		Message: what, Schedule: f.Name, Slot: slot})
	return f.enqueue(ctx, f.tx, "the schedule "+f.Name, f.Spec.OnFailure, "", message{Notice: n})
}
