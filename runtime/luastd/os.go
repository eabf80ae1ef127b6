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

// openOS replaces the functions of os: they use the interpreter's environment and sandboxed files, and do not
// wait with the lock held.
func (l *library) openOS(L *lua.LState) {
	set(L, "os", map[string]lua.LGFunction{
		"clock": l.clock, "date": l.date, "difftime": difference, "execute": l.execute, "exit": exit, "getenv": l.getenv,
		"setenv": l.setenv, "remove": l.remove, "rename": l.rename, "setlocale": setLocale, "time": l.time,
		"tmpname": l.tmpname,
	})
}

// setLocale implements os.setlocale, for the locale C only.
func setLocale(L *lua.LState) int {
	locale := optString(L, 1, "")
	checkOption(L, 2, "all", "all", "collate", "ctype", "monetary", "numeric", "time")
	switch locale {
	case "", "C", "POSIX":
		L.Push(lua.LString("C"))
	default:
		L.Push(lua.LNil)
	}
	return 1
}

func exit(L *lua.LState) int {
	code := 0
	switch v := L.Get(1).(type) {
	case lua.LBool:
		if !bool(v) {
			code = 1
		}
	default:
		code = optInt(L, 1, 0)
	}
	vm.Stop(L, &vm.Exit{Code: code})
	return 0
}

func (l *library) getenv(L *lua.LState) int {
	v, ok, err := l.Env(checkString(L, 1))
	vm.Must(L, err)
	if ok {
		return vm.Push(L, lua.LString(v))
	}
	return vm.Push(L, lua.LNil)
}

func (l *library) setenv(L *lua.LState) int {
	name, value := checkString(L, 1), checkString(L, 2)
	l.permit(L, sandbox.Env, name)
	if l.Seals() { // the process may outlive the rehearsal
		l.SetEnv(name, value)
		return result(L, nil)
	}
	return result(L, os.Setenv(name, value))
}

// permit raises an error if the script has no access.
func (l *library) permit(L *lua.LState, a sandbox.Access, what string) {
	vm.Must(L, l.Permit(a, what))
}

func (l *library) remove(L *lua.LState) int {
	path := checkString(L, 1)
	return result(L, luaFileError(l.Remove(vm.Context(L), l.Path(path), false), path))
}

func (l *library) rename(L *lua.LState) int {
	from, to := checkString(L, 1), checkString(L, 2)
	return result(L, luaFileError(l.Rename(vm.Context(L), l.Path(from), l.Path(to)), from))
}

func (l *library) tmpname(L *lua.LState) int {
	l.permit(L, sandbox.Write, os.TempDir())
	dir := ""
	if l.Seals() { // the file would stay
		var err error
		if dir, err = l.TempDir("transect-"); err != nil {
			vm.RaiseText(L, "cannot make a temporary name: %s", err)
		}
	}
	file, err := os.CreateTemp(dir, "lua_*")
	if err != nil {
		vm.RaiseText(L, "cannot make a temporary name: %s", err)
	}
	_ = file.Close() // nothing was written
	return vm.Push(L, lua.LString(file.Name()))
}

func (l *library) execute(L *lua.LState) int {
	if !given(L, 1) {
		L.Push(lua.LNumber(1)) // there is a shell
		return 1
	}
	command := checkString(L, 1)
	l.permit(L, sandbox.Exec, sandbox.Shell)
	if !vm.Happens(L, sandbox.Effect{Kind: sandbox.RunProgram, What: command, Answers: true}) {
		return vm.Push(L, lua.LNumber(0))
	}
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
	vm.Must(L, err)
	return vm.Push(L, lua.LNumber(code))
}

// commandInput returns the standard input for a command: a file, or the terminal behind a prompt, or nothing.
// Copying from another reader would consume what the command does not read, such as the next typed line.
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

// shell returns a command that runs in the system's shell.
func (l *library) shell(ctx context.Context, command string) *exec.Cmd {
	args := []string{sandbox.Shell, "-c", command}
	if runtime.GOOS == "windows" {
		args = []string{"cmd", "/C", command}
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = l.Options().Dir, l.Environ()
	return cmd
}
