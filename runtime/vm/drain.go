package vm

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// drain is how a run is asked to end between two items rather than at once.
// Any goroutine may use it.
type drain struct {
	once  sync.Once
	asked chan struct{} // closed when the run shall end
	why   error
	live  atomic.Int64 // tasks under way, beside the main one
}

// Drain asks the run to end as soon as the items in hand are finished, with
// err as its outcome.
func (in *Interp) Drain(err error) {
	in.drain.once.Do(func() {
		in.drain.why = err
		close(in.drain.asked)
	})
}

// Draining says whether no further item shall be begun.
func (in *Interp) Draining() bool {
	select {
	case <-in.drain.asked:
		return true
	default:
		return false
	}
}

// Ending says whether a loop over items shall begin no further one: the run was
// asked to end, and the loop is that of the main task. What a spawned task
// loops over belongs to the item it has in hand, which it finishes.
func Ending(L *lua.LState) bool { return inMain(L) && Of(L).Draining() }

// Drained is closed when Ending becomes true; nil where it never does.
func Drained(L *lua.LState) <-chan struct{} {
	if !inMain(L) {
		return nil
	}
	return Of(L).drain.asked
}

func inMain(L *lua.LState) bool {
	c := clockOf(L)
	return c.task != nil && c.task.parent == nil
}

// taskEnd is how often the main task looks whether the others are done.
const taskEnd = 5 * time.Millisecond

// Checkpoint is a place between two items. When the run was asked to end it
// does not return: a task ends here, and the main task ends the run, once the
// tasks beside it have finished what they have in hand.
func Checkpoint(L *lua.LState) {
	c := clockOf(L)
	if !c.in.Draining() || c.task == nil {
		return
	}
	if c.task.parent != nil {
		c.task.cancel(c.in.drain.why)
		c.in.slice.end()
		Raise(L, stopped(c.task.ctx))
	}
	err := Blocking(L, func(ctx context.Context) error {
		for c.in.drain.live.Load() > 0 {
			select {
			case <-time.After(taskEnd):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	if err != nil {
		Raise(L, err)
	}
	Stop(L, c.in.drain.why)
}

// Stop ends the run with err as its outcome: no further Lua runs, whatever
// catches errors in between. It does not return.
func Stop(L *lua.LState, err error) {
	Of(L).Interrupt(err)
	Of(L).slice.end()
	L.RaiseError("the run ends here")
}
