package schedule

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"transect/client/fault"
	"transect/client/suggest"
	"transect/runtime/jobs"
	"transect/runtime/jobs/setting"
	"transect/runtime/timetable"
)

// Schedule is a job with its times of submission.
type Schedule struct {
	Name string
	timetable.Rule
	Paused  bool
	Spec    jobs.Spec
	Next    time.Time // the next slot; zero when there is none
	Created time.Time
	Updated time.Time
}

// Settings returns the settings of the rule and of the job.
func (s *Schedule) Settings() []*setting.Setting {
	return append(setting.Of(&s.Rule), s.Spec.List()...)
}

// Times returns the slots of the schedule.
func (s *Schedule) Times() (*timetable.Times, error) {
	times, err := s.Rule.Times()
	switch {
	case err != nil:
		return nil, err
	case times.Reboot:
		return nil, fault.Hinted(fault.Of(&fault.UsageError{},
			"@reboot is not possible in a schedule, which belongs to no machine"),
			"start the script with the machine's own service manager, or use transect cron")
	case times.Zone == nil:
		_, err = timetable.Zone("")
	}
	return times, err
}

// check validates a user's input, and sets the next slot after now.
func (s *Schedule) check(now time.Time) error {
	if err := timetable.CheckName(s.Name); err != nil {
		return err
	}
	if err := s.Spec.Complete(); err != nil {
		return err
	}
	s.CatchUp, s.Overlap = cmp.Or(s.CatchUp, timetable.Last), cmp.Or(s.Overlap, timetable.Skip)
	times, err := s.Times()
	if err != nil {
		return err
	}
	s.Next = time.Time{}
	if slots := times.Next(now, 1); len(slots) > 0 {
		s.Next = slots[0]
	}
	return nil
}

// columns lists the columns of tr_schedule s.
const columns = "name, cron, zone, spec, catch_up, overlap, paused, next_at, created_at, updated_at, submitter, " +
	"(select on_failure from tr_target where job_id = 0 and schedule = s.name), " +
	"(select ping from tr_target where job_id = 0 and schedule = s.name)"

func scan(row interface{ Scan(...any) error }) (*Schedule, error) {
	s := &Schedule{}
	var spec, submitter string
	var onFailure, ping sql.NullString
	var next, created, updated int64
	if err := row.Scan(&s.Name, &s.Expr, &s.Zone, &spec, &s.CatchUp, &s.Overlap, &s.Paused, &next, &created,
		&updated, &submitter, &onFailure, &ping); err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(spec), &s.Spec); err != nil {
		return nil, fmt.Errorf("the schedule %s: %w", s.Name, err)
	}
	s.Spec.SetTargets(onFailure, ping)
	s.Spec.Submitter = submitter
	s.Next, s.Created, s.Updated = jobs.FromMillis(next), jobs.FromMillis(created), jobs.FromMillis(updated)
	return s, nil
}

// Add stores a new schedule. If the name exists it returns a *fault.UsageError, unless replace is set; the
// history stays.
func Add(ctx context.Context, store *jobs.Store, s *Schedule, replace bool) error {
	return store.Tx(ctx, func(tx *jobs.Tx) error {
		now, err := jobs.ReadTime(ctx, tx, store.Now)
		if err != nil {
			return err
		}
		if err := s.check(now); err != nil {
			return err
		}
		switch _, err := locked(ctx, store, tx, s.Name); {
		case err == nil && !replace:
			return fault.Hinted(fault.Of(&fault.UsageError{}, "the schedule %s exists already", s.Name),
				"change it with transect schedule edit %s, add --replace, or choose another name", s.Name)
		case err == nil:
			return put(ctx, store, tx, s)
		case !errors.As(err, new(*fault.KeyError)):
			return err
		}
		if _, err := tx.ExecContext(ctx,
			"insert into tr_schedule (name, cron, zone, spec, catch_up, overlap, next_at) values ($1, '', '', '', '', '', 0)",
			s.Name); err != nil {
			return err
		}
		return put(ctx, store, tx, s)
	})
}

