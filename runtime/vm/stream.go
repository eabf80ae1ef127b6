package vm

import (
	"bufio"
	"context"
	"io"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
)

// stream is one of the three standard streams as scripts see them. The io
// library of the interpreter is bound to the process's own.
type stream struct {
	name string
	w    io.Writer
	r    *bufio.Reader
	turn chan struct{} // one reader at a time
}

// LuaValue makes a stream convertible: as its name.
func (s *stream) LuaValue() any { return s.name }

// openStreams points the io library at the streams of Options. Files opened
// by io.open stay as they are.
func (in *Interp) openStreams() {
	L := in.main
	lib := L.GetGlobal("io").(*lua.LTable)
	mt := L.NewTable()
	methods := L.SetFuncs(L.NewTable(), map[string]lua.LGFunction{
		"write":   func(L *lua.LState) int { return in.streamWrite(L, streamArg(L), 2) },
		"read":    func(L *lua.LState) int { return streamRead(L, streamArg(L), 2) },
		"lines":   func(L *lua.LState) int { return streamLines(L, streamArg(L)) },
		"flush":   func(L *lua.LState) int { L.Push(lua.LTrue); return 1 }, // nothing is held back
		"close":   func(L *lua.LState) int { L.Push(lua.LTrue); return 1 }, // not the script's to close
		"setvbuf": func(L *lua.LState) int { L.Push(lua.LTrue); return 1 },
	})
	mt.RawSetString("__index", methods)
	mt.RawSetString("__tostring", L.NewFunction(func(L *lua.LState) int {
		L.Push(lua.LString("file (" + streamArg(L).name + ")"))
		return 1
	}))
	add := func(s *stream) *lua.LUserData {
		s.turn = make(chan struct{}, 1)
		ud := &lua.LUserData{Value: s, Env: L.Env, Metatable: mt}
		lib.RawSetString(s.name, ud)
		return ud
	}
	add(&stream{name: "stderr", w: in.opt.Stderr})
	output := lua.LValue(add(&stream{name: "stdout", w: in.opt.Stdout}))
	input := lua.LValue(add(&stream{name: "stdin", r: bufio.NewReader(in.opt.Stdin)}))

	in.redirect(lib, "output", &output, []string{"write", "flush", "close"}, "w")
	in.redirect(lib, "input", &input, []string{"read"}, "r")
	lines, kind := lib.RawGetString("lines").(*lua.LFunction).GFunction, lib.RawGetString("type").(*lua.LFunction).GFunction
	upvalues := lib.RawGetString("lines").(*lua.LFunction).Upvalues
	all := L.NewFunction(func(L *lua.LState) int {
		if L.GetTop() > 0 {
			L.Replace(1, lua.LString(in.Path(L.CheckString(1))))
			return lines(L)
		}
		return method(L, input, "lines")
	})
	all.Upvalues = upvalues
	lib.RawSetString("lines", all)
	lib.RawSetString("type", L.NewFunction(func(L *lua.LState) int {
		if ud, ok := L.Get(1).(*lua.LUserData); ok {
			if _, ok := ud.Value.(*stream); ok {
				L.Push(lua.LString("file"))
				return 1
			}
		}
		return kind(L)
	}))
}

// redirect makes io.output or io.input choose a default stream, and the
// functions named use it.
func (in *Interp) redirect(lib *lua.LTable, choose string, current *lua.LValue, names []string, mode string) {
	L := in.main
	open := lib.RawGetString("open").(*lua.LFunction)
	lib.RawSetString(choose, L.NewFunction(func(L *lua.LState) int {
		switch v := L.Get(1).(type) {
		case lua.LString:
			if err := L.CallByParam(lua.P{Fn: open, NRet: 2}, v, lua.LString(mode)); err != nil || L.Get(-2) == lua.LNil {
				Raise(L, fault.Of(&fault.FileError{}, "%s", L.Get(-1)))
			}
			*current = L.Get(-2)
		case *lua.LUserData:
			*current = v
		}
		L.Push(*current)
		return 1
	}))
	for _, name := range names {
		lib.RawSetString(name, L.NewFunction(func(L *lua.LState) int {
			if name == "close" && L.GetTop() > 0 {
				file := L.Get(1)
				L.Remove(1)
				return method(L, file, name)
			}
			return method(L, *current, name)
		}))
	}
}

