package luastd

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/suggest"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
)

// loading is a module under way. Loading may wait, so another task can ask
// for the same module meanwhile: it waits for the first.
type loading struct {
	task *vm.Task
	done chan struct{}
}

func (l *library) openRequire() {
	var folders []string
	if l.in.Options().Script != "" {
		folders = append(folders, filepath.Dir(l.in.Path(l.in.Options().Script)))
	} else {
		folders = append(folders, l.in.Path("."))
	}
	for _, p := range l.in.Options().Path {
		folders = append(folders, l.in.Path(p))
	}
	for _, dir := range folders {
		l.folders = append(l.folders, sandbox.Canonical(dir))
	}
	var patterns []string
	for _, dir := range folders {
		patterns = append(patterns, filepath.Join(dir, "?.lua"), filepath.Join(dir, "?", "init.lua"))
	}
	lib := l.L.GetGlobal("package").(*lua.LTable)
	lib.RawSetString("path", lua.LString(strings.Join(patterns, ";")))
	// Loaders of the interpreter's own read any file, and nothing asks them.
	lib.RawSetString("loaders", l.L.NewTable())
	l.L.SetGlobal("require", l.L.NewFunction(l.require))
}

func (l *library) require(L *lua.LState) int {
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
		other := l.loading[name]
		if other == nil {
			break
		}
		if other.task == vm.CurrentTask(L) {
			vm.Raise(L, fault.Of(&fault.RuntimeError{}, "module %s requires itself", name))
		}
		if err := vm.Blocking(L, func(ctx context.Context) error {
			select {
			case <-other.done:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}); err != nil {
			vm.Raise(L, err)
		}
	}
	own := &loading{task: vm.CurrentTask(L), done: make(chan struct{})}
	l.loading[name] = own
	defer func() {
		delete(l.loading, name)
		close(own.done)
	}()
	v := l.load(L, lib, name)
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

func (l *library) load(L *lua.LState, lib *lua.LTable, name string) lua.LValue {
	if preload, ok := lib.RawGetString("preload").(*lua.LTable); ok {
		if fn := preload.RawGetString(name); fn != lua.LNil {
			return callLoader(L, fn, name)
		}
	}
	if load := l.in.Loader(name); load != nil {
		return load(L)
	}
	path, tried := l.find(lib.RawGetString("path").String(), name)
	if path == "" {
		vm.Raise(L, l.notFound(name, tried))
	}
	code, err := l.in.ReadModule(path, l.folders)
	if err != nil {
		if fault.Find(err) != nil {
			vm.Raise(L, err)
		}
		vm.Raise(L, fault.Of(&fault.FileError{}, "module %s: %w", name, err))
	}
	fn, err := l.in.Compile(L, path, code)
	if err != nil {
		vm.Raise(L, err)
	}
	return callLoader(L, fn, name)
}

func callLoader(L *lua.LState, fn lua.LValue, name string) lua.LValue {
	L.Push(fn)
	L.Push(lua.LString(name))
	L.Call(1, 1)
	v := L.Get(-1)
	L.Pop(1)
	return v
}

func (l *library) find(patterns, name string) (path string, tried []string) {
	name = strings.ReplaceAll(name, ".", string(filepath.Separator))
	for _, pattern := range strings.Split(patterns, ";") {
		path := l.in.Path(strings.ReplaceAll(pattern, "?", name))
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path, nil
		}
		tried = append(tried, path)
	}
	return "", tried
}

func (l *library) notFound(name string, tried []string) error {
	return fault.Hinted(fault.Of(&fault.RuntimeError{}, "module %s not found%s", name, suggest.Suffix(name, l.in.Loaders())),
		"looked at %s; further folders are named with --path", strings.Join(tried, ", "))
}
