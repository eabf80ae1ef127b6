package schedule

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"transect/client/wait"
	"transect/runtime/jobs"
	"transect/runtime/unattended/notice"
)

// Options are the settings of a worker that fires schedules.
type Options struct {
	Sender *notice.Sender
	Warn   func(string) // reports what went wrong, once
}

// interval is how often schedules are looked at.
const interval = time.Second

// runner fires schedules and sends notices.
type runner struct {
	Options
	store  *jobs.Store
	clock  string           // the time, in SQL
	broken map[string]delay // schedules that cannot be fired, by name

	refused map[int64]bool // notices that the policy leaves to other workers, as reported

	watchFrom time.Time // when jobs are looked after again
	pruneFrom time.Time
	sending   sync.WaitGroup
	senders   chan struct{} // one for each that may be added
}

// delay puts off what failed.
type delay struct {
	until time.Time
	what  string // was reported
}

// Run fires schedules and sends notices until ctx ends. It returns when the
// notices in hand are sent, or after five seconds. A database that does not answer
// is asked again.
func Run(ctx context.Context, store *jobs.Store, o Options) { newRunner(store, o, 0).run(ctx) }

// newRunner makes a runner whose clock is ahead of the database's.
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
		err := r.pass(ctx, sends)
		if text := fmt.Sprint(err); err != nil && ctx.Err() == nil && text != failing {
			failing = text
			r.Warn("schedules cannot be fired: " + notice.Explain(r.store.Explain(err)))
		}
		if err == nil && failing != "" {
			failing = ""
			r.Warn("schedules are fired again")
		}
		_ = wait.Sleep(ctx, interval*9/10+rand.N(interval/5)) // ends with ctx
	}
}

// pass does what is to be done now. Notices are sent in the background, with a
// context of their own.
func (r *runner) pass(ctx, sends context.Context) error {
	due, unsent, err := r.look(ctx)
	if err != nil {
		return err
	}
	for _, name := range due {
		if d, failed := r.broken[name]; failed && time.Now().Before(d.until) {
			continue
		}
		err := r.fire(ctx, name)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			delete(r.broken, name)
			continue
		}
		if what := err.Error(); r.broken[name].what != what {
			r.Warn(fmt.Sprintf("the schedule %s was not fired: %s", name, notice.Explain(err)))
		}
		r.broken[name] = delay{time.Now().Add(time.Minute / 2), err.Error()}
	}
	if now := time.Now(); !now.Before(r.watchFrom) {
		told, err := r.watch(ctx)
		if err != nil {
			return err
		}
		unsent = unsent || told
		r.watchFrom = now.Add(200 * time.Since(now)) // however many jobs are watched, little of a processor is used
	}
	if unsent {
		r.send(ctx, sends)
	}
	return r.prune(ctx)
}

// look asks, cheaply, for the schedules to be fired, and whether notices are to be
// sent.
func (r *runner) look(ctx context.Context) (due []string, unsent bool, err error) {
	due, err = jobs.Column[string](ctx, r.store.DB(), "select s.name from tr_schedule s where "+fmt.Sprintf(ready,
		r.clock)+
		" union all select '' where exists (select 1 from tr_notice where send_at <= "+r.clock+")")
	names := slices.DeleteFunc(due, func(name string) bool { return name == "" })
	return names, len(names) < len(due), err
}

// keep is how long the history of a schedule is kept.
const keep = 90 * 24 * time.Hour

// prune forgets old slots, once an hour.
func (r *runner) prune(ctx context.Context) error {
	if time.Now().Before(r.pruneFrom) {
		return nil
	}
	r.pruneFrom = time.Now().Add(time.Hour)
	_, err := r.store.DB().ExecContext(ctx,
		fmt.Sprintf("delete from tr_fired where state in ('ended', 'left out') and at < %s - %d", r.clock,
			keep.Milliseconds()))
	return err
}
