package luastd

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
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
	outputs  *outputs      // of cmd, that the script does not read
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
		f, _ := L.CheckUserData(1).Value.(*file)
		switch {
		case f == nil:
			L.ArgError(1, "file expected")
		case f.closed:
			L.Push(lua.LString("file (closed)"))
		default:
			L.Push(lua.LString("file (" + f.name + ")"))
		}
		return 1
	}))
	set(L, "io", map[string]lua.LGFunction{
		"open": l.open, "popen": l.popen, "tmpfile": l.tmpfile, "type": fileType, "lines": l.lines,
		"read":  func(L *lua.LState) int { return read(L, use(L, l.input), 1) },
		"write": func(L *lua.LState) int { return write(L, use(L, l.output), 1) },
		"flush": func(L *lua.LState) int { return result(L, use(L, l.output).flush()) },
		"close": func(L *lua.LState) int {
			if L.GetTop() > 0 {
				return closeFile(L, fileArg(L))
			}
			return closeFile(L, use(L, l.output))
		},
		"input":  func(L *lua.LState) int { return l.choose(L, &l.input, os.O_RDONLY) },
		"output": func(L *lua.LState) int { return l.choose(L, &l.output, os.O_WRONLY|os.O_CREATE|os.O_TRUNC) },
	})
	lib, opt := L.GetGlobal("io").(*lua.LTable), l.Options()
	l.output = l.userdata(L, &file{name: "stdout", w: opt.Stdout})
	l.input = l.userdata(L, &file{name: "stdin", r: bufio.NewReader(opt.Stdin)})
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
	switch v := L.Get(1).(type) {
	case lua.LString:
		f, err := l.openFile(L, string(v), flag)
		if err != nil {
			raiseFile(L, err)
		}
		*current = f.self
	case *lua.LUserData:
		*current = fileArg(L).self
	}
	L.Push(*current)
	return 1
}

var openModes = map[string]int{
	"r": os.O_RDONLY, "w": os.O_WRONLY | os.O_CREATE | os.O_TRUNC, "a": os.O_WRONLY | os.O_CREATE | os.O_APPEND,
	"r+": os.O_RDWR, "w+": os.O_RDWR | os.O_CREATE | os.O_TRUNC, "a+": os.O_RDWR | os.O_CREATE | os.O_APPEND,
}

func (l *library) open(L *lua.LState) int {
	path, mode := L.CheckString(1), L.OptString(2, "r")
	flag, known := openModes[strings.Replace(mode, "b", "", 1)]
	if !known {
		L.ArgError(2, "invalid mode: "+mode)
	}
	f, err := l.openFile(L, path, flag)
	if err != nil {
		return failed(L, err)
	}
	L.Push(f.self)
	return 1
}

// background runs f in a goroutine without the lock and waits for it; when the
// task ends meanwhile, it raises that: nothing can interrupt the opening of a
// named pipe, or a read from a terminal.
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
	if err != nil {
		vm.Raise(L, err)
	}
	return got.value, got.err
}

func (l *library) openFile(L *lua.LState, path string, flag int) (*file, error) {
	disk, err := background(L, func() (*os.File, error) { return l.Open(l.Path(path), flag, 0o666) })
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
	L.Push(l.onDisk(L, disk, "temporary", os.O_RDWR).self)
	return 1
}

func (l *library) popen(L *lua.LState) int {
	command, mode := L.CheckString(1), L.OptString(2, "r")
	if mode != "r" && mode != "w" {
		L.ArgError(2, "invalid mode: "+mode)
	}
	l.permit(L, sandbox.Exec, sandbox.Shell)
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
			_ = cmd.Process.Kill() // nobody reads its output any more
			_ = cmd.Wait()
		}
	})
	L.Push(l.userdata(L, f))
	return 1
}

func (l *library) lines(L *lua.LState) int {
	if L.GetTop() == 0 || L.Get(1) == lua.LNil {
		return lines(L, use(L, l.input), false)
	}
	f, err := l.openFile(L, L.CheckString(1), os.O_RDONLY)
	if err != nil {
		raiseFile(L, err)
	}
	return lines(L, f, true)
}

func fileType(L *lua.LState) int {
	var f *file
	if ud, ok := L.CheckAny(1).(*lua.LUserData); ok {
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

func fileArg(L *lua.LState) *file { return use(L, L.CheckUserData(1)) }

// use is the file in a userdata; it must be open.
func use(L *lua.LState, ud *lua.LUserData) *file {
	f, ok := ud.Value.(*file)
	if !ok {
		L.ArgError(1, "file expected")
	}
	if f.closed {
		L.RaiseError("attempt to use a closed file")
	}
	return f
}

// luaFileError words the error of a file as Lua 5.1 does; faults stay.
func luaFileError(err error, path string) error {
	var p *os.PathError
	if errors.As(err, &p) && fault.Find(err) == nil {
		return errors.New(path + ": " + p.Err.Error())
	}
	return err
}

// raiseFile raises the error of a file: a fault, or a string.
func raiseFile(L *lua.LState, err error) {
	if fault.Find(err) != nil {
		vm.Raise(L, err)
	}
	L.RaiseError("%s", err)
}

// failed returns nil and the error, as functions of files do; faults are raised.
func failed(L *lua.LState, err error) int {
	if fault.Find(err) != nil {
		vm.Raise(L, err)
	}
	return vm.Push(L, []lua.LValue{lua.LNil, lua.LString(err.Error()), lua.LNumber(1)})
}

// result returns true, or nil and the error.
func result(L *lua.LState, err error) int {
	if err != nil {
		return failed(L, err)
	}
	L.Push(lua.LTrue)
	return 1
}
