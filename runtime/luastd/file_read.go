package luastd

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/engine/number"
	"transect/runtime/vm"
)

const unlimited = 1 << 62

// read implements file:read; its formats start at argument first.
func read(L *lua.LState, f *file, first int) int {
	if f.r == nil {
		return failed(L, errors.New(f.name+" is not open for reading"))
	}
	formats := vm.Args(L, first)
	if len(formats) == 0 {
		formats = []lua.LValue{lua.LString("*l")}
	}
	for i, format := range formats {
		format = normalized(L, format, first+i)
		text, err := f.read(L, format)
		if err != nil && err != io.EOF {
			return failed(L, luaFileError(err, f.name))
		}
		value := lua.LValue(lua.LString(text))
		if format == lua.LString("*n") && err == nil {
			n, ok := number.Of(value)
			if value = n; !ok {
				err = io.EOF
			}
		}
		if err != nil {
			L.Push(lua.LNil)
			return i + 1
		}
		L.Push(value)
	}
	return len(formats)
}

// normalized converts a read format to a number, *a, *l or *n.
func normalized(L *lua.LState, format lua.LValue, arg int) lua.LValue {
	if n, ok := format.(lua.LNumber); ok {
		return n
	}
	text, _ := format.(lua.LString)
	name, starred := strings.CutPrefix(string(text), "*")
	if name != "" && strings.Contains("aln", name[:1]) {
		return lua.LString("*" + name[:1])
	}
	if !starred {
		vm.ArgError(L, arg, "invalid option")
	}
	vm.ArgError(L, arg, "invalid format")
	return lua.LNil
}

// lines returns an iterator over the lines of a file, which it closes at the end if closing is set.
func lines(L *lua.LState, f *file, closing bool) int {
	if f.r == nil {
		vm.RaiseText(L, "%s is not open for reading", f.name)
	}
	L.Push(L.NewFunction(func(L *lua.LState) int {
		if f.closed {
			vm.RaiseText(L, "file is already closed")
		}
		line, err := f.read(L, lua.LString("*l"))
		switch {
		case err == nil:
			return vm.Push(L, lua.LString(line))
		case err != io.EOF:
			raiseFile(L, luaFileError(err, f.name))
		case closing:
			f.closed = true
			_ = f.disk.Close() // only read from
		}
		return vm.Push(L, lua.LNil)
	}))
	return 1
}

// read reads one item; io.EOF means there was none.
func (f *file) read(L *lua.LState, format lua.LValue) (string, error) {
	if line, ok := f.bufferedLine(format); ok {
		return line, nil
	}
	return background(L, func() (string, error) {
		f.reading <- struct{}{}
		defer func() { <-f.reading }()
		return f.readItem(format)
	})
}

// bufferedLine returns a line that is already in the buffer, without waiting.
func (f *file) bufferedLine(format lua.LValue) (string, bool) {
	if format != lua.LString("*l") {
		return "", false
	}
	select {
	case f.reading <- struct{}{}:
	default:
		return "", false
	}
	defer func() { <-f.reading }()
	ready, _ := f.r.Peek(f.r.Buffered())
	n := bytes.IndexByte(ready, '\n')
	if n < 0 {
		return "", false
	}
	line := string(ready[:n])
	_, _ = f.r.Discard(n + 1) // it is in the buffer
	return line, true
}

func (f *file) readItem(format lua.LValue) (string, error) {
	switch format {
	case lua.LString("*a"):
		return f.readBytes(unlimited)
	case lua.LString("*n"):
		return f.readNumber()
	case lua.LString("*l"):
		return f.readLine()
	case lua.LNumber(0):
		_, err := f.r.Peek(1)
		return "", err
	}
	text, err := f.readBytes(int64(min(max(float64(format.(lua.LNumber)), 0), unlimited)))
	if err == nil && text == "" {
		err = io.EOF
	}
	return text, err
}

// readBytes reads up to n bytes.
func (f *file) readBytes(n int64) (string, error) {
	b := f.in.NewText("read")
	_, err := io.Copy(b, io.LimitReader(f.r, min(n, int64(f.in.MaxText())+1)))
	return b.String(), err
}

func (f *file) readLine() (string, error) {
	line := f.in.NewText("read")
	for {
		piece, err := f.r.ReadSlice('\n')
		if _, tooLong := line.Write(piece); tooLong != nil {
			return "", tooLong
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && line.Len() > 0:
			err = nil
		}
		return strings.TrimSuffix(line.String(), "\n"), err
	}
}

// longestNumber limits the characters read of a number.
const longestNumber = 200

// readNumber reads a possible number like C's scanf, as long as it could be the beginning of one.
func (f *file) readNumber() (string, error) {
	s := &numberScanner{f: f}
	for {
		c, ok := s.peek()
		if !ok || strings.IndexByte(" \t\n\v\f\r", c) < 0 {
			break
		}
		_, _ = f.r.Discard(1) // it is in the buffer
	}
	if _, ok := s.peek(); !ok {
		return "", io.EOF
	}
	digits, exponent := "0123456789", "eE"
	s.one("+-")
	if s.one("iInN") {
		s.many("infatyINFATY")
		return string(s.read), nil
	}
	if s.one("0") && s.one("xX") {
		digits, exponent = "0123456789abcdefABCDEF", "pP"
	}
	s.many(digits)
	if s.one(".") {
		s.many(digits)
	}
	if s.one(exponent) {
		s.one("+-")
		s.many("0123456789")
	}
	return string(s.read), nil
}

type numberScanner struct {
	f    *file
	read []byte
}

func (s *numberScanner) peek() (byte, bool) {
	next, err := s.f.r.Peek(1)
	if err != nil || len(s.read) >= longestNumber {
		return 0, false
	}
	return next[0], true
}

// one consumes the next character if it is in a set.
func (s *numberScanner) one(set string) bool {
	c, ok := s.peek()
	if !ok || strings.IndexByte(set, c) < 0 {
		return false
	}
	s.read = append(s.read, c)
	_, _ = s.f.r.Discard(1) // it is in the buffer
	return true
}

func (s *numberScanner) many(set string) {
	for s.one(set) {
	}
}
