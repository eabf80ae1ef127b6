package vm

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
)

// loading is a module under way. Loading may wait, so another task can ask
// for the same module meanwhile: it waits for the first.
type loading struct {
	task *Task
	done chan struct{}
}

func (in *Interp) openRequire() {
	var folders []string
	if in.opt.Script != "" {
		folders = append(folders, filepath.Dir(in.Path(in.opt.Script)))
	} else {
		folders = append(folders, in.Path("."))
	}
	for _, p := range in.opt.Path {
		folders = append(folders, in.Path(p))
	}
	for _, dir := range folders {
		in.folders = append(in.folders, Canonical(dir))
	}
	var patterns []string
	for _, dir := range folders {
		patterns = append(patterns, filepath.Join(dir, "?.lua"), filepath.Join(dir, "?", "init.lua"))
	}
	lib := in.main.GetGlobal("package").(*lua.LTable)
	lib.RawSetString("path", lua.LString(strings.Join(patterns, ";")))
	// Loaders of the interpreter's own read any file, and nothing asks them.
	lib.RawSetString("loaders", in.main.NewTable())
	in.main.SetGlobal("require", in.main.NewFunction(in.require))
}

func (in *Interp) require(L *lua.LState) int {
	name := L.CheckString(1)
	lib, ok := L.GetGlobal("package").(*lua.LTable)
	if !ok {
		L.RaiseError("package must be a table")
	}
	for {
		if loaded, ok := lib.RawGetString("loaded").(*lua.LTable); ok {
			if v := loaded.RawGetString(name); lua.LVAsBool(v) {
				L.Push(v)
				return 1
			}
		}
		other := in.loading[name]
		if other == nil {
			break
		}
		if other.task == clockOf(L).task {
			Raise(L, fault.Of(&fault.RuntimeError{}, "module %s requires itself", name))
		}
		if err := Blocking(L, func(ctx context.Context) error {
			select {
			case <-other.done:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}); err != nil {
			Raise(L, err)
		}
	}
	own := &loading{task: clockOf(L).task, done: make(chan struct{})}
	in.loading[name] = own
	defer func() {
		delete(in.loading, name)
		close(own.done)
	}()
	v := in.load(L, lib, name)
	if loaded, ok := lib.RawGetString("loaded").(*lua.LTable); ok {
		if set := loaded.RawGetString(name); v == lua.LNil && set != lua.LNil {
			v = set // the module put itself there
		} else if v == lua.LNil {
			v = lua.LTrue
		}
		loaded.RawSetString(name, v)
	}
	L.Push(v)
	return 1
}

func (in *Interp) load(L *lua.LState, lib *lua.LTable, name string) lua.LValue {
	if preload, ok := lib.RawGetString("preload").(*lua.LTable); ok {
		if fn := preload.RawGetString(name); fn != lua.LNil {
			return callLoader(L, fn, name)
		}
	}
	if m := in.modules[name]; m != nil {
		return in.build(L, m)
	}
	path, tried := in.find(lib.RawGetString("path").String(), name)
	if path == "" {
		Raise(L, in.notFound(name, tried))
	}
	code, err := in.moduleCode(path)
	if err != nil {
		if fault.Find(err) != nil {
			Raise(L, err)
		}
		Raise(L, fault.Of(&fault.FileError{}, "module %s: %w", name, err))
	}
	fn, err := in.compile(L, path, code)
	if err != nil {
		Raise(L, err)
	}
	return callLoader(L, fn, name)
}

// moduleCode reads a file of a module. Those beside the script are part of it.
func (in *Interp) moduleCode(path string) ([]byte, error) {
	if !in.Walled() {
		return os.ReadFile(path)
	}
	real := Canonical(path)
	if !Below(real, in.folders...) {
		return in.ReadFile(path)
	}
	f, err := openTrue(real, os.O_RDONLY, 0)
	if err != nil {
		return nil, renamed(err, path)
	}
	defer f.Close()
	return io.ReadAll(f)
}

func callLoader(L *lua.LState, fn lua.LValue, name string) lua.LValue {
	L.Push(fn)
	L.Push(lua.LString(name))
	L.Call(1, 1)
	v := L.Get(-1)
	L.Pop(1)
	return v
}

func (in *Interp) find(patterns, name string) (path string, tried []string) {
	name = strings.ReplaceAll(name, ".", string(filepath.Separator))
	for _, pattern := range strings.Split(patterns, ";") {
		path := in.Path(strings.ReplaceAll(pattern, "?", name))
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path, nil
		}
		tried = append(tried, path)
	}
	return "", tried
}

func (in *Interp) notFound(name string, tried []string) error {
	known := make([]string, 0, len(in.modules))
	for m := range in.modules {
		known = append(known, m)
	}
	sort.Strings(known)
	return fault.Hinted(fault.Of(&fault.RuntimeError{}, "module %s not found%s", name, Suggestion(name, known)),
		"looked at %s; further folders are named with --path", strings.Join(tried, ", "))
}
