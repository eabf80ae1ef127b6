package luastd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/vm"
)

// openLoad makes load and its kin compile as scripts and modules do.
func (l *library) openLoad() {
	L := l.L
	L.SetGlobal("loadstring", L.NewFunction(func(L *lua.LState) int {
		return l.loaded(L, L.OptString(2, "string"), L.CheckString(1))
	}))
	L.SetGlobal("load", L.NewFunction(func(L *lua.LState) int {
		if code, ok := L.Get(1).(lua.LString); ok {
			return l.loaded(L, L.OptString(2, "string"), string(code))
		}
		code, err := l.pieces(L, L.CheckFunction(1))
		if err != nil {
			L.Push(lua.LNil)
			L.Push(lua.LString(err.Error()))
			return 2
		}
		return l.loaded(L, L.OptString(2, "load"), code)
	}))
	L.SetGlobal("loadfile", L.NewFunction(func(L *lua.LState) int {
		code, err := l.readCode(L, L.CheckString(1))
		if err != nil {
			if fault.Find(err) != nil {
				vm.Raise(L, err)
			}
			L.Push(lua.LNil)
			L.Push(lua.LString(err.Error()))
			return 2
		}
		return l.loaded(L, L.CheckString(1), string(code))
	}))
	L.SetGlobal("dofile", L.NewFunction(func(L *lua.LState) int {
		name := L.CheckString(1)
		code, err := l.readCode(L, name)
		if err != nil {
			raiseFile(L, fmt.Errorf("cannot open %w", err)) // a text, as in Lua 5.1
		}
		fn, err := l.in.Compile(L, name, code)
		if err != nil {
			vm.Raise(L, err)
		}
		L.SetTop(0)
		L.Push(fn)
		L.Call(0, lua.MultRet)
		return L.GetTop()
	}))
}

// readCode reads a file of code for the script.
func (l *library) readCode(L *lua.LState, path string) ([]byte, error) {
	s, err := l.openFile(L, path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer s.file.Close()
	s.most = l.in.MaxText()
	var code string
	err = vm.Blocking(L, func(context.Context) (err error) { code, err = s.all(1 << 62); return err })
	return []byte(code), named(err, path)
}

// loaded returns a function, or nil and what is wrong with the code.
func (l *library) loaded(L *lua.LState, name, code string) int {
	vm.Work(L, 200+len(code)) // compiling takes its time
	fn, err := l.in.Compile(L, name, []byte(code))
	if err != nil {
		L.Push(lua.LNil)
		L.Push(lua.LString(err.Error()))
		return 2
	}
	L.Push(fn)
	return 1
}

// pieces joins what a reader function gives until it gives nothing.
func (l *library) pieces(L *lua.LState, read *lua.LFunction) (string, error) {
	var b strings.Builder
	for {
		L.Push(read)
		L.Call(0, 1)
		piece := L.Get(-1)
		L.Pop(1)
		switch {
		case piece == lua.LNil:
			return b.String(), nil
		case !lua.LVCanConvToString(piece):
			return "", errors.New("reader function must return a string")
		case piece.String() == "":
			return b.String(), nil
		}
		b.WriteString(piece.String())
		if b.Len() > l.in.MaxText() {
			return "", l.tooLong("load", float64(b.Len()))
		}
	}
}
