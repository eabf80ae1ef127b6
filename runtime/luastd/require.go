package luastd

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/suggest"
	"transect/runtime/engine/compile"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
	"transect/runtime/vm/mistake"
)

// loading is a module being loaded. Loading may wait, so another task can require the same module meanwhile:
// it waits for the first one.
type loading struct {
	task *vm.Task
	done chan struct{}
}

// full is the prefix of the alternative names of built-in modules, which no file can have.
const full = "transect."

// PathOf returns package.path: the folders of --path; the entries of LUA_PATH, in which ;; means the
// rest; otherwise the script's folder, the current one, and the folders of packages installed for Lua 5.1.
func PathOf(script, current string, path []string, luaPath string) string {
	var first, rest []string
	for _, dir := range path {
		first = append(first, below(dir)...)
	}
	rest = append(rest, below(filepath.Dir(script))...)
	if filepath.Dir(script) != current {
		rest = append(rest, below(current)...)
	}
	if runtime.GOOS != "windows" {
		rest = slices.Concat(rest, below("/usr/local/share/lua/5.1"), below("/usr/share/lua/5.1"))
	}
	if luaPath == "" {
		luaPath = ";;"
	}
	luaPath = strings.ReplaceAll(luaPath, ";;", ";"+strings.Join(rest, ";")+";")
	return strings.Trim(strings.Join(first, ";")+";"+strings.Trim(luaPath, ";"), ";")
}

func below(dir string) []string {
	return []string{filepath.Join(dir, "?.lua"), filepath.Join(dir, "?", "init.lua")}
}

