package schedule

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"transect/client/fault"
	"transect/client/suggest"
	"transect/runtime/jobs"
	"transect/runtime/unattended/cron"
)

// Schedule is a job and when it is submitted.
type Schedule struct {
	Name    string
	Expr    string // a cron expression
	Zone    string // in the IANA database
	CatchUp string // None, Last or All
	Overlap string // Skip, Queue or Cancel
	Jitter  time.Duration
	Paused  bool
	Spec    jobs.Spec
	Next    time.Time // the next slot; zero when there is none
	FireAt  time.Time // when it is fired, with its jitter
	Created time.Time
	Updated time.Time
}

// What is done with a slot whose schedule has a job that runs.
const (
	Skip   = "skip"   // it is left out
	Queue  = "queue"  // it waits
	Cancel = "cancel" // the running job is cancelled
)

// Rule is when the schedule is due.
func (s *Schedule) Rule() (*Rule, error) {
	r, err := parseRule(s.Name, s.Expr, s.Zone)
	if err != nil {
		return nil, err
	}
	r.Jitter, r.CatchUp = s.Jitter, s.CatchUp
	return r, nil
}

// check checks what a user gave, and sets the next slot after now.
func (s *Schedule) check(now time.Time) error {
	if err := cron.CheckName(s.Name); err != nil {
		return err
	}
	if err := s.Spec.Complete(); err != nil {
		return err
	}
	s.CatchUp, s.Overlap = cmp.Or(s.CatchUp, Last), cmp.Or(s.Overlap, Skip)
	r, err := s.Rule()
	if err != nil {
		return err
	}
	if err := r.SetJitter(s.Jitter, now); err != nil {
		return err
	}
	s.plan(r, now)
	return nil
}

// plan sets the next slot, the first after now.
func (s *Schedule) plan(r *Rule, now time.Time) {
	s.Next, s.FireAt = time.Time{}, time.Time{}
	if slots := r.Next(now, 1); len(slots) > 0 {
		s.Next, s.FireAt = slots[0], r.FireAt(slots[0])
	}
}

const columns = "name, cron, zone, spec, catch_up, overlap, jitter, paused, next_due, next_at, created_at, updated_at"

func scan(row interface{ Scan(...any) error }) (*Schedule, error) {
	s := &Schedule{}
	var spec string
	var jitter, due, at, created, updated int64
	if err := row.Scan(&s.Name, &s.Expr, &s.Zone, &spec, &s.CatchUp, &s.Overlap, &jitter, &s.Paused, &due, &at, &created, &updated); err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(spec), &s.Spec); err != nil {
		return nil, fmt.Errorf("the schedule %s: %w", s.Name, err)
	}
	s.Jitter, s.Next, s.FireAt = time.Duration(jitter)*time.Millisecond, jobs.FromMillis(due), jobs.FromMillis(at)
	s.Created, s.Updated = jobs.FromMillis(created), jobs.FromMillis(updated)
	return s, nil
}

// Add keeps a new schedule. One of the same name is a *fault.UsageError, unless it
// is to be replaced; its history stays.
func Add(ctx context.Context, store *jobs.Store, s *Schedule, replace bool) error {
	return store.Tx(ctx, func(tx *jobs.Tx) error {
		now, err := jobs.ReadTime(ctx, tx, store.Now())
		if err != nil {
			return err
		}
		if err := s.check(now); err != nil {
			return err
		}
		switch _, err := locked(ctx, store, tx, s.Name); {
		case err == nil && !replace:
			return fault.Hinted(fault.Of(&fault.UsageError{}, "the schedule %s exists already", s.Name), "change it with transect schedule edit %s, add --replace, or choose another name", s.Name)
		case err == nil:
			return put(ctx, store, tx, s)
		case fault.Find(err) == nil:
			return err
		}
		if _, err := tx.ExecContext(ctx, "insert into tr_schedule (name, cron, zone, spec, catch_up, overlap, next_at) values ($1, '', '', '', '', '', 0)", s.Name); err != nil {
			return err
		}
		return put(ctx, store, tx, s)
	})
}

