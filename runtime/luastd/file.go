package luastd

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/engine/number"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
)

// file is a Lua file: a standard stream, a file on disk, or a pipe to a program.
type file struct {
	name     string // in messages
	w        io.Writer
	r        *bufio.Reader
	buffered *bufio.Writer // in front of w, after setvbuf
	disk     *os.File      // nil unless on disk
	cmd      *exec.Cmd     // at the other end of a pipe, else nil
	outputs  *outputs      // outputs of cmd that the script does not read
	pipe     io.Closer     // our end of it
	closed   bool
	in       *vm.Interp
	reading  chan struct{} // one reader at a time
	self     *lua.LUserData
}

// LuaValue converts a file to its name.
func (f *file) LuaValue() any { return f.name }

// standard reports whether f is one of the three standard streams.
func (f *file) standard() bool { return f.disk == nil && f.cmd == nil }

// openIO replaces the io library: gopher-lua's is bound to the process's streams
// and reads with the lock held.
func (l *library) openIO(L *lua.LState) {
	l.fileMeta = L.NewTable()
	l.fileMeta.RawSetString("__index", L.SetFuncs(L.NewTable(), map[string]lua.LGFunction{
		"write":   func(L *lua.LState) int { return write(L, fileArg(L), 2) },
		"read":    func(L *lua.LState) int { return read(L, fileArg(L), 2) },
		"lines":   func(L *lua.LState) int { return lines(L, fileArg(L), false) },
		"flush":   func(L *lua.LState) int { return result(L, fileArg(L).flush()) },
		"close":   func(L *lua.LState) int { return closeFile(L, fileArg(L)) },
		"seek":    seek,
		"setvbuf": setvbuf,
	}))
	l.fileMeta.RawSetString("__metatable", lua.LString("file"))
	l.fileMeta.RawSetString("__tostring", L.NewFunction(func(L *lua.LState) int {
		switch f := fileOf(L); {
		case f.closed:
			L.Push(lua.LString("file (closed)"))
		default:
			L.Push(lua.LString("file (" + f.name + ")"))
		}
		return 1
	}))
	set(L, "io", map[string]lua.LGFunction{
		"open": l.open, "popen": l.popen, "tmpfile": l.tmpfile, "type": fileType, "lines": l.lines,
		"read":  func(L *lua.LState) int { return read(L, standard(L, l.input, "input"), 1) },
		"write": func(L *lua.LState) int { return write(L, standard(L, l.output, "output"), 1) },
		"flush": func(L *lua.LState) int { return result(L, standard(L, l.output, "output").flush()) },
		"close": func(L *lua.LState) int {
			if L.GetTop() > 0 {
				return closeFile(L, fileArg(L))
			}
			return closeFile(L, standard(L, l.output, "output"))
		},
		"input":  func(L *lua.LState) int { return l.choose(L, &l.input, os.O_RDONLY) },
		"output": func(L *lua.LState) int { return l.choose(L, &l.output, os.O_WRONLY|os.O_CREATE|os.O_TRUNC) },
	})
	lib, opt := L.GetGlobal("io").(*lua.LTable), l.Options()
	l.output = l.userdata(L, &file{name: "stdout", w: opt.Stdout})
	l.stdin = &file{name: "stdin", r: bufio.NewReader(opt.Stdin)}
	l.input = l.userdata(L, l.stdin)
	lib.RawSetString("stderr", l.userdata(L, &file{name: "stderr", w: opt.Stderr}))
	lib.RawSetString("stdout", l.output)
	lib.RawSetString("stdin", l.input)
}

func (l *library) userdata(L *lua.LState, f *file) *lua.LUserData {
	f.reading, f.in = make(chan struct{}, 1), l.Interp
	f.self = &lua.LUserData{Value: f, Env: L.Env, Metatable: l.fileMeta}
	return f.self
}

// choose sets and returns the default input or output.
func (l *library) choose(L *lua.LState, current **lua.LUserData, flag int) int {
	if name, ok := number.TextOf(L.Get(1)); ok {
		f, err := l.openFile(L, name, flag)
		if err != nil {
			raiseFileArg(L, err)
		}
		*current = f.self
	} else if given(L, 1) {
		*current = fileOf(L).self
	}
	return vm.Push(L, *current)
}

var openModes = map[string]int{
	"r": os.O_RDONLY, "w": os.O_WRONLY | os.O_CREATE | os.O_TRUNC, "a": os.O_WRONLY | os.O_CREATE | os.O_APPEND,
	"r+": os.O_RDWR, "w+": os.O_RDWR | os.O_CREATE | os.O_TRUNC, "a+": os.O_RDWR | os.O_CREATE | os.O_APPEND,
}

func (l *library) open(L *lua.LState) int {
	path, mode := checkString(L, 1), optString(L, 2, "r")
	flag, ok := openModes[strings.Replace(mode, "b", "", 1)]
	if !ok {
		return failed(L, luaFileError(syscall.EINVAL, path))
	}
	f, err := l.openFile(L, path, flag)
	if err != nil {
		return failed(L, err)
	}
	return vm.Push(L, f.self)
}

// background runs f in a goroutine without the lock and waits for it. If the task ends meanwhile it raises
// that: nothing can interrupt opening a named pipe, or reading from a terminal.
func background[T any](L *lua.LState, f func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := f()
		done <- outcome{value, err}
	}()
	got, err := vm.Wait(L, done)
	vm.Must(L, err)
	return got.value, got.err
}

func (l *library) openFile(L *lua.LState, path string, flag int) (*file, error) {
	at := vm.Context(L)
	disk, err := background(L, func() (*os.File, error) { return l.Open(at, l.Path(path), flag, 0o666) })
	if err != nil {
		return nil, luaFileError(err, path)
	}
	return l.onDisk(L, disk, path, flag), nil
}

