package luastd

import (
	"errors"
	"fmt"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/vm"
)

// load, loadstring, loadfile and dofile compile as scripts and modules do.

func (l *library) loadString(L *lua.LState) int {
	return l.compile(L, L.OptString(2, "string"), L.CheckString(1))
}

func (l *library) load(L *lua.LState) int {
	if code, ok := L.Get(1).(lua.LString); ok {
		return l.compile(L, L.OptString(2, "string"), string(code))
	}
	code, err := l.readPieces(L, L.CheckFunction(1))
	if err != nil {
		return vm.Push(L, []lua.LValue{lua.LNil, lua.LString(err.Error())})
	}
	return l.compile(L, L.OptString(2, "load"), code)
}

func (l *library) loadFile(L *lua.LState) int {
	code, err := l.readCode(L, L.CheckString(1))
	if fault.Find(err) != nil {
		vm.Raise(L, err)
	}
	if err != nil {
		return vm.Push(L, []lua.LValue{lua.LNil, lua.LString(err.Error())})
	}
	return l.compile(L, L.CheckString(1), string(code))
}

func (l *library) doFile(L *lua.LState) int {
	name := L.CheckString(1)
	code, err := l.readCode(L, name)
	if err != nil {
		raiseFile(L, fmt.Errorf("cannot open %w", err)) // a string, as in Lua 5.1
	}
	fn, err := l.Compile(L, name, code)
	if err != nil {
		vm.Raise(L, err)
	}
	L.SetTop(0)
	L.Push(fn)
	L.Call(0, lua.MultRet)
	return L.GetTop()
}

// readCode reads a source file for the script.
func (l *library) readCode(L *lua.LState, path string) ([]byte, error) {
	code, err := background(L, func() ([]byte, error) { return l.ReadFile(l.Path(path)) })
	return code, luaFileError(err, path)
}

// compiledSize is how much memory the syntax tree of code takes about, per byte.
const compiledSize = 16

// compile returns a function, or nil and the syntax error.
func (l *library) compile(L *lua.LState, name, code string) int {
	vm.Grow(L, compiledSize*len(code))
	vm.Work(L, 200+len(code))
	fn, err := l.Compile(L, name, []byte(code))
	if err != nil {
		return vm.Push(L, []lua.LValue{lua.LNil, lua.LString(err.Error())})
	}
	L.Push(fn)
	return 1
}

// readPieces joins what a reader function returns until it returns nothing.
func (l *library) readPieces(L *lua.LState, read *lua.LFunction) (string, error) {
	b := l.text(L, "load")
	for {
		piece := vm.Call(L, read)
		switch {
		case piece == lua.LNil:
			return b.String(), nil
		case !lua.LVCanConvToString(piece):
			return "", errors.New("reader function must return a string")
		case piece.String() == "":
			return b.String(), nil
		}
		b.write(piece.String())
	}
}