// put writes the row of a schedule.
func put(ctx context.Context, store *jobs.Store, tx *jobs.Tx, s *Schedule) error {
	spec, err := json.Marshal(s.Spec.Public())
	if err != nil {
		return err
	}
	late := int64(0)
	if s.Spec.OnFailure != "" {
		late = s.Spec.Late.Milliseconds()
	}
	_, err = tx.ExecContext(ctx, "update tr_schedule set cron = $2, zone = $3, spec = $4, catch_up = $5, overlap = $6, "+
		"paused = $7, next_at = $8, late = $9, updated_at = "+
		store.Now+" where name = $1", s.Name, s.Expr, s.Zone, string(spec), s.CatchUp, s.Overlap, jobs.Bit(s.Paused),
		jobs.Millis(s.Next), late)
	if err == nil {
		err = store.PutTargetsTx(ctx, tx, 0, s.Name, s.Spec)
	}
	return err
}

// locked reads a schedule and locks it until the transaction ends.
func locked(ctx context.Context, store *jobs.Store, tx *jobs.Tx, name string) (*Schedule, error) {
	return find(ctx, tx, name, store.Lock("for update"))
}

func find(ctx context.Context, tx *jobs.Tx, name, lock string) (*Schedule, error) {
	if jobs.Storable(name) {
		s, err := scan(tx.QueryRowContext(ctx, "select "+columns+" from tr_schedule s where name = $1"+lock, name))
		if !errors.Is(err, sql.ErrNoRows) {
			return s, err
		}
	}
	names, err := jobs.Column[string](ctx, tx, "select name from tr_schedule order by name")
	if err != nil {
		return nil, err
	}
	if slices.Contains(names, name) { // it is visible but cannot be locked
		other, err := find(ctx, tx, name, "")
		if err != nil {
			return nil, err
		}
		return nil, jobs.NotYours("the schedule "+name, other.Spec.Submitter)
	}
	hint := "see: transect schedule list"
	if near := suggest.Nearest(name, names); near != "" {
		hint = "did you mean " + near + "?"
	} else if len(names) == 0 {
		hint = "there are none; transect schedule add adds one"
	}
	return nil, fault.Hinted(fault.Of(&fault.KeyError{}, "there is no schedule %s", name), "%s", hint)
}

// Get reads a schedule. For an unknown name it returns a *fault.KeyError.
func Get(ctx context.Context, store *jobs.Store, name string) (s *Schedule, err error) {
	err = store.Tx(ctx, func(tx *jobs.Tx) error {
		s, err = find(ctx, tx, name, "")
		return err
	})
	return s, err
}

// Edit changes a schedule. It recomputes the next slot when the expression or the zone changed, or when the
// schedule is resumed; other changes do not lose an overdue slot.
func Edit(ctx context.Context, store *jobs.Store, name string, change func(*Schedule) error) (s *Schedule, err error) {
	err = store.Tx(ctx, func(tx *jobs.Tx) error {
		if s, err = locked(ctx, store, tx, name); err != nil {
			return err
		}
		before := *s
		if err := change(s); err != nil {
			return err
		}
		now, err := jobs.ReadTime(ctx, tx, store.Now)
		if err != nil {
			return err
		}
		planned := *s
		if err := planned.check(now); err != nil {
			return err
		}
		if s.Expr != before.Expr || s.Zone != before.Zone || before.Paused && !s.Paused {
			s = &planned
		}
		return put(ctx, store, tx, s)
	})
	return s, err
}

// Remove deletes a schedule and its history. Its jobs stay.
func Remove(ctx context.Context, store *jobs.Store, name string) error {
	return store.Tx(ctx, func(tx *jobs.Tx) error {
		if _, err := locked(ctx, store, tx, name); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "delete from tr_fired where schedule = $1", name)
		if err == nil {
			_, err = tx.ExecContext(ctx, "delete from tr_target where job_id = 0 and schedule = $1", name)
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, "delete from tr_schedule where name = $1", name)
		}
		return err
	})
}
