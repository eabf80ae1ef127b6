package vm

import lua "github.com/yuin/gopher-lua"

const (
	maxFrames  = 20_000  // Lua calls in the main thread and the threads of its protected calls
	manyFrames = 4096    // in others, which may be many
	maxValues  = 1 << 20 // stack slots in one thread
	maxNesting = 190     // protected calls and coroutines inside one another
	maxIdle    = 64      // threads kept for reuse
	maxDeep    = 4       // threads of protected calls that have their whole stack of calls from the start
)

// deep is a thread that has its stack of calls from the start, which is faster.
var deep = lua.Options{
	CallStackSize:    maxFrames,
	RegistrySize:     4096,
	RegistryMaxSize:  maxValues,
	RegistryGrowStep: 1024,
}

// shallow is a thread whose stacks grow: there may be many.
var shallow = lua.Options{
	CallStackSize:       manyFrames,
	RegistrySize:        128,
	RegistryMaxSize:     maxValues,
	RegistryGrowStep:    1024,
	MinimizeStackMemory: true,
}

// newMainThread makes a thread with the libraries of gopher-lua, those that package luastd replaces as a whole empty.
func newMainThread(small bool) *lua.LState {
	options := map[bool]lua.Options{false: deep, true: shallow}[small]
	options.SkipOpenLibs = true
	L := lua.NewState(options)
	L.Options = shallow // further threads copy these
	for _, open := range []lua.LGFunction{lua.OpenPackage, lua.OpenBase, lua.OpenTable, lua.OpenString, lua.OpenMath,
		lua.OpenDebug, lua.OpenCoroutine} {
		L.Push(L.NewFunction(open))
		L.Call(0, 0)
	}
	L.RegisterModule(lua.IoLibName, nil)
	L.RegisterModule(lua.OsLibName, nil)
	return L
}

// bare runs f while L has no context. Threads made meanwhile get none either,
// which spares wrapping (and leaking) one; the caller sets it.
func bare(L *lua.LState, f func()) {
	ctx := L.RemoveContext()
	defer L.SetContext(ctx)
	f()
}

// newGuard makes a thread for a protected call, or for a task.
func (in *Interp) newGuard(whole bool) *guard {
	g := &guard{in: in, deep: whole}
	g.raised = g.raise
	if whole {
		in.deep++
		in.main.Options = deep
		in.main.Options.RegistrySize = 256
	}
	bare(in.main, func() { g.th, _ = in.main.NewThread() })
	in.main.Options, g.th.Options = shallow, shallow
	return g
}