// openPackage sets where require searches.
func (l *library) openPackage(L *lua.LState) {
	opt := l.Options()
	script, path := l.Path(cmp.Or(opt.Script, "-")), []string{}
	for _, p := range opt.Path {
		path = append(path, l.Path(p))
	}
	luaPath, _, _ := l.Env("LUA_PATH") // empty if the script may not read it
	patterns := strings.Split(PathOf(script, l.Path("."), path, luaPath), ";")
	if opt.Size != nil { // it has no script with modules beside it
		patterns = []string{l.Path("?.lua")}
	} else {
		for _, dir := range append([]string{filepath.Dir(script)}, path...) {
			l.folders = append(l.folders, sandbox.Canonical(dir))
		}
	}
	patterns = slices.DeleteFunc(patterns, func(pattern string) bool { // must not reveal whether there is a file
		return l.PermitModule(l.Path(strings.ReplaceAll(pattern, "?", "module")), l.folders) != nil
	})
	lib := L.GetGlobal("package").(*lua.LTable)
	lib.RawSetString("path", lua.LString(strings.Join(patterns, ";")))
	lib.RawSetString("cpath", lua.LString(""))
	loaders := L.NewTable()
	for _, find := range []func(*lua.LState, string) lua.LValue{l.preloaded, l.fullName, l.inFile, l.builtIn} {
		loaders.Append(L.NewFunction(func(L *lua.LState) int { return vm.Push(L, find(L, checkString(L, 1))) }))
	}
	lib.RawSetString("loaders", loaders)
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
	if vm.CalledByOwn(L) && l.has(name) {
		name = full + name // a file of that name is unrelated
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
		if other.task == vm.CurrentTask(L) && l.has(name) {
			name = full + name // in a file, the name means the built-in module
			continue
		}
		if other.task == vm.CurrentTask(L) {
			vm.RaiseText(L, "loop or previous error loading module '%s': it requires itself", name)
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
	v := vm.Call(L, l.loader(L, lib, name), lua.LString(name))
	if v == lua.LNil && l.has(name) && L.GetField(L.GetField(lib, "loaded"), name) == lua.LNil {
		err := fault.Of(&fault.RuntimeError{}, "a file was read in place of the built-in module %s, and returns nothing",
			name)
		err.Hint = `require("` + full + name + `") is the built-in module`
		vm.RaiseAsText(L, err.Error(), err)
	}
	if loaded, ok := lib.RawGetString("loaded").(*lua.LTable); ok {
		if set := loaded.RawGetString(name); v == lua.LNil && set != lua.LNil {
			v = set // set by the module itself
		} else if v == lua.LNil {
			v = lua.LTrue
		}
		loaded.RawSetString(name, v)
	}
	return vm.Push(L, v)
}

// loader calls package.loaders in order and returns the loader of a module.
func (l *library) loader(L *lua.LState, lib *lua.LTable, name string) lua.LValue {
	loaders, ok := lib.RawGetString("loaders").(*lua.LTable)
	if !ok {
		vm.RaiseText(L, "'package.loaders' must be a table")
	}
	var tried strings.Builder
	for i := 1; ; i++ {
		find := loaders.RawGetInt(i)
		if find == lua.LNil {
			break
		}
		vm.Work(L, 10)
		switch v := vm.Call(L, find, lua.LString(name)).(type) {
		case *lua.LFunction:
			return v
		case lua.LString:
			vm.Grow(L, len(v))
			tried.WriteString(string(v))
		}
	}
	var folders []string
	for line := range strings.SplitSeq(tried.String(), "\n") {
		file, ok := strings.CutPrefix(line, "\tno file '")
		if dir, plain := strings.CutSuffix(file, strings.ReplaceAll(name, ".", "/")+".lua'"); ok && plain {
			folders = append(folders, filepath.Clean(dir))
		}
	}
	err := fault.Of(&fault.RuntimeError{}, "module %s not found%s", name, suggest.Suffix(name, l.Loaders()))
	err.Hint = cmp.Or(mistake.Module(name),
		"looked in "+strings.Join(folders, ", ")+"; add folders with --path")
	vm.RaiseAsText(L, "module '"+name+"' not found:"+tried.String(), err)
	return nil
}

// preloaded returns a module from package.preload.
func (l *library) preloaded(L *lua.LState, name string) lua.LValue {
	lib, _ := L.GetGlobal("package").(*lua.LTable)
	if lib == nil {
		return lua.LNil
	}
	preload, ok := lib.RawGetString("preload").(*lua.LTable)
	if !ok {
		vm.RaiseText(L, "'package.preload' must be a table")
	}
	if load := preload.RawGetString(name); load != lua.LNil {
		return load
	}
	return lua.LString("\n\tno field package.preload['" + name + "']")
}

// fullName returns a built-in module by its full name.
func (l *library) fullName(L *lua.LState, name string) lua.LValue {
	if short, ok := strings.CutPrefix(name, full); ok {
		return l.builtIn(L, short)
	}
	return lua.LNil
}

// has reports whether a name is a built-in module's, in Go or Lua.
func (l *library) has(name string) bool {
	_, code := l.ownModule(name)
	return code != nil || l.Loader(name) != nil
}

// builtIn returns a built-in module. It is the same by either name.
func (l *library) builtIn(L *lua.LState, name string) lua.LValue {
	if !l.has(name) {
		return lua.LNil
	}
	return L.NewFunction(func(L *lua.LState) int {
		v := l.builtins[name]
		if load := l.Loader(name); v == nil && load != nil {
			v = load(L)
		} else if v == nil {
			file, code := l.ownModule(name)
			v = l.runModule(L, file, code, name)
		}
		l.builtins[name] = v
		return vm.Push(L, v)
	})
}

// declaresModule matches code that registers itself as a module without returning it.
var declaresModule = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bmodule\s*\(|package\.loaded`) })

// inFile loads a module from a file. A file that is a script, and returns nothing, does not replace the
// built-in module of its name.
func (l *library) inFile(L *lua.LState, name string) lua.LValue {
	lib, _ := L.GetGlobal("package").(*lua.LTable)
	patterns, ok := lua.LString(""), false
	if lib != nil {
		patterns, ok = lib.RawGetString("path").(lua.LString)
	}
	if !ok {
		vm.RaiseText(L, "'package.path' must be a string")
	}
	path, tried, err := l.findModule(L, string(patterns), name)
	if path == l.Path(l.Options().Script) && l.has(name) {
		path = ""
	}
	switch {
	case path == "" && err != nil && !l.has(name):
		vm.RaiseAsText(L, err.Error(), err)
	case path == "":
		return lua.LString(tried)
	}
	code, err := l.ReadModule(path, l.folders)
	if err != nil {
		if fault.Find(err) == nil {
			err = fault.Of(&fault.FileError{}, "module %s: %w", name, err)
		}
		vm.RaiseAsText(L, err.Error(), err)
	}
	fn, err := l.Compile(L, path, code)
	if err != nil {
		vm.RaiseAsText(L, "error loading module '"+name+"' from file '"+path+"':\n\t"+err.Error(), err)
	}
	switch log := l.Options().Logger; {
	case !l.has(name):
	case !compile.Returns(fn.Proto) && !declaresModule().Match(code): // a script with the module's name
		log.Warn("require takes the built-in module "+name+": the file of that name returns nothing", "file", path)
		return lua.LString("\n\tno module in file '" + path + "'")
	default:
		log.Debug("require reads a file in place of a module of Transect, which is still "+full+name, "module", name,
			"file", path)
	}
	return fn
}

func (l *library) runModule(L *lua.LState, path string, code []byte, name string) lua.LValue {
	fn, err := l.Compile(L, path, code)
	vm.Must(L, err)
	return vm.Call(L, fn, lua.LString(name))
}

// ownModule returns the source of a built-in Lua module.
func (l *library) ownModule(name string) (file string, code []byte) {
	if module := l.Options().Module; module != nil {
		return module(name)
	}
	return "", nil
}

// findModule searches the file of a module where the script may read, without revealing whether there is one
// elsewhere. It fails when nothing was found and some paths were forbidden.
func (l *library) findModule(L *lua.LState, patterns, name string) (path, tried string, forbidden error) {
	name = strings.ReplaceAll(name, ".", string(filepath.Separator))
	itself, none := "", strings.Builder{}
	for pattern := range strings.SplitSeq(patterns, ";") {
		vm.Work(L, 50+len(pattern)+len(name)/8)
		path := strings.ReplaceAll(pattern, "?", name)
		if err := l.PermitModule(l.Path(path), l.folders); err != nil {
			forbidden = cmp.Or(forbidden, err)
			continue
		}
		if info, err := os.Stat(l.Path(path)); err == nil && !info.IsDir() {
			if path = l.Path(path); path != l.Path(l.Options().Script) {
				return path, "", nil
			}
			itself = path // another file of that name takes precedence
			continue
		}
		vm.Grow(L, len(path))
		none.WriteString("\n\tno file '" + path + "'")
	}
	return itself, none.String(), forbidden
}
