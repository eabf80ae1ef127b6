package luastd

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"time"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/sandbox"
	"transect/runtime/vm"
)

// openOS keeps the os library inside the interpreter's world: its environment,
// its way to end, and no waiting with the lock held.
func (l *library) openOS() {
	lib := l.L.GetGlobal("os").(*lua.LTable)
	set := func(name string, f lua.LGFunction) { lib.RawSetString(name, l.L.NewFunction(f)) }
	set("exit", func(L *lua.LState) int {
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
	})
	set("getenv", func(L *lua.LState) int {
		v, ok, err := l.in.Env(L.CheckString(1))
		if err != nil {
			vm.Raise(L, err)
		}
		if ok {
			L.Push(lua.LString(v))
		} else {
			L.Push(lua.LNil)
		}
		return 1
	})
	set("execute", l.shell)
	set("remove", func(L *lua.LState) int {
		path := L.CheckString(1)
		folder, name, err := l.in.Folder(l.in.Path(path))
		if err == nil {
			err = folder.Remove(name)
			folder.Close()
		}
		return result(L, named(err, path))
	})
	set("rename", func(L *lua.LState) int {
		from, to := L.CheckString(1), L.CheckString(2)
		return result(L, named(l.in.Rename(l.in.Path(from), l.in.Path(to)), from))
	})
	set("tmpname", func(L *lua.LState) int {
		if err := l.in.Permit(sandbox.Write, os.TempDir()); err != nil {
			vm.Raise(L, err)
		}
		file, err := os.CreateTemp("", "lua_*")
		if err != nil {
			L.RaiseError("cannot make a temporary name: %s", err)
		}
		_ = file.Close() // nothing was written
		L.Push(lua.LString(file.Name()))
		return 1
	})
	set("setenv", func(L *lua.LState) int {
		name, value := L.CheckString(1), L.CheckString(2)
		if err := l.in.Permit(sandbox.Env, name); err != nil {
			vm.Raise(L, err)
		}
		return result(L, os.Setenv(name, value))
	})
}

func (l *library) shell(L *lua.LState) int {
	if L.GetTop() == 0 {
		L.Push(lua.LNumber(1)) // there is a shell
		return 1
	}
	command := L.CheckString(1)
	if err := l.in.Permit(sandbox.Exec, sandbox.Shell); err != nil {
		vm.Raise(L, err)
	}
	code := 0
	err := vm.Blocking(L, func(ctx context.Context) error {
		cmd := l.shellCommand(ctx, command)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = l.in.Options().Stdin, l.in.Options().Stdout, l.in.Options().Stderr
		err := cmd.Run()
		if _, failed := err.(*exec.ExitError); failed {
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

// shellCommand is a program run by the system's shell.
func (l *library) shellCommand(ctx context.Context, command string) *exec.Cmd {
	args := []string{sandbox.Shell, "-c", command}
	if runtime.GOOS == "windows" {
		args = []string{"cmd", "/C", command}
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.WaitDelay = 100 * time.Millisecond // its children may keep the output open
	cmd.Dir = l.in.Options().Dir
	return cmd
}
