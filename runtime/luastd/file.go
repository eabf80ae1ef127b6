package luastd

import (
	"bufio"
	"context"
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

// stream is a file as scripts see it: one of the three standard streams, one
// on disk, or the end of a pipe to a program.
type stream struct {
	name   string // in messages
	w      io.Writer
	r      *bufio.Reader
	held   *bufio.Writer // what w writes to, after setvbuf
	file   *os.File      // on disk, else nil
	cmd    *exec.Cmd     // at the other end of a pipe, else nil
	pipe   io.Closer     // our end of it
	closed bool
	most   int           // bytes one read may give
	turn   chan struct{} // one reader at a time
	self   *lua.LUserData
}

// LuaValue makes a stream convertible: as its name.
func (s *stream) LuaValue() any { return s.name }

func (s *stream) standard() bool { return s.file == nil && s.cmd == nil }

// openIO replaces the io library: gopher-lua's is bound to the process's streams
// and reads with the lock held.
func (l *library) openIO() {
	L := l.L
	l.file = L.NewTable()
	methods := L.SetFuncs(L.NewTable(), map[string]lua.LGFunction{
		"write":   func(L *lua.LState) int { return l.write(L, streamArg(L), 2) },
		"read":    func(L *lua.LState) int { return streamRead(L, streamArg(L), 2) },
		"lines":   func(L *lua.LState) int { return streamLines(L, streamArg(L), false) },
		"flush":   func(L *lua.LState) int { return result(L, streamArg(L).flush()) },
		"close":   func(L *lua.LState) int { return l.close(L, streamArg(L)) },
		"seek":    seek,
		"setvbuf": setvbuf,
	})
	l.file.RawSetString("__index", methods)
	l.file.RawSetString("__metatable", lua.LString("file"))
	l.file.RawSetString("__tostring", L.NewFunction(func(L *lua.LState) int {
		s, _ := L.CheckUserData(1).Value.(*stream)
		switch {
		case s == nil:
			L.ArgError(1, "file expected")
		case s.closed:
			L.Push(lua.LString("file (closed)"))
		default:
			L.Push(lua.LString("file (" + s.name + ")"))
		}
		return 1
	}))
	lib := L.GetGlobal("io").(*lua.LTable)
	for name, f := range map[string]lua.LGFunction{
		"open": l.open, "popen": l.popen, "tmpfile": l.tmpfile, "type": streamType,
		"read":  func(L *lua.LState) int { return streamRead(L, use(L, l.input), 1) },
		"write": func(L *lua.LState) int { return l.write(L, use(L, l.output), 1) },
		"flush": func(L *lua.LState) int { return result(L, use(L, l.output).flush()) },
		"lines": l.lines,
		"close": func(L *lua.LState) int {
			if L.GetTop() > 0 {
				return l.close(L, streamArg(L))
			}
			return l.close(L, use(L, l.output))
		},
		"input":  func(L *lua.LState) int { return l.choose(L, &l.input, os.O_RDONLY) },
		"output": func(L *lua.LState) int { return l.choose(L, &l.output, os.O_WRONLY|os.O_CREATE|os.O_TRUNC) },
	} {
		lib.RawSetString(name, L.NewFunction(f))
	}
	lib.RawSetString("stderr", l.made(L, &stream{name: "stderr", w: l.in.Options().Stderr}))
	l.output = l.made(L, &stream{name: "stdout", w: l.in.Options().Stdout})
	l.input = l.made(L, &stream{name: "stdin", r: bufio.NewReader(l.in.Options().Stdin)})
	lib.RawSetString("stdout", l.output)
	lib.RawSetString("stdin", l.input)
}

// made gives a stream to Lua.
func (l *library) made(L *lua.LState, s *stream) *lua.LUserData {
	s.turn, s.most = make(chan struct{}, 1), l.in.MaxText()
	s.self = &lua.LUserData{Value: s, Env: L.Env, Metatable: l.file}
	return s.self
}

// choose sets the stream that functions without one use, and gives it.
func (l *library) choose(L *lua.LState, current **lua.LUserData, flag int) int {
	switch v := L.Get(1).(type) {
	case lua.LString:
		s, err := l.openFile(L, string(v), flag)
		if err != nil {
			raiseFile(L, err)
		}
		*current = l.made(L, s)
	case *lua.LUserData:
		streamArg(L)
		*current = v
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
	s, err := l.openFile(L, path, flag)
	if err != nil {
		return failed(L, err)
	}
	L.Push(l.made(L, s))
	return 1
}

// file opens a file. A pipe in the file system waits for its other end, so it
// happens aside.
func (l *library) openFile(L *lua.LState, path string, flag int) (*stream, error) {
	type opened struct {
		file *os.File
		err  error
	}
	done := make(chan opened, 1)
	var got opened
	err := vm.Blocking(L, func(ctx context.Context) error {
		go func() {
			file, err := l.in.Open(l.in.Path(path), flag, 0o666)
			done <- opened{file, err}
		}()
		select {
		case got = <-done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	if err == nil {
		err = got.err
	}
	if err != nil {
		return nil, named(err, path)
	}
	return onDisk(got.file, path, flag), nil
}

func onDisk(file *os.File, name string, flag int) *stream {
	s := &stream{name: name, file: file}
	if flag&os.O_WRONLY == 0 {
		s.r = bufio.NewReader(file)
	}
	if flag&(os.O_WRONLY|os.O_RDWR) != 0 {
		s.w = file
	}
	return s
}

func (l *library) tmpfile(L *lua.LState) int {
	if err := l.in.Permit(sandbox.Write, os.TempDir()); err != nil {
		vm.Raise(L, err)
	}
	file, err := os.CreateTemp("", "transect-*")
	if err != nil {
		return failed(L, err)
	}
	l.in.OnClose(func() { file.Close(); os.Remove(file.Name()) })
	L.Push(l.made(L, onDisk(file, "temporary", os.O_RDWR)))
	return 1
}

func (l *library) popen(L *lua.LState) int {
	command, mode := L.CheckString(1), L.OptString(2, "r")
	if mode != "r" && mode != "w" {
		L.ArgError(2, "invalid mode: "+mode)
	}
	if err := l.in.Permit(sandbox.Exec, sandbox.Shell); err != nil {
		vm.Raise(L, err)
	}
	cmd := l.shellCommand(l.in.Context(), command)
	s := &stream{name: "process", cmd: cmd}
	var err error
	if mode == "r" {
		var out io.ReadCloser
		if out, err = cmd.StdoutPipe(); err == nil {
			cmd.Stdin = l.in.Options().Stdin
			s.r, s.pipe = bufio.NewReader(out), out
		}
	} else {
		var in io.WriteCloser
		if in, err = cmd.StdinPipe(); err == nil {
			cmd.Stdout = l.in.Options().Stdout
			s.w, s.pipe = in, in
		}
	}
	if err == nil {
		cmd.Stderr = l.in.Options().Stderr
		err = cmd.Start()
	}
	if err != nil {
		return failed(L, err)
	}
	l.in.OnClose(func() {
		if !s.closed {
			_ = cmd.Process.Kill() // nobody is left to read from it
			_ = cmd.Wait()
		}
	})
	L.Push(l.made(L, s))
	return 1
}

func (l *library) lines(L *lua.LState) int {
	if L.GetTop() == 0 || L.Get(1) == lua.LNil {
		return streamLines(L, use(L, l.input), false)
	}
	s, err := l.openFile(L, L.CheckString(1), os.O_RDONLY)
	if err != nil {
		raiseFile(L, err)
	}
	l.made(L, s)
	return streamLines(L, s, true)
}

func streamType(L *lua.LState) int {
	s, ok := L.CheckAny(1).(*lua.LUserData)
	file, is := (*stream)(nil), false
	if ok {
		file, is = s.Value.(*stream)
	}
	switch {
	case !is:
		L.Push(lua.LNil)
	case file.closed:
		L.Push(lua.LString("closed file"))
	default:
		L.Push(lua.LString("file"))
	}
	return 1
}

func streamArg(L *lua.LState) *stream { return use(L, L.CheckUserData(1)) }

// use is the stream of a value that must be an open one.
func use(L *lua.LState, ud *lua.LUserData) *stream {
	s, ok := ud.Value.(*stream)
	if !ok {
		L.ArgError(1, "file expected")
	}
	if s.closed {
		L.RaiseError("attempt to use a closed file")
	}
	return s
}

// named makes a file's error the text Lua 5.1 gives; others stay.
func named(err error, path string) error {
	var p *os.PathError
	if errors.As(err, &p) && fault.Find(err) == nil {
		return errors.New(path + ": " + p.Err.Error())
	}
	return err
}

// raiseFile raises what is wrong with a file, as a text where it is no fault.
func raiseFile(L *lua.LState, err error) {
	if fault.Find(err) != nil {
		vm.Raise(L, err)
	}
	L.RaiseError("%s", err)
}

// failed returns nil and what is wrong, as the functions of files do; what is
// a fault is raised.
func failed(L *lua.LState, err error) int {
	if fault.Find(err) != nil {
		vm.Raise(L, err)
	}
	L.Push(lua.LNil)
	L.Push(lua.LString(err.Error()))
	L.Push(lua.LNumber(1))
	return 3
}

func result(L *lua.LState, err error) int {
	if err != nil {
		return failed(L, err)
	}
	L.Push(lua.LTrue)
	return 1
}
