package vm

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// openOS keeps the os library inside the interpreter's world: its environment,
// its way to end, and no waiting with the lock held.
func (in *Interp) openOS() {
	lib := in.main.GetGlobal("os").(*lua.LTable)
	set := func(name string, f lua.LGFunction) { lib.RawSetString(name, in.main.NewFunction(f)) }
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
		Stop(L, &Exit{code})
		return 0
	})
	set("getenv", func(L *lua.LState) int {
		v, ok, err := in.Env(L.CheckString(1))
		if err != nil {
			Raise(L, err)
		}
		if ok {
			L.Push(lua.LString(v))
		} else {
			L.Push(lua.LNil)
		}
		return 1
	})
	set("execute", in.shell)
	set("remove", func(L *lua.LState) int {
		path := L.CheckString(1)
		folder, name, err := in.Folder(in.Path(path))
		if err == nil {
			err = folder.Remove(name)
			folder.Close()
		}
		return result(L, named(err, path))
	})
	set("rename", func(L *lua.LState) int {
		from, to := L.CheckString(1), L.CheckString(2)
		return result(L, named(in.rename(in.Path(from), in.Path(to)), from))
	})
	set("tmpname", func(L *lua.LState) int {
		if err := in.Permit(Write, os.TempDir()); err != nil {
			Raise(L, err)
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
		if err := in.Permit(Env, name); err != nil {
			Raise(L, err)
		}
		return result(L, os.Setenv(name, value))
	})
}

// rename moves a file. What is read at the new place was at the old one, so
// with walls it must be readable too.
func (in *Interp) rename(from, to string) error {
	if !in.Walled() {
		return os.Rename(from, to)
	}
	if err := in.Permit(Read, from); err != nil {
		return err
	}
	source, name, err := in.Folder(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, other, err := in.Folder(to)
	if err != nil {
		return err
	}
	defer target.Close()
	return renameAt(source, name, target, other)
}

// Stop ends the run with err as its outcome: no further Lua runs, whatever
// catches errors in between. It does not return.
func Stop(L *lua.LState, err error) {
	Of(L).Interrupt(err)
	L.RaiseError("the run ends here")
}

func (in *Interp) shell(L *lua.LState) int {
	if L.GetTop() == 0 {
		L.Push(lua.LNumber(1)) // there is a shell
		return 1
	}
	command := L.CheckString(1)
	if err := in.Permit(Exec, Shell); err != nil {
		Raise(L, err)
	}
	code := 0
	err := Blocking(L, func(ctx context.Context) error {
		cmd := in.shellCommand(ctx, command)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = in.opt.Stdin, in.opt.Stdout, in.opt.Stderr
		err := cmd.Run()
		if _, failed := err.(*exec.ExitError); failed {
			code = cmd.ProcessState.ExitCode()
			return ctx.Err()
		}
		return err
	})
	if err != nil {
		Raise(L, err)
	}
	L.Push(lua.LNumber(code))
	return 1
}

// shellCommand is a program run by the system's shell.
func (in *Interp) shellCommand(ctx context.Context, command string) *exec.Cmd {
	args := []string{Shell, "-c", command}
	if runtime.GOOS == "windows" {
		args = []string{"cmd", "/C", command}
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.WaitDelay = 100 * time.Millisecond // its children may keep the output open
	cmd.Dir = in.opt.Dir
	return cmd
}
