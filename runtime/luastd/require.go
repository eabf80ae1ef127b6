package luastd

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/suggest"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
	"transect/runtime/vm/mistake"
)

// loading is a module that is being loaded. Loading may wait, so another task
// can require the same module meanwhile: it waits for the first.
type loading struct {
	task *vm.Task
	done chan struct{}
}

// openPackage sets where require looks: beside the script, then in Options.Path.
func (l *library) openPackage(L *lua.LState) {
	opt := l.Options()
	folders := []string{l.Path(".")}
	if opt.Script != "" {
		folders[0] = filepath.Dir(l.Path(opt.Script))
	}
	for _, p := range opt.Path {
		folders = append(folders, l.Path(p))
	}
	var patterns []string
	for _, dir := range folders {
		l.folders = append(l.folders, sandbox.Canonical(dir))
		patterns = append(patterns, filepath.Join(dir, "?.lua"), filepath.Join(dir, "?", "init.lua"))
	}
	lib := L.GetGlobal("package").(*lua.LTable)
	lib.RawSetString("path", lua.LString(strings.Join(patterns, ";")))
	lib.RawSetString("cpath", lua.LString(""))
	lib.RawSetString("loaders", L.NewTable()) // gopher-lua's read any file
	set(L, "package", map[string]lua.LGFunction{
		"seeall":  seeAll,
		"loadlib": absent("package.loadlib", "libraries in C cannot be loaded"),
	})
}

func (l *library) require(L *lua.LState) int {
	name := checkString(L, 1)
	lib, ok := L.GetGlobal("package").(*lua.LTable)
	if !ok {
		vm.RaiseText(L, "package must be a table")
	}
	for {
		if loaded, ok := lib.RawGetString("loaded").(*lua.LTable); ok {
			if v := loaded.RawGetString(name); isTrue(v) {
				return vm.Push(L, v)
			}
		}
		other := l.loading[name]
		if other == nil {
			break
		}
		if other.task == vm.CurrentTask(L) {
			vm.Raise(L, fault.Of(&fault.RuntimeError{}, "module %s requires itself", name))
		}
		if _, err := vm.Wait(L, other.done); err != nil {
			vm.Raise(L, err)
		}
	}
	own := &loading{task: vm.CurrentTask(L), done: make(chan struct{})}
	l.loading[name] = own
	defer func() {
		delete(l.loading, name)
		close(own.done)
	}()
	v := l.loadModule(L, lib, name)
	if loaded, ok := lib.RawGetString("loaded").(*lua.LTable); ok {
		if set := loaded.RawGetString(name); v == lua.LNil && set != lua.LNil {
			v = set // the module put itself there
		} else if v == lua.LNil {
			v = lua.LTrue
		}
		loaded.RawSetString(name, v)
	}
	return vm.Push(L, v)
}

// loadModule takes a module from package.preload, from Go, or from a file.
func (l *library) loadModule(L *lua.LState, lib *lua.LTable, name string) lua.LValue {
	if preload, ok := lib.RawGetString("preload").(*lua.LTable); ok {
		if fn := preload.RawGetString(name); fn != lua.LNil {
			return vm.Call(L, fn, lua.LString(name))
		}
	}
	if load := l.Loader(name); load != nil {
		return load(L)
	}
	own, ownCode := l.ownModule(name)
	if ownCode != nil && l.Options().OwnModules {
		return l.runModule(L, own, ownCode, name)
	}
	path, tried, err := l.findModule(L, lib.RawGetString("path").String(), name)
	if path == "" && ownCode != nil {
		return l.runModule(L, own, ownCode, name)
	}
	vm.Must(L, err)
	if path == "" {
		vm.Raise(L, fault.Hinted(fault.Of(&fault.RuntimeError{}, "module %s not found%s", name,
			suggest.Suffix(name, l.Loaders())),
			"%s", cmp.Or(mistake.Module(name), "looked at "+strings.Join(tried, ", ")+"; add folders with --path")))
	}
	code, err := l.ReadModule(path, l.folders)
	if err != nil {
		if fault.Find(err) == nil {
			err = fault.Of(&fault.FileError{}, "module %s: %w", name, err)
		}
		vm.Raise(L, err)
	}
	return l.runModule(L, path, code, name)
}

func (l *library) runModule(L *lua.LState, path string, code []byte, name string) lua.LValue {
	fn, err := l.Compile(L, path, code)
	vm.Must(L, err)
	return vm.Call(L, fn, lua.LString(name))
}

// ownModule is the source of a module that is no file.
func (l *library) ownModule(name string) (file string, code []byte) {
	if module := l.Options().Module; module != nil {
		return module(name)
	}
	return "", nil
}

// findModule looks for the file of a module where the script may read: whether
// there is one elsewhere must not show. It fails when there was such a path and
// nothing was found.
func (l *library) findModule(L *lua.LState, patterns, name string) (path string, tried []string, forbidden error) {
	name = strings.ReplaceAll(name, ".", string(filepath.Separator))
	for _, pattern := range strings.Split(patterns, ";") {
		vm.Work(L, 50+len(pattern)+len(name)/8)
		path := l.Path(strings.ReplaceAll(pattern, "?", name))
		if err := l.PermitModule(path, l.folders); err != nil {
			forbidden = cmp.Or(forbidden, err)
			continue
		}
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path, nil, nil
		}
		tried = append(tried, path)
	}
	return "", tried, forbidden
}
