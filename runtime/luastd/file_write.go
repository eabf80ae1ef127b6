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

	"transect/runtime/vm"
)

func (l *library) write(L *lua.LState, s *stream, first int) int {
	if s.w == nil {
		return failed(L, errors.New(s.name+" is not open for writing"))
	}
	var b strings.Builder
	for i := first; i <= L.GetTop(); i++ {
		b.WriteString(L.CheckString(i))
		if b.Len() > l.in.MaxText() {
			vm.Raise(L, l.tooLong("write", float64(b.Len())))
		}
	}
	var err error
	switch {
	case s.standard():
		_, err = io.WriteString(s.w, b.String())
		if err != nil {
			vm.Raise(L, err)
		}
	case s.held != nil:
		_, err = s.held.WriteString(b.String())
	default:
		err = vm.Blocking(L, func(context.Context) error {
			if err := s.forget(); err != nil {
				return err
			}
			_, err := io.WriteString(s.w, b.String())
			return err
		})
	}
	if err != nil {
		return failed(L, named(err, s.name))
	}
	L.Push(s.self) // so that writes can follow one another
	return 1
}

// forget drops what was read ahead, so that writing and seeking start where
// the script thinks it is.
func (s *stream) forget() error {
	if s.r == nil || s.file == nil || s.r.Buffered() == 0 {
		return nil
	}
	_, err := s.file.Seek(-int64(s.r.Buffered()), io.SeekCurrent)
	s.r.Reset(s.file)
	return err
}

func (s *stream) flush() error {
	if s.held == nil {
		return nil // nothing is held back
	}
	return s.held.Flush()
}

func setvbuf(L *lua.LState) int {
	s := streamArg(L)
	mode := L.CheckString(2)
	if mode != "no" && mode != "full" && mode != "line" {
		L.ArgError(2, "invalid option: "+mode)
	}
	if s.standard() || s.w == nil {
		return result(L, nil)
	}
	err := s.flush()
	s.held = nil
	if mode == "full" {
		s.held = bufio.NewWriterSize(s.w, min(max(L.OptInt(3, 4096), 16), 1<<20))
	}
	return result(L, err)
}

func seek(L *lua.LState) int {
	s := streamArg(L)
	whence, known := map[string]int{"set": io.SeekStart, "cur": io.SeekCurrent, "end": io.SeekEnd}[L.OptString(2, "cur")]
	if !known {
		L.ArgError(2, "invalid option: "+L.CheckString(2))
	}
	if s.file == nil {
		return failed(L, errors.New("cannot seek in "+s.name))
	}
	err := errors.Join(s.flush(), s.forget())
	var at int64
	if err == nil {
		at, err = s.file.Seek(L.OptInt64(3, 0), whence)
	}
	if err != nil {
		return failed(L, named(err, s.name))
	}
	L.Push(lua.LNumber(at))
	return 1
}

// close closes a file; of a program it waits for the end and gives its exit
// code. The standard streams are not the script's to close.
func (l *library) close(L *lua.LState, s *stream) int {
	if s.standard() {
		return result(L, nil)
	}
	s.closed = true
	err := s.flush()
	if s.file != nil {
		return result(L, named(errors.Join(err, s.file.Close()), s.name))
	}
	_ = s.pipe.Close() // the program may have closed it
	err = vm.Blocking(L, func(ctx context.Context) error {
		kill := context.AfterFunc(ctx, func() { _ = s.cmd.Process.Kill() })
		defer kill()
		err := s.cmd.Wait()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	})
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, os.ErrClosed) {
		vm.Raise(L, err)
	}
	L.Push(lua.LNumber(s.cmd.ProcessState.ExitCode()))
	return 1
}
