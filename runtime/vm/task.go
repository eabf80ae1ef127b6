package vm

import (
	"context"
	"math/rand/v2"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
)

// Task is a concurrent piece of a run: a Lua call on a thread and a goroutine
// of its own. The lock guards its fields.
type Task struct {
	in      *Interp
	ctx     context.Context
	cancel  context.CancelCauseFunc
	parent  *Scope
	own     *Scope // the tasks it spawned, nil until the first
	done    chan struct{}
	nesting int // protected calls and coroutines it is inside of
	calls   calls
	track   Track       // nil without an observer
	base    *lua.LState // that its function was called on
	thread  *lua.LState // that it ran last, while others run
	scope   *Scope      // that it was in then
	waits   string      // what for, while it does

	path    uint64 // identifies the task in its script, the same in each start
	spawned uint64
	random  *rand.Rand

	values   []lua.LValue
	failure  *Caught
	waiting  int  // how many wait for it
	observed bool // its failure was awaited
}

// spawnWork is how many instructions a task counts as: it has a thread and a
// goroutine of its own.
const spawnWork = 200

// Spawn starts fn(args…) as a task of the scope L runs in.
func Spawn(L *lua.LState, fn *lua.LFunction, args ...lua.LValue) *Task {
	c := clockOf(L)
	Work(L, spawnWork)
	s := c.current()
	t := &Task{in: c.in, parent: s, done: make(chan struct{})}
	if c.task != nil {
		c.task.spawned++
		t.path = mix(c.task.path, c.task.spawned)
	}
	t.ctx, t.cancel = context.WithCancelCause(s.ctx)
	t.observe(fn)
	s.live[t] = struct{}{}
	g := c.in.guard(false)
	t.base = g.th
	g.Context, g.clock, g.owner, g.traced = t.ctx, &clock{Context: t.ctx, in: c.in, task: t}, nil, true
	c.in.tasks.Add(1)
	c.in.stop.tasks.Add(1)
	go t.run(g, fn, args)
	return t
}

func (t *Task) run(g *guard, fn *lua.LFunction, args []lua.LValue) {
	defer t.in.tasks.Done()
	defer t.in.stop.tasks.Add(-1)
	defer close(t.done)
	t.in.acquire()
	defer t.in.release()
	defer t.begins()()
	if t.ctx.Err() == nil {
		t.values, t.failure = g.values(fn, args)
		t.failure = t.own.join(t.failure)
	}
	t.finish()
	t.in.keep(g)
	t.calls.free(t.in)
}

func (t *Task) finish() {
	cut := t.ctx.Err() != nil && (t.failure != nil || t.values == nil)
	if cut {
		t.failure = &Caught{Value: t.in.newError(stopped(t.ctx), nil)}
	}
	t.cancel(nil)
	delete(t.parent.live, t)
	if t.failure == nil || cut {
		return
	}
	if t.waiting > 0 {
		t.observed = true
		return
	}
	t.parent.failed(t)
}

// Cancel stops the task; tasks that await it get a CancelledError. Only for
// code called from Lua.
func (t *Task) Cancel() {
	defer t.in.current.end() // a task may cancel itself
	t.cancel(fault.Of(&fault.CancelledError{}, "the task was cancelled"))
}

// Done returns a channel that is closed when the task and the tasks it spawned are over.
func (t *Task) Done() <-chan struct{} { return t.done }

// Status returns "running", "finished", "failed" or "cancelled". Only for code
// called from Lua.
func (t *Task) Status() string {
	select {
	case <-t.done:
	default:
		if _, live := t.parent.live[t]; live {
			return "running"
		}
	}
	if t.failure == nil {
		return "finished"
	}
	if _, ok := ErrorOf(t.failure.Value).(*fault.CancelledError); ok {
		return "cancelled"
	}
	return "failed"
}

// Await waits for the task without the lock. It returns its values, or raises
// what the task raised, with the task's own line.
func (t *Task) Await(L *lua.LState) []lua.LValue {
	if clockOf(L).task == t {
		Raise(L, fault.Of(&fault.RuntimeError{}, "a task cannot wait for itself"))
	}
	t.waiting++
	_, err := WaitFor(L, Waiting{"task.await", ForTasks}, t.done)
	t.waiting--
	if err != nil {
		Raise(L, err)
	}
	t.observed = true
	if t.failure != nil {
		t.failure.Reraise(L)
	}
	return t.values
}

// Race waits for the first of tasks to be over and returns its index in the
// list, from 0.
func Race(L *lua.LState, tasks []*Task) (int, error) {
	first := make(chan int, len(tasks))
	for i, t := range tasks {
		t.waiting++
		go func() {
			<-t.done
			first <- i
		}()
	}
	winner, err := WaitFor(L, Waiting{"task.race", ForTasks}, first)
	for _, t := range tasks {
		t.waiting--
	}
	return winner, err
}

// CurrentTask returns the task that runs L, nil outside of runs.
func CurrentTask(L *lua.LState) *Task { return clockOf(L).task }

// TaskPath returns a number that identifies the task that runs L, the same in
// each start of a script.
func TaskPath(L *lua.LState) uint64 {
	if t := CurrentTask(L); t != nil {
		return t.path
	}
	return 0
}
