package schedule

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"transect/client/wait"
	"transect/runtime/jobs"
	"transect/runtime/unattended/notice"
)

// Options are the settings of a worker that fires schedules.
type Options struct {
	Sender *notice.Sender
	Warn   func(string) // reports each problem once
}

// interval is the polling interval for changed schedules, ended jobs and notices; slots are fired in time.
const interval = 5 * time.Second

// runner fires schedules and sends notices.
type runner struct {
	Options
	store  *jobs.Store
	clock  string           // the time, in SQL
	broken map[string]delay // schedules that fail to fire, by name

	refused map[int64]bool // notices that this worker's policy refuses, once reported

	watchFrom time.Time // when jobs are checked next
	pruneFrom time.Time
	sending   sync.WaitGroup
	senders   chan struct{} // limits concurrent sends
}

// delay postpones retrying something that failed.
type delay struct {
	until time.Time
	what  string // the reported problem
}

// Run fires schedules and sends notices until ctx ends. It returns when notices in progress are sent, or
// after five seconds. It retries when the database does not answer.
func Run(ctx context.Context, store *jobs.Store, o Options) { newRunner(store, o, 0).run(ctx) }

// newRunner returns a runner whose clock is ahead of the database's.
func newRunner(store *jobs.Store, o Options, ahead time.Duration) *runner {
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	return &runner{Options: o, store: store, clock: fmt.Sprintf("(%s + %d)", store.Now, ahead.Milliseconds()),
		broken: map[string]delay{}, refused: map[int64]bool{}, senders: make(chan struct{}, 4)}
}

func (r *runner) run(ctx context.Context) {
	sends, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	context.AfterFunc(ctx, func() { time.AfterFunc(5*time.Second, stop) })
	defer r.sending.Wait()
	failing := ""
	for ctx.Err() == nil {
		next, err := r.pass(ctx, sends)
		if text := fmt.Sprint(err); err != nil && ctx.Err() == nil && text != failing {
			failing = text
			r.Warn("schedules cannot be fired: " + notice.Explain(r.store.Explain(err)))
		}
		if err == nil && failing != "" {
			failing = ""
			r.Warn("schedules are fired again")
		}
		_ = wait.Sleep(ctx, min(interval*9/10+rand.N(interval/5), max(next, interval/50))) // ends with ctx
	}
}

// pass handles what is due now, and returns how long until the next slot. Notices are sent in the background, with
// their own context.
func (r *runner) pass(ctx, sends context.Context) (next time.Duration, err error) {
	var due, blocked []string
	var unsent bool
	var watched []int64
	began := time.Now()
	err = r.store.Read(ctx, func(q jobs.Querier) error {
		if due, unsent, next, err = r.poll(ctx, q); err != nil || began.Before(r.watchFrom) {
			return err
		}
		watched, blocked, err = r.toNotify(ctx, q)
		return err
	})
	if err != nil {
		return interval, err
	}
	for _, name := range due {
		if d, failed := r.broken[name]; failed && time.Now().Before(d.until) {
			continue
		}
		err := r.fire(ctx, name)
		if ctx.Err() != nil {
			return interval, ctx.Err()
		}
		if err == nil {
			delete(r.broken, name)
			next = 0 // for the slots after it
			continue
		}
		if what := err.Error(); r.broken[name].what != what {
			r.Warn(fmt.Sprintf("the schedule %s was not fired: %s", name, notice.Explain(err)))
		}
		r.broken[name] = delay{time.Now().Add(30 * time.Second), err.Error()}
	}
	if len(watched)+len(blocked) > 0 {
		notified, err := r.watch(ctx, watched, blocked)
		if err != nil {
			return interval, err
		}
		unsent = unsent || notified
	}
	if !began.Before(r.watchFrom) {
		r.watchFrom = time.Now().Add(200 * time.Since(began)) // limits the load, however many jobs are watched
	}
	if unsent {
		r.send(ctx, sends)
	}
	return next, r.prune(ctx)
}

// poll returns the schedules to fire, whether there are notices to send, and how long until the next slot, with one
// cheap query.
func (r *runner) poll(ctx context.Context, q jobs.Querier) (due []string, unsent bool, next time.Duration, err error) {
	next = interval
	_, err = jobs.Collect(ctx, q, func(rows *sql.Rows) (name string, err error) {
		var ms int64
		err = rows.Scan(&name, &ms)
		switch {
		case name != "":
			due = append(due, name)
		case ms > 0:
			next = time.Duration(ms) * time.Millisecond
		default:
			unsent = true
		}
		return name, err
	}, "select s.name, 0 from tr_schedule s where "+fmt.Sprintf(ready, r.clock)+
		" union all select '', 0 where exists (select 1 from tr_notice where send_at <= "+r.clock+")"+
		" union all select '', min(next_at) - "+r.clock+" from tr_schedule where paused = 0 and next_at > "+r.clock+
		" having count(*) > 0")
	return due, unsent, next, err
}

// keep is the retention of a schedule's history.
const keep = 90 * 24 * time.Hour

// prune removes old slots, once an hour.
func (r *runner) prune(ctx context.Context) error {
	if time.Now().Before(r.pruneFrom) {
		return nil
	}
	_, err := r.store.DB().ExecContext(ctx,
		fmt.Sprintf("delete from tr_fired where state in ('ended', 'left out') and at < %s - %d", r.clock,
			keep.Milliseconds()))
	if err == nil {
		r.pruneFrom = time.Now().Add(time.Hour)
	}
	return err
}
