package schedule

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"time"

	"transect/runtime/jobs"
)

// Fired is a slot and its outcome.
type Fired struct {
	Schedule string
	Due      time.Time
	Last     time.Time // of several missed ones
	Slots    int       // 1, unless several were missed
	At       time.Time // when its job was submitted, or it was skipped
	How      string    // slot, caught up, run, backfill; missed, skipped, replaced
	State    string    // waiting, active, ended, left out
	Job      int64     // 0 for none
	Outcome  string    // the state of its job; "" without one
	ExitCode *int
	Started  time.Time
	Ended    time.Time
}

const firedColumns = `select f.schedule, f.due_at, f.last_at, f.slots, f.at, f.how, f.state, coalesce(f.job_id, 0),
	case when f.outcome <> '' then f.outcome when j.id is null then '' else ` + jobs.StateSQL +
	` end, t.exit_code, coalesce(t.started_at, 0), coalesce(t.ended_at, 0)
	from tr_fired f left join river_job j on j.id = f.job_id left join tr_job t on t.job_id = f.job_id`

func fired(ctx context.Context, store *jobs.Store, tail string, args ...any) ([]*Fired, error) {
	return jobs.Collect(ctx, store.DB(), func(rows *sql.Rows) (*Fired, error) {
		f := &Fired{}
		var due, last, at, started, ended int64
		err := rows.Scan(&f.Schedule, &due, &last, &f.Slots, &at, &f.How, &f.State, &f.Job, &f.Outcome, &f.ExitCode,
			&started, &ended)
		f.Due, f.Last, f.At = jobs.FromMillis(due), jobs.FromMillis(last), jobs.FromMillis(at)
		f.Started, f.Ended = jobs.FromMillis(started), jobs.FromMillis(ended)
		return f, err
	}, firedColumns+tail, args...)
}

// History lists the newest slots of a schedule, newest first; all for the limit 0. For an unknown name it
// returns a *fault.KeyError.
func History(ctx context.Context, store *jobs.Store, name string, limit int) ([]*Fired, error) {
	if _, err := Get(ctx, store, name); err != nil {
		return nil, err
	}
	if limit == 0 {
		limit = math.MaxInt32
	}
	return fired(ctx, store, " where f.schedule = $1 order by f.due_at desc limit $2", name, limit)
}

// Became describes the outcome of the slot.
func (f *Fired) Became() string {
	switch {
	case f.How == "missed" && f.Slots > 1:
		return fmt.Sprintf("missed, %d slots", f.Slots)
	case f.State == "left out":
		return f.How
	case f.Job == 0:
		return "waits for the job before"
	}
	return cmp.Or(f.Outcome, f.State)
}

// Took returns how long its job took; 0 if it has not ended.
func (f *Fired) Took() time.Duration {
	if f.Started.IsZero() {
		return 0
	}
	return max(f.Ended.Sub(f.Started), 0)
}

// Listed is a schedule with its newest slot.
type Listed struct {
	*Schedule
	Last    *Fired // nil when it has none
	Waiting int    // number of waiting slots
	Overdue bool   // its next slot has passed, and no worker fired it
}

// List lists the schedules by name, and counts the live workers, which fire them.
func List(ctx context.Context, store *jobs.Store) (list []*Listed, workers int, err error) {
	var now int64
	if err := store.DB().QueryRowContext(ctx,
		"select "+store.Now+", (select count(*) from tr_worker where dead_at is null and lease_until "+
			"> "+store.Now+")").Scan(&now, &workers); err != nil {
		return nil, 0, store.Explain(err)
	}
	list, err = jobs.Collect(ctx, store.DB(), func(rows *sql.Rows) (l *Listed, err error) {
		l = &Listed{}
		l.Schedule, err = scan(countScanner{rows, &l.Waiting})
		return l, err
	}, "select "+columns+", (select count(*) from tr_fired f where f.schedule = s.name and f.state = "+
		"'waiting') from tr_schedule s order by name")
	if err != nil {
		return nil, 0, err
	}
	byName := map[string]*Listed{}
	for _, l := range list {
		l.Overdue = !l.Paused && !l.Next.IsZero() && now-l.Next.UnixMilli() > time.Minute.Milliseconds()
		byName[l.Name] = l
	}
	newest, err := fired(ctx, store,
		" join (select schedule, max(due_at) as due_at from tr_fired where how <> 'backfill' group by schedule) n on "+
			"n.schedule = f.schedule and n.due_at = f.due_at")
	for _, f := range newest {
		if l := byName[f.Schedule]; l != nil {
			l.Last = f
		}
	}
	return list, workers, err
}

// countScanner scans one more column.
type countScanner struct {
	*sql.Rows
	n *int
}

func (c countScanner) Scan(to ...any) error { return c.Rows.Scan(append(to, c.n)...) }