// put writes the row of a schedule.
func put(ctx context.Context, store *jobs.Store, tx *jobs.Tx, s *Schedule) error {
	spec, err := json.Marshal(s.Spec)
	if err != nil {
		return err
	}
	late := int64(0)
	if s.Spec.OnFailure != "" {
		late = s.Spec.Late.Milliseconds()
	}
	_, err = tx.ExecContext(ctx, "update tr_schedule set cron = $2, zone = $3, spec = $4, catch_up = $5, overlap = $6, jitter = $7, paused = $8, next_due = $9, next_at = $10, late = $11, updated_at = "+
		store.Now()+" where name = $1", s.Name, s.Expr, s.Zone, string(spec), s.CatchUp, s.Overlap, s.Jitter.Milliseconds(), jobs.Bit(s.Paused), jobs.Millis(s.Next), jobs.Millis(s.FireAt), late)
	return err
}

// locked reads a schedule and keeps others from it until the transaction ends.
func locked(ctx context.Context, store *jobs.Store, tx *jobs.Tx, name string) (*Schedule, error) {
	return find(ctx, tx, name, store.Lock("for update"))
}

func find(ctx context.Context, tx *jobs.Tx, name, lock string) (*Schedule, error) {
	s, err := scan(tx.QueryRowContext(ctx, "select "+columns+" from tr_schedule where name = $1"+lock, name))
	if !errors.Is(err, sql.ErrNoRows) {
		return s, err
	}
	names, err := jobs.Column[string](ctx, tx, "select name from tr_schedule order by name")
	if err != nil {
		return nil, err
	}
	hint := "see: transect schedule list"
	if near := suggest.Nearest(name, names); near != "" {
		hint = "did you mean " + near + "?"
	} else if len(names) == 0 {
		hint = "there are none; transect schedule add adds one"
	}
	return nil, fault.Hinted(fault.Of(&fault.KeyError{}, "there is no schedule %s", name), "%s", hint)
}

// Get reads a schedule. An unknown name is a *fault.KeyError.
func Get(ctx context.Context, store *jobs.Store, name string) (s *Schedule, err error) {
	err = store.Tx(ctx, func(tx *jobs.Tx) error {
		s, err = find(ctx, tx, name, "")
		return err
	})
	return s, err
}

// Edit changes a schedule. Its next slot is computed anew when its expression or its
// zone have changed, or when it is no longer paused; a slot that waits for its jitter,
// or is overdue, is lost with no other change.
func Edit(ctx context.Context, store *jobs.Store, name string, change func(*Schedule) error) (s *Schedule, err error) {
	err = store.Tx(ctx, func(tx *jobs.Tx) error {
		if s, err = locked(ctx, store, tx, name); err != nil {
			return err
		}
		before := *s
		if err := change(s); err != nil {
			return err
		}
		now, err := jobs.ReadTime(ctx, tx, store.Now())
		if err != nil {
			return err
		}
		planned := *s
		if err := planned.check(now); err != nil {
			return err
		}
		switch {
		case s.Expr != before.Expr || s.Zone != before.Zone || before.Paused && !s.Paused:
			s = &planned
		case s.Jitter != before.Jitter && !s.Next.IsZero():
			rule, err := s.Rule()
			if err != nil {
				return err
			}
			s.FireAt = rule.FireAt(s.Next)
		}
		return put(ctx, store, tx, s)
	})
	return s, err
}

// Remove removes a schedule and its history. Its jobs stay.
func Remove(ctx context.Context, store *jobs.Store, name string) error {
	return store.Tx(ctx, func(tx *jobs.Tx) error {
		if _, err := locked(ctx, store, tx, name); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "delete from tr_fired where schedule = $1", name)
		if err == nil {
			_, err = tx.ExecContext(ctx, "delete from tr_schedule where name = $1", name)
		}
		return err
	})
}
