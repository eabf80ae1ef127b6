package luastd

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/engine/number"
	"transect/runtime/vm"
)

// write implements file:write; the values start at argument first.
func write(L *lua.LState, f *file, first int) int {
	if f.w == nil {
		return failed(L, errors.New(f.name+" is not open for writing"))
	}
	b := &text{f.in.NewText("write"), L}
	wrong := 0
	for i := first; i <= L.GetTop() && wrong == 0; i++ {
		piece, ok := number.TextOf(L.Get(i))
		if b.write(piece); !ok {
			wrong = i
		}
	}
	var err error
	switch {
	case f.standard():
		if err = emit(f.w, b.String()); err != nil {
			vm.Raise(L, err)
		}
	case f.buffered != nil:
		_, err = f.buffered.WriteString(b.String())
	default:
		err = vm.Blocking(L, func(context.Context) error {
			if err := f.dropReadAhead(); err != nil {
				return err
			}
			_, err := io.WriteString(f.w, b.String())
			return err
		})
	}
	if wrong > 0 {
		vm.TypeError(L, wrong, "string")
	}
	if err != nil {
		return failed(L, luaFileError(err, ""))
	}
	L.Push(f.self) // for chaining
	return 1
}

// dropReadAhead moves the file offset back to the position of the script.
func (f *file) dropReadAhead() error {
	if f.r == nil || f.disk == nil || f.r.Buffered() == 0 {
		return nil
	}
	_, err := f.disk.Seek(-int64(f.r.Buffered()), io.SeekCurrent)
	f.r.Reset(f.disk)
	return err
}

func (f *file) flush() error {
	if f.buffered == nil {
		return nil
	}
	return f.buffered.Flush()
}

func setvbuf(L *lua.LState) int {
	f := fileArg(L)
	mode := checkOption(L, 2, "", "no", "full", "line")
	if f.standard() || f.w == nil {
		return result(L, nil)
	}
	err := f.flush()
	f.buffered = nil
	if mode == "full" {
		f.buffered = bufio.NewWriterSize(f.w, min(max(optInt(L, 3, 4096), 16), 1<<20))
	}
	return result(L, err)
}

func seek(L *lua.LState) int {
	f := fileArg(L)
	whence := map[string]int{"set": io.SeekStart, "cur": io.SeekCurrent,
		"end": io.SeekEnd}[checkOption(L, 2, "cur", "set", "cur", "end")]
	offset := int64(optLong(L, 3, 0))
	if f.disk == nil {
		return failed(L, errors.New("cannot seek in "+f.name))
	}
	err := errors.Join(f.flush(), f.dropReadAhead())
	if err == nil {
		offset, err = f.disk.Seek(offset, whence)
	}
	if err != nil {
		return failed(L, luaFileError(err, ""))
	}
	return vm.Push(L, lua.LNumber(offset))
}

// closeFile closes a file. For a pipe it waits for the program and returns its exit code. The standard
// streams stay open.
func closeFile(L *lua.LState, f *file) int {
	if f.standard() {
		return result(L, nil)
	}
	f.closed = true
	err := f.flush()
	if f.disk != nil {
		return result(L, luaFileError(errors.Join(err, f.disk.Close()), f.name))
	}
	_ = f.pipe.Close() // the program may have closed it
	err = vm.Blocking(L, func(ctx context.Context) error {
		stop := context.AfterFunc(ctx, func() { _ = f.cmd.Process.Kill() })
		defer stop()
		err := f.outputs.wait(ctx, f.cmd, vm.Of(L).Options())
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	})
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, os.ErrClosed) {
		vm.Raise(L, err)
	}
	return vm.Push(L, lua.LNumber(f.cmd.ProcessState.ExitCode()))
}
