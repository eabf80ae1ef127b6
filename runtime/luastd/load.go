package luastd

import (
	"errors"
	"fmt"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/vm"
)

// load, loadstring, loadfile and dofile compile as scripts and modules do.

func (l *library) loadString(L *lua.LState) int {
	code := checkString(L, 1)
	return l.compile(L, shortSource(optString(L, 2, code)), code)
}

func (l *library) load(L *lua.LState) int {
	if code, ok := L.Get(1).(lua.LString); ok {
		return l.compile(L, shortSource(optString(L, 2, string(code))), string(code))
	}
	name := optString(L, 2, "=(load)")
	code, err := l.readPieces(L, checkFunction(L, 1))
	if err != nil {
		return vm.Push(L, []lua.LValue{lua.LNil, lua.LString(err.Error())})
	}
	return l.compile(L, shortSource(name), code)
}

func (l *library) loadFile(L *lua.LState) int {
	code, err := l.readCode(L, checkString(L, 1))
	if fault.Find(err) != nil {
		vm.Raise(L, err)
	}
	if err != nil {
		return vm.Push(L, []lua.LValue{lua.LNil, lua.LString(err.Error())})
	}
	return l.compile(L, checkString(L, 1), string(code))
}

func (l *library) doFile(L *lua.LState) int {
	name := checkString(L, 1)
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
		text, ok := asText(piece)
		switch {
		case piece == lua.LNil || ok && text == "":
			return b.String(), nil
		case !ok:
			return "", errors.New("reader function must return a string")
		}
		b.write(text)
	}
}

// shortSource is the name of a chunk in messages: without the = or @ that may begin
// it, or the first line of the code that is its name.
func shortSource(name string) string {
	// How much of each C's buffer holds.
	const most, mostOfFile, mostOfCode = 59, 52, 43
	name, _, _ = strings.Cut(name, "\x00")
	if given, ok := strings.CutPrefix(name, "="); ok {
		return given[:min(len(given), most)]
	}
	if file, ok := strings.CutPrefix(name, "@"); ok {
		if len(file) > mostOfFile {
			file = "..." + file[len(file)-mostOfFile:]
		}
		return file
	}
	line := name
	if i := strings.IndexAny(name, "\r\n"); i >= 0 {
		line = name[:i]
	}
	if line = line[:min(len(line), mostOfCode)]; len(line) < len(name) {
		line += "..."
	}
	return `[string "` + line + `"]`
}
