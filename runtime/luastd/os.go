package luastd

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/sandbox"
	"transect/runtime/vm"
)

// The functions of os that touch the world: the interpreter's environment,
// sandboxed files, and no waiting with the lock held.

func exit(L *lua.LState) int {
	code := 0
	switch v := L.Get(1).(type) {
	case lua.LNumber:
		code = int(v)
	case lua.LBool:
		if !bool(v) {
			code = 1
		}
	}
	vm.Stop(L, &vm.Exit{Code: code})
	return 0
}

func (l *library) getenv(L *lua.LState) int {
	v, ok, err := l.Env(L.CheckString(1))
	if err != nil {
		vm.Raise(L, err)
	}
	if ok {
		L.Push(lua.LString(v))
	} else {
		L.Push(lua.LNil)
	}
	return 1
}

func (l *library) setenv(L *lua.LState) int {
	name, value := L.CheckString(1), L.CheckString(2)
	l.permit(L, sandbox.Env, name)
	return result(L, os.Setenv(name, value))
}

// permit raises an error when the script may not reach something.
func (l *library) permit(L *lua.LState, a sandbox.Access, what string) {
	if err := l.Permit(a, what); err != nil {
		vm.Raise(L, err)
	}
}

func (l *library) remove(L *lua.LState) int {
	path := L.CheckString(1)
	return result(L, luaFileError(l.Remove(l.Path(path), false), path))
}

func (l *library) rename(L *lua.LState) int {
	from, to := L.CheckString(1), L.CheckString(2)
	return result(L, luaFileError(l.Rename(l.Path(from), l.Path(to)), from))
}

func (l *library) tmpname(L *lua.LState) int {
	l.permit(L, sandbox.Write, os.TempDir())
	file, err := os.CreateTemp("", "lua_*")
	if err != nil {
		L.RaiseError("cannot make a temporary name: %s", err)
	}
	_ = file.Close() // nothing was written
	L.Push(lua.LString(file.Name()))
	return 1
}

func (l *library) execute(L *lua.LState) int {
	if L.GetTop() == 0 {
		L.Push(lua.LNumber(1)) // there is a shell
		return 1
	}
	command := L.CheckString(1)
	l.permit(L, sandbox.Exec, sandbox.Shell)
	code, opt := 0, l.Options()
	err := vm.Blocking(L, func(ctx context.Context) error {
		cmd := l.shell(ctx, command)
		cmd.Stdin = commandInput(opt.Stdin)
		out := &outputs{command: command}
		var err error
		if cmd.Stdout, err = out.connect(opt.Stdout); err == nil {
			cmd.Stderr, err = out.connect(opt.Stderr)
		}
		if err = out.start(cmd, err); err == nil {
			err = out.wait(ctx, cmd, opt)
		}
		if _, failed := errors.AsType[*exec.ExitError](err); failed {
			code = cmd.ProcessState.ExitCode()
			return ctx.Err()
		}
		return err
	})
	if err != nil {
		vm.Raise(L, err)
	}
	L.Push(lua.LNumber(code))
	return 1
}

// commandInput is the standard input of a command: a file, or that of the
// terminal behind a prompt, or nothing. A copy of another reader would take what
// the command does not read, such as the next line typed.
func commandInput(stdin io.Reader) io.Reader {
	switch in := stdin.(type) {
	case *os.File:
		return in
	case interface{ TerminalFile() *os.File }:
		if file := in.TerminalFile(); file != nil {
			return file
		}
	}
	return nil
}

// shell is a command for the system's shell.
func (l *library) shell(ctx context.Context, command string) *exec.Cmd {
	args := []string{sandbox.Shell, "-c", command}
	if runtime.GOOS == "windows" {
		args = []string{"cmd", "/C", command}
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = l.Options().Dir
	return cmd
}
