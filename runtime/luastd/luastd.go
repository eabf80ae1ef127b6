// Package luastd implements Lua's own libraries under the interpreter's limits.
//
// gopher-lua's versions of string, table, io, os, load and require do not support tasks, cancellation, the
// sandbox or the interpreter's streams, and differ from Lua 5.1 in places. This package replaces those
// functions: long work counts as instructions, waiting releases the interpreter lock, files and programs go
// through the sandbox.
//
// New returns an interpreter with everything in place. It builds on package vm (lock, tasks, protected calls,
// coroutines) and package sandbox. Begin reading at New; each library is one file.
package luastd

import (
	"context"
	"io"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/sandbox"
	"transect/runtime/vm"
)

// New returns an interpreter with Lua's standard libraries. Cancelling ctx ends its runs; Close must be
// called.
func New(ctx context.Context, opt vm.Options) *vm.Interp {
	in := vm.New(ctx, opt)
	in.Locked(func(L *lua.LState) {
		l := &library{Interp: in, loading: map[string]*loading{}, builtins: map[string]lua.LValue{},
			proxies: map[lua.LValue]bool{}, chunks: map[string]string{}}
		l.openBase(L)
		l.openString(L)
		l.openTable(L)
		openMath(L)
		l.openOS(L)
		l.openDebug(L)
		l.openIO(L)
		l.openPackage(L)
		l.removeUnsafe(L)
	})
	return in
}

// library is the standard library of one interpreter.
type library struct {
	*vm.Interp

	fileMeta      *lua.LTable    // metatable of files
	input, output *lua.LUserData // used by io.read and io.write
	stdin         *file
	ofTexts       lua.LValue // metatable of the table string

	folders  []string // folders of modules that are part of the script: canonical paths
	loading  map[string]*loading
	builtins map[string]lua.LValue // built-in modules that were loaded

	toString lua.LValue          // the function tostring
	chunks   map[string]string   // full names of chunks, by their names in messages
	proxies  map[lua.LValue]bool // metatables made by newproxy
	warned   bool                // that print shows a table as its address
}

// set replaces functions of a global table.
func set(L *lua.LState, table string, functions map[string]lua.LGFunction) {
	L.SetFuncs(L.GetGlobal(table).(*lua.LTable), functions)
}

// check raises an error if a function is about to build a text of an excessive length.
func (l *library) check(L *lua.LState, function string, length float64) {
	if length > float64(l.MaxText()) {
		err := sandbox.TooLong(function, length, l.MaxText())
		vm.RaiseAsText(L, err.Error(), err)
	}
}

// text is a text under construction. It raises when a limit is exceeded.
type text struct {
	*vm.Text
	L *lua.LState
}

func (l *library) text(L *lua.LState, function string) *text { return &text{l.NewText(function), L} }

func (t *text) write(piece string) {
	vm.Grow(t.L, len(piece))
	if _, err := t.WriteString(piece); err != nil {
		vm.RaiseAsText(t.L, err.Error(), err)
	}
}

// removeUnsafe removes what is not part of Lua 5.1, a debugging aid. A restricted script also loses the functions
// of debug that reach into other functions.
func (l *library) removeUnsafe(L *lua.LState) {
	remove := func(table lua.LValue, names ...string) {
		for _, name := range names {
			table.(*lua.LTable).RawSetString(name, lua.LNil)
		}
	}
	remove(L.G.Global, "_printregs")
	if l.Restricted() {
		remove(L.GetGlobal("debug"),
			"getfenv", "setfenv", "getlocal", "setlocal", "getmetatable", "setmetatable", "getupvalue", "setupvalue")
	}
}

// emit writes a text in pieces, since writing copies it.
func emit(w io.Writer, text string) error {
	for {
		n := min(len(text), 1<<20)
		if _, err := io.WriteString(w, text[:n]); err != nil || n == len(text) {
			return err
		}
		text = text[n:]
	}
}
