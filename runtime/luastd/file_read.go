package luastd

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/vm"
)

const unlimited = 1 << 62

// read is file:read; its formats start at argument first.
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
			var number float64
			number, err = strconv.ParseFloat(text, 64)
			value = lua.LNumber(number)
		}
		if err != nil {
			L.Push(lua.LNil)
			return i + 1
		}
		L.Push(value)
	}
	return len(formats)
}

// normalized is a read format as a number, *a, *l or *n.
func normalized(L *lua.LState, format lua.LValue, arg int) lua.LValue {
	if n, ok := format.(lua.LNumber); ok {
		return n
	}
	if text := strings.TrimPrefix(format.String(), "*"); text != "" && strings.Contains("aln", text[:1]) {
		return lua.LString("*" + text[:1])
	}
	L.ArgError(arg, "invalid format")
	return lua.LNil
}

// lines returns an iterator over the lines of a file, which it may close at the end.
func lines(L *lua.LState, f *file, closing bool) int {
	if f.r == nil {
		L.RaiseError("%s is not open for reading", f.name)
	}
	L.Push(L.NewFunction(func(L *lua.LState) int {
		if f.closed {
			L.RaiseError("file is already closed")
		}
		line, err := f.read(L, lua.LString("*l"))
		switch {
		case err == nil:
			L.Push(lua.LString(line))
			return 1
		case err != io.EOF:
			raiseFile(L, luaFileError(err, f.name))
		case closing:
			f.closed = true
			_ = f.disk.Close() // only read from
		}
		L.Push(lua.LNil)
		return 1
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

// bufferedLine takes a line that is in the buffer already, without waiting.
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
	line := strings.TrimSuffix(string(ready[:n]), "\r")
	_, _ = f.r.Discard(n + 1) // it is in the buffer
	return line, true
}

func (f *file) readItem(format lua.LValue) (string, error) {
	switch format {
	case lua.LString("*a"):
		return f.readBytes(unlimited)
	case lua.LString("*n"):
		return f.readWord()
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
		return strings.TrimSuffix(strings.TrimSuffix(line.String(), "\n"), "\r"), err
	}
}

// readWord reads up to the next space.
func (f *file) readWord() (string, error) {
	var word []byte
	for {
		b, err := f.r.ReadByte()
		space := strings.IndexByte(" \t\n\r", b) >= 0
		switch {
		case err != nil && len(word) > 0:
			return string(word), nil
		case err != nil:
			return "", err
		case space && len(word) > 0:
			return string(word), f.r.UnreadByte()
		case !space:
			if word = append(word, b); len(word) > 200 {
				return string(word), nil // no number is that long
			}
		}
	}
}