// method calls object:name(…) with the arguments on the stack.
func method(L *lua.LState, object lua.LValue, name string) int {
	args := rest(L, 1)
	L.SetTop(0)
	L.Push(L.GetField(object, name))
	L.Push(object)
	push(L, args)
	L.Call(len(args)+1, lua.MultRet)
	return L.GetTop()
}

func streamArg(L *lua.LState) *stream {
	if s, ok := L.CheckUserData(1).Value.(*stream); ok {
		return s
	}
	L.ArgError(1, "file expected")
	return nil
}

func (in *Interp) streamWrite(L *lua.LState, s *stream, first int) int {
	if s.w == nil {
		L.RaiseError("%s is for reading", s.name)
	}
	var b strings.Builder
	for i := first; i <= L.GetTop(); i++ {
		b.WriteString(L.CheckString(i))
	}
	if _, err := io.WriteString(s.w, b.String()); err != nil {
		Raise(L, err)
	}
	L.Push(L.Get(1))
	return 1
}

func streamRead(L *lua.LState, s *stream, first int) int {
	formats := rest(L, first)
	if len(formats) == 0 {
		formats = []lua.LValue{lua.LString("*l")}
	}
	for i, format := range formats {
		text, ok := s.read(L, format)
		switch {
		case !ok:
			L.Push(lua.LNil)
			return i + 1
		case format.String() == "*n":
			n, err := strconv.ParseFloat(text, 64)
			if err != nil {
				L.Push(lua.LNil)
				return i + 1
			}
			L.Push(lua.LNumber(n))
		default:
			L.Push(lua.LString(text))
		}
	}
	return len(formats)
}

func streamLines(L *lua.LState, s *stream) int {
	L.Push(L.NewFunction(func(L *lua.LState) int {
		if line, ok := s.read(L, lua.LString("*l")); ok {
			L.Push(lua.LString(line))
		} else {
			L.Push(lua.LNil)
		}
		return 1
	}))
	L.Push(lua.LNil)
	L.Push(lua.LNil)
	return 3
}

// read takes one item off the stream. Nothing can interrupt a read from a
// terminal, so it happens aside: a cancelled task does not wait for it.
func (s *stream) read(L *lua.LState, format lua.LValue) (string, bool) {
	if s.r == nil {
		L.RaiseError("%s is for writing", s.name)
	}
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	var got result
	err := Blocking(L, func(ctx context.Context) error {
		select {
		case s.turn <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		go func() {
			defer func() { <-s.turn }()
			text, err := s.take(format)
			done <- result{text, err}
		}()
		select {
		case got = <-done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	if err != nil {
		Raise(L, err)
	}
	if got.err != nil && got.err != io.EOF {
		Raise(L, got.err)
	}
	return got.text, got.err == nil
}

// take reads one item; io.EOF means there was none.
func (s *stream) take(format lua.LValue) (string, error) {
	if n, ok := format.(lua.LNumber); ok {
		if n == 0 {
			_, err := s.r.Peek(1)
			return "", err
		}
		text, err := io.ReadAll(io.LimitReader(s.r, int64(n)))
		if err == nil && len(text) == 0 {
			err = io.EOF
		}
		return string(text), err
	}
	switch strings.TrimPrefix(format.String(), "*") {
	case "a":
		text, err := io.ReadAll(s.r)
		return string(text), err
	case "n":
		return s.word()
	}
	line, err := s.r.ReadString('\n')
	if err == io.EOF && line != "" {
		err = nil
	}
	return strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"), err
}

// word reads up to the next space.
func (s *stream) word() (string, error) {
	var word []byte
	for {
		b, err := s.r.ReadByte()
		space := b == ' ' || b == '\t' || b == '\n' || b == '\r'
		switch {
		case err != nil && len(word) > 0:
			return string(word), nil
		case err != nil:
			return "", err
		case space && len(word) > 0:
			return string(word), s.r.UnreadByte()
		case !space:
			word = append(word, b)
		}
	}
}
