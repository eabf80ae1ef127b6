package luastd

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/sandbox"
	"transect/runtime/vm"
)

func streamRead(L *lua.LState, s *stream, first int) int {
	if s.r == nil {
		return failed(L, errors.New(s.name+" is not open for reading"))
	}
	formats := vm.Args(L, first)
	if len(formats) == 0 {
		formats = []lua.LValue{lua.LString("*l")}
	}
	for i, format := range formats {
		format = kindOf(L, format, first+i)
		text, ok, err := s.read(L, format)
		if err != nil {
			return failed(L, named(err, s.name))
		}
		number, bad := 0.0, error(nil)
		if format == lua.LString("*n") && ok {
			number, bad = strconv.ParseFloat(text, 64)
		}
		switch {
		case !ok || bad != nil:
			L.Push(lua.LNil)
			return i + 1
		case format == lua.LString("*n"):
			L.Push(lua.LNumber(number))
		default:
			L.Push(lua.LString(text))
		}
	}
	return len(formats)
}

// kindOf brings what to read into one form: a number, *a, *l or *n.
func kindOf(L *lua.LState, format lua.LValue, place int) lua.LValue {
	if n, ok := format.(lua.LNumber); ok {
		return n
	}
	if text := strings.TrimPrefix(format.String(), "*"); text != "" && strings.Contains("aln", text[:1]) {
		return lua.LString("*" + text[:1])
	}
	L.ArgError(place, "invalid format")
	return lua.LNil
}

func streamLines(L *lua.LState, s *stream, closing bool) int {
	if s.r == nil {
		L.RaiseError("%s is not open for reading", s.name)
	}
	L.Push(L.NewFunction(func(L *lua.LState) int {
		if s.closed {
			L.RaiseError("file is already closed")
		}
		line, ok, err := s.read(L, lua.LString("*l"))
		if err != nil {
			raiseFile(L, named(err, s.name))
		}
		if ok {
			L.Push(lua.LString(line))
			return 1
		}
		if closing {
			s.closed = true
			_ = s.file.Close() // only read from
		}
		L.Push(lua.LNil)
		return 1
	}))
	return 1
}

// buffered takes a line that has been read already.
func (s *stream) buffered(format lua.LValue) (string, bool) {
	if format != lua.LString("*l") {
		return "", false
	}
	select {
	case s.turn <- struct{}{}:
	default:
		return "", false
	}
	defer func() { <-s.turn }()
	ready, _ := s.r.Peek(s.r.Buffered())
	n := bytes.IndexByte(ready, '\n')
	if n < 0 {
		return "", false
	}
	line := strings.TrimSuffix(string(ready[:n]), "\r")
	_, _ = s.r.Discard(n + 1) // it is there
	return line, true
}

// read takes one item off the stream. Nothing can interrupt a read from a
// terminal, so it happens aside: a cancelled task does not wait for it.
func (s *stream) read(L *lua.LState, format lua.LValue) (text string, ok bool, err error) {
	if line, ok := s.buffered(format); ok {
		return line, true, nil
	}
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	var got result
	err = vm.Blocking(L, func(ctx context.Context) error {
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
		vm.Raise(L, err)
	}
	if got.err == io.EOF {
		return "", false, nil
	}
	return got.text, got.err == nil, got.err
}

// take reads one item; io.EOF means there was none.
func (s *stream) take(format lua.LValue) (string, error) {
	if n, ok := format.(lua.LNumber); ok {
		if n == 0 {
			_, err := s.r.Peek(1)
			return "", err
		}
		text, err := s.all(int64(min(max(float64(n), 0), 1<<62)))
		if err == nil && text == "" {
			err = io.EOF
		}
		return text, err
	}
	switch strings.TrimPrefix(format.String(), "*") {
	case "a":
		return s.all(1 << 62)
	case "n":
		return s.word()
	}
	var line []byte
	for {
		piece, err := s.r.ReadSlice('\n')
		if line = append(line, piece...); len(line) > s.most {
			return "", sandbox.TooLong("read", float64(len(line)), s.most)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && len(line) > 0:
			err = nil
		}
		text := strings.TrimSuffix(string(line), "\n")
		return strings.TrimSuffix(text, "\r"), err
	}
}

// all reads up to n bytes.
func (s *stream) all(n int64) (string, error) {
	var b strings.Builder
	_, err := io.Copy(&b, io.LimitReader(s.r, min(n, int64(s.most)+1)))
	if b.Len() > s.most {
		return "", sandbox.TooLong("read", float64(b.Len()), s.most)
	}
	return b.String(), err
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
			if word = append(word, b); len(word) > 200 {
				return string(word), nil // no number is that long
			}
		}
	}
}