func (l *library) onDisk(L *lua.LState, disk *os.File, name string, flag int) *file {
	f := &file{name: name, disk: disk}
	if flag&os.O_WRONLY == 0 {
		f.r = bufio.NewReader(disk)
	}
	if flag&(os.O_WRONLY|os.O_RDWR) != 0 {
		f.w = disk
	}
	l.userdata(L, f)
	return f
}

func (l *library) tmpfile(L *lua.LState) int {
	l.permit(L, sandbox.Write, os.TempDir())
	disk, err := os.CreateTemp("", "transect-*")
	if err != nil {
		return failed(L, err)
	}
	l.OnClose(func() { disk.Close(); os.Remove(disk.Name()) })
	return vm.Push(L, l.onDisk(L, disk, "temporary", os.O_RDWR).self)
}

func (l *library) popen(L *lua.LState) int {
	command, mode := checkString(L, 1), optString(L, 2, "r")
	if mode != "r" && mode != "w" {
		return failed(L, luaFileError(syscall.EINVAL, command))
	}
	l.permit(L, sandbox.Exec, sandbox.Shell)
	if !vm.Happens(L, sandbox.Effect{Kind: sandbox.RunProgram, What: command, Answers: true}) {
		nothing, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
		if err != nil {
			return failed(L, err)
		}
		return vm.Push(L, l.onDisk(L, nothing, "process", os.O_RDWR).self)
	}
	cmd, opt := l.shell(l.Context(), command), l.Options()
	f := &file{name: "process", cmd: cmd, outputs: &outputs{command: command}}
	var err error
	cmd.Stderr, err = f.outputs.connect(opt.Stderr)
	if err != nil {
		return failed(L, err)
	}
	if mode == "r" {
		var out io.ReadCloser
		cmd.Stdin = commandInput(opt.Stdin)
		out, err = cmd.StdoutPipe()
		f.r, f.pipe = bufio.NewReader(out), out
	} else {
		var in io.WriteCloser
		if in, err = cmd.StdinPipe(); err == nil {
			cmd.Stdout, err = f.outputs.connect(opt.Stdout)
		}
		f.w, f.pipe = in, in
	}
	if err = f.outputs.start(cmd, err); err != nil {
		return failed(L, err)
	}
	l.OnClose(func() {
		if !f.closed {
			_ = cmd.Process.Kill() // its output is no longer read
			_ = cmd.Wait()
		}
	})
	return vm.Push(L, l.userdata(L, f))
}

func (l *library) lines(L *lua.LState) int {
	if !given(L, 1) {
		return lines(L, standard(L, l.input, "input"), false)
	}
	f, err := l.openFile(L, checkString(L, 1), os.O_RDONLY)
	if err != nil {
		raiseFileArg(L, err)
	}
	return lines(L, f, true)
}

func fileType(L *lua.LState) int {
	var f *file
	if ud, ok := checkAny(L, 1).(*lua.LUserData); ok {
		f, _ = ud.Value.(*file)
	}
	switch {
	case f == nil:
		L.Push(lua.LNil)
	case f.closed:
		L.Push(lua.LString("closed file"))
	default:
		L.Push(lua.LString("file"))
	}
	return 1
}

// fileOf returns the file in the first argument, open or not.
func fileOf(L *lua.LState) *file {
	var f *file
	if ud, ok := L.Get(1).(*lua.LUserData); ok {
		f, _ = ud.Value.(*file)
	}
	if f == nil {
		vm.TypeError(L, 1, "FILE*")
	}
	return f
}

// fileArg returns the file in the first argument; it must be open.
func fileArg(L *lua.LState) *file {
	f := fileOf(L)
	if f.closed {
		vm.RaiseText(L, "attempt to use a closed file")
	}
	return f
}

// standard returns the default input or output; it must be open.
func standard(L *lua.LState, ud *lua.LUserData, what string) *file {
	f := ud.Value.(*file)
	if f.closed {
		vm.RaiseText(L, "standard %s file is closed", what)
	}
	return f
}

// fileError is the error of a file with the message of C.
type fileError struct {
	text   string
	number int
}

func (e *fileError) Error() string { return e.text }

// luaFileError converts the error of a file to the wording of Lua 5.1; faults stay.
func luaFileError(err error, path string) error {
	number, ok := errors.AsType[syscall.Errno](err)
	if !ok || fault.Find(err) != nil {
		return err
	}
	reason := number.Error()
	reason = strings.ToUpper(reason[:1]) + reason[1:]
	if path != "" {
		reason = path + ": " + reason
	}
	return &fileError{reason, int(number)}
}

// raiseFile raises the error of a file: a fault, or a string.
func raiseFile(L *lua.LState, err error) {
	if fault.Find(err) != nil {
		vm.Raise(L, err)
	}
	vm.RaiseText(L, "%s", err)
}

// raiseFileArg is like raiseFile, for the file named by the first argument.
func raiseFileArg(L *lua.LState, err error) {
	if fault.Find(err) != nil {
		vm.Raise(L, err)
	}
	vm.ArgError(L, 1, err.Error())
}

// failed returns nil and the error, as functions on files do; faults are raised.
func failed(L *lua.LState, err error) int {
	if fault.Find(err) != nil {
		vm.Raise(L, err)
	}
	number := 1
	if e, ok := errors.AsType[*fileError](err); ok {
		number = e.number
	}
	return vm.Push(L, lua.LNil, lua.LString(err.Error()), lua.LNumber(number))
}

// result returns true, or nil and the error.
func result(L *lua.LState, err error) int {
	if err != nil {
		return failed(L, err)
	}
	return vm.Push(L, lua.LTrue)
}
