package luastd

import (
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/engine/number"
	"transect/runtime/vm"
)

// load, loadstring, loadfile and dofile compile as scripts and modules do.

func (l *library) loadString(L *lua.LState) int {
	code := checkString(L, 1)
	return l.compile(L, l.named(optString(L, 2, code)), code)
}

func (l *library) load(L *lua.LState) int {
	if code, ok := L.Get(1).(lua.LString); ok {
		return l.compile(L, l.named(optString(L, 2, string(code))), string(code))
	}
	name := optString(L, 2, "=(load)")
	read := checkFunction(L, 1)
	code, texts := "", true
	_, caught := vm.Try(L, L.NewFunction(func(L *lua.LState) int {
		code, texts = l.readPieces(L, read)
		return 0
	}))
	if !texts {
		return vm.Push(L, lua.LNil, lua.LString(vm.Where(L, 1)+"reader function must return a string"))
	}
	if caught != nil {
		return vm.Push(L, lua.LNil, caught.Value)
	}
	return l.compile(L, l.named(name), code)
}

func (l *library) loadFile(L *lua.LState) int {
	name, code, err := l.readCode(L)
	if fault.Find(err) != nil {
		vm.RaiseAsText(L, err.Error(), err)
	}
	if err != nil {
		return vm.Push(L, lua.LNil, lua.LString("cannot open "+err.Error()))
	}
	return l.compile(L, name, string(code))
}

func (l *library) doFile(L *lua.LState) int {
	name, code, err := l.readCode(L)
	if fault.Find(err) != nil {
		vm.RaiseAsText(L, err.Error(), err)
	}
	if err != nil {
		raiseBare(L, "cannot open "+err.Error())
	}
	fn, err := l.function(L, name, code)
	if err != nil {
		vm.RaiseAsText(L, err.Error(), err)
	}
	L.SetTop(0)
	L.Push(fn)
	L.Call(0, lua.MultRet)
	return L.GetTop()
}

// readCode reads the source file named by the first argument, or standard input.
func (l *library) readCode(L *lua.LState) (path string, code []byte, err error) {
	if !given(L, 1) {
		text, err := l.stdin.read(L, lua.LString("*a"))
		return l.named("=stdin"), []byte(text), err
	}
	path = checkString(L, 1)
	code, err = background(L, func() ([]byte, error) { return l.ReadFile(l.Path(path)) })
	return path, code, luaFileError(err, path)
}

// compiledSize estimates the memory of a syntax tree, per byte of code.
const compiledSize = 16

// function compiles code, within the limits of the script.
func (l *library) function(L *lua.LState, name string, code []byte) (*lua.LFunction, error) {
	vm.Grow(L, compiledSize*len(code))
	vm.Work(L, 200+len(code))
	return l.Compile(L, name, code)
}

// compile returns a function, or nil and the syntax error.
func (l *library) compile(L *lua.LState, name, code string) int {
	fn, err := l.function(L, name, []byte(code))
	if err != nil {
		return vm.Push(L, lua.LNil, lua.LString(err.Error()))
	}
	return vm.Push(L, fn)
}

// readPieces joins the results of a reader function until it returns nothing; it reports false for a result
// that is not text.
func (l *library) readPieces(L *lua.LState, read *lua.LFunction) (string, bool) {
	b := l.text(L, "load")
	for {
		piece := vm.Call(L, read)
		text, ok := number.TextOf(piece)
		if piece == lua.LNil || ok && text == "" {
			return b.String(), true
		}
		if !ok {
			return "", false
		}
		b.write(text)
	}
}

const (
	maxChunks    = 1000      // with stored names
	maxChunkName = 100 << 10 // bytes
)

// named returns shortSource and stores the full name for debug.getinfo.
func (l *library) named(name string) string {
	short := shortSource(name)
	if len(l.chunks) < maxChunks && len(name) < maxChunkName {
		l.chunks[short] = name
	}
	return short
}

// shortSource returns the name of a chunk in messages: without a leading = or @, or the first line if the
// name is code.
func shortSource(name string) string {
	// Sizes of C's buffers.
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
