// Package luastd holds Lua's own libraries under the interpreter's limits.
//
// gopher-lua's versions of string, table, io, os, load and require know nothing
// of tasks, cancellation, the sandbox or the interpreter's streams, and differ
// from Lua 5.1 in places. This package replaces those functions: long work
// counts as instructions, waiting releases the interpreter lock, files and
// programs go through the sandbox.
//
// New makes an interpreter with everything in place. Below this package are
// package vm (lock, tasks, protected calls, coroutines) and package sandbox.
// Begin reading at New; each library is one file.
package luastd

import (
	"context"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/vm"
)

// New makes an interpreter with Lua's standard libraries. Cancelling ctx ends
// its runs; Close must be called.
func New(ctx context.Context, opt vm.Options) *vm.Interp {
	in := vm.New(ctx, opt)
	in.Locked(func(L *lua.LState) {
		l := &library{in: in, L: L, loading: map[string]*loading{}}
		l.openBase()
		l.openLoad()
		l.openString()
		l.openTable()
		l.openOS()
		l.openIO()
		l.openRequire()
		l.openDebug()
	})
	return in
}

// library is the standard library of one interpreter.
type library struct {
	in *vm.Interp
	L  *lua.LState // the main thread, for opening the libraries

	// io
	file          *lua.LTable // metatable of files
	input, output *lua.LUserData

	// require
	folders []string // where modules are part of the script: true paths
	loading map[string]*loading
}

// set replaces functions of a global table.
func (l *library) set(table string, functions map[string]lua.LGFunction) {
	l.L.SetFuncs(l.L.GetGlobal(table).(*lua.LTable), functions)
}
