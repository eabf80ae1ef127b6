package lint

import (
	"context"
	"slices"

	"transect/bindings"
	"transect/bindings/ingest"
	"transect/bindings/lookup"
	"transect/client"
	"transect/client/declare"
	"transect/client/suggest"
	"transect/runtime/luastd"
	"transect/runtime/module"
	"transect/runtime/vm"
	"transect/runtime/vm/mistake"
	"transect/stdlib"
)

// environment lists everything that scripts can use.
type environment struct {
	globals   []string
	libraries map[string][]string // of Lua, with their fields
	modules   map[string]*module.Module
	managers  map[string]*declare.Manager
	names     []string // of modules and managers
	sdk       *module.Module
	types     map[string]*module.Type // of objects
	standard  map[string][]module.Param
}

func newEnvironment(more []*module.Module) *environment {
	v := &environment{libraries: map[string][]string{}, modules: map[string]*module.Module{},
		managers: map[string]*declare.Manager{}, sdk: bindings.Declaration(),
		types: map[string]*module.Type{}, standard: standardParams()}
	in := luastd.New(context.Background(), vm.Options{})
	defer in.Close()
	for name, fields := range in.Globals() {
		v.globals = append(v.globals, name)
		if fields != nil {
			v.libraries[name] = fields
		}
	}
	slices.Sort(v.globals)
	for _, m := range Modules(more...) {
		v.modules[m.Name] = m.Declare()
		v.names = append(v.names, m.Name)
		for _, t := range m.Types {
			v.types[t.Name] = t
		}
	}
	for _, m := range client.Declarations() {
		for _, name := range append([]string{m.Name}, m.Aliases...) {
			v.managers[name] = m
		}
		v.names = append(v.names, m.Name)
	}
	v.names = append(v.names, "sdk")
	return v
}

// has reports whether a module is built in.
func (v *environment) has(name string) bool {
	return slices.Contains(v.names, name) || v.managers[name] != nil
}

func (v *environment) global(name string) bool {
	_, found := slices.BinarySearch(v.globals, name)
	return found
}

// suggestGlobal suggests a meaning for an undefined name: most likely a module that was not required.
func (v *environment) suggestGlobal(name string) string {
	if slices.Contains(v.names, name) {
		return "write local " + name + ` = require("` + name + `") at the top`
	}
	if hint := mistake.Global(name); hint != "" {
		return hint
	}
	if hint := suggest.Hint(name, v.globals); hint != "" {
		return hint
	}
	return "declare it with local, or pass it in"
}

// fields lists the fields of a module.
func fields(m *module.Module) []string {
	names := functions(m.Funcs)
	for _, f := range m.Fields {
		names = append(names, f.Name)
	}
	return names
}

func functions(list []module.Func) []string {
	names := make([]string, len(list))
	for i, f := range list {
		names[i] = f.Name
	}
	return names
}

func function(list []module.Func, name string) *module.Func {
	if i := slices.IndexFunc(list, func(f module.Func) bool { return f.Name == name }); i >= 0 {
		return &list[i]
	}
	return nil
}

// Modules lists the modules that scripts can require, without sdk and the managers, and those of more that are
// not among them.
func Modules(more ...*module.Module) []*module.Module {
	modules := append(bindings.Modules(), lookup.Declaration(), ingest.Declaration())
	modules = append(modules, stdlib.Modules()...)
	for _, m := range more {
		if !slices.ContainsFunc(modules, func(known *module.Module) bool { return known.Name == m.Name }) {
			modules = append(modules, m)
		}
	}
	return modules
}
