package vm

import lua "github.com/yuin/gopher-lua"

const (
	maxFrames  = 4096    // Lua calls in one thread
	maxValues  = 1 << 20 // stack slots in one thread
	maxNesting = 160     // protected calls and coroutines inside one another
	maxIdle    = 64      // threads kept for reuse
)

func newMainThread() *lua.LState {
	L := lua.NewState(lua.Options{
		CallStackSize:    maxFrames,
		RegistrySize:     4096,
		RegistryMaxSize:  maxValues,
		RegistryGrowStep: 1024,
	})
	// Further threads copy these: they are many, so they start small.
	L.Options.MinimizeStackMemory = true
	L.Options.RegistrySize = 128
	return L
}

// bare runs f while L has no context. Threads made meanwhile get none either,
// which spares wrapping (and leaking) one; the caller sets it.
func bare(L *lua.LState, f func()) {
	ctx := L.RemoveContext()
	defer L.SetContext(ctx)
	f()
}

// thread takes an idle thread, or makes one, and puts it under the clock.
func (in *Interp) thread(c *clock) *lua.LState {
	var th *lua.LState
	if n := len(in.idle); n > 0 {
		th, in.idle = in.idle[n-1], in.idle[:n-1]
	} else {
		bare(in.main, func() { th, _ = in.main.NewThread() })
	}
	th.SetContext(c)
	return th
}

func (in *Interp) keep(th *lua.LState) {
	th.SetTop(0)
	if len(in.idle) < maxIdle && !th.Dead {
		in.idle = append(in.idle, th)
	}
}
