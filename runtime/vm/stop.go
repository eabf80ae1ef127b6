package vm

import (
	"context"
	"sync/atomic"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// gracefulStop ends a run between two items. Safe for concurrent use.
type gracefulStop struct {
	requested context.Context // ends, with the reason, when the run is to
	request   context.CancelCauseFunc
	tasks     atomic.Int64 // spawned tasks that still run
}

// StopGracefully makes the run end, with err as its outcome, as soon as the
// items it works on are finished.
func (in *Interp) StopGracefully(err error) { in.stop.request(err) }

func (in *Interp) stopping() bool { return in.stop.requested.Err() != nil }

// Stopping reports whether a loop over items must begin no further one: the run
// is to stop, and the loop is the main task's. What a spawned task loops over
// belongs to the item it works on, which it finishes.
func Stopping(L *lua.LState) bool { return inMain(L) && Of(L).stopping() }

// StopRequested returns a channel that is closed when Stopping becomes true; nil where it never does.
func StopRequested(L *lua.LState) <-chan struct{} {
	if !inMain(L) {
		return nil
	}
	return Of(L).stop.requested.Done()
}

func inMain(L *lua.LState) bool {
	c := clockOf(L)
	return c.task != nil && c.task.parent == nil
}

// taskPoll is how often the main task checks whether the others are done.
const taskPoll = 5 * time.Millisecond

// Checkpoint is called between two items. When the run is to stop it does not
// return: a spawned task ends here, and the main task ends the run once the
// spawned ones have finished their items.
func Checkpoint(L *lua.LState) {
	c := clockOf(L)
	if !c.in.stopping() || c.task == nil {
		return
	}
	if c.task.parent != nil {
		c.task.cancel(context.Cause(c.in.stop.requested))
		c.end()
		Raise(L, stopped(c.task.ctx))
	}
	err := Blocking(L, func(ctx context.Context) error {
		for c.in.stop.tasks.Load() > 0 {
			select {
			case <-time.After(taskPoll):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	if err != nil {
		Raise(L, err)
	}
	Stop(L, context.Cause(c.in.stop.requested))
}

// Stop ends the run with err as its outcome. No further Lua runs, whatever
// catches errors in between. It does not return.
func Stop(L *lua.LState, err error) {
	Of(L).Interrupt(err)
	clockOf(L).end()
	L.RaiseError("the run ends here")
}
