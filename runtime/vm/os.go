package vm

import (
	"context"
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
		if v, ok := in.opt.Env(L.CheckString(1)); ok {
			L.Push(lua.LString(v))
		} else {
			L.Push(lua.LNil)
		}
		return 1
	})
	set("execute", in.shell)
	for _, name := range []string{"remove", "rename"} {
		in.fromDir(lib, name, 2)
	}
	in.fromDir(in.main.GetGlobal("io").(*lua.LTable), "open", 1)
}

// fromDir makes the path arguments of a library function start from
// Options.Dir.
func (in *Interp) fromDir(lib *lua.LTable, name string, paths int) {
	if in.opt.Dir == "" {
		return
	}
	call := lib.RawGetString(name).(*lua.LFunction)
	original := call.GFunction
	call.GFunction = func(L *lua.LState) int {
		for i := 1; i <= min(paths, L.GetTop()); i++ {
			if s, ok := L.Get(i).(lua.LString); ok {
				L.Replace(i, lua.LString(in.Path(string(s))))
			}
		}
		return original(L)
	}
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
	code := 0
	err := Blocking(L, func(ctx context.Context) error {
		args := []string{"sh", "-c", command}
		if runtime.GOOS == "windows" {
			args = []string{"cmd", "/C", command}
		}
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.WaitDelay = 100 * time.Millisecond // its children may keep the output open
		cmd.Dir = in.opt.Dir
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
