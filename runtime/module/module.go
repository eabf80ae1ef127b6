// Package module declares Lua modules in Go.
//
// A Module lists functions, constants and types; a Func lists its parameters. A call is bound before Go code
// sees it: arguments are checked against the declaration, defaults filled in, options read from a table,
// unknown ones refused with the nearest name. The same declarations produce help, stubs, completion and the
// reference.
//
// stdlib and bindings declare their modules with it, and Preload makes them available to require. It builds
// on package vm. Begin reading at Module and Call.
package module

import (
	"cmp"
	"maps"
	"sort"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/schema"
	"transect/client/suggest"
	"transect/runtime/vm"
	"transect/runtime/vm/mistake"
)

// Module declares a Lua module. Argument checks, documentation and the test
// that runs every example all derive from it.
type Module struct {
	Name   string
	Doc    string
	Funcs  []Func
	Lazy   func() []Func // returns Funcs when Declare is called, to keep starts fast
	Fields []Field
	Types  []*Type
	// Open adds what the lists above cannot express. Optional.
	Open func(L *lua.LState, module *lua.LTable)

	declared sync.Once
}

// Field is a constant of a module. Value is a Go value for ToLua, or made per
// interpreter by a func(*vm.Interp) any.
type Field struct {
	Name, Doc string
	Value     any
	Read      func(*vm.Interp) (any, error) // returns the value each time it is read, in place of Value
}

// Func is one function of a module, or method of a Type.
type Func struct {
	Name    string
	Doc     string
	Params  []Param
	Returns string // the result, for people
	// Call does the work with checked arguments. Its result goes through
	// ToLua; Values are several results; an error is raised.
	Call func(c *Call) (any, error)
}

// Param is an argument, or with Fields a table of options. A last parameter
// named "..." takes all further arguments.
type Param = schema.Param

// Type is a kind of object with methods, a userdata in Lua.
type Type struct {
	Name    string
	Doc     string
	Methods []Func
	// Get reads a field that is not a method. Optional.
	Get func(self any, name string) any
	// Text implements tostring. Optional.
	Text func(self any) string
}

// Declare completes Funcs.
func (m *Module) Declare() *Module {
	m.declared.Do(func() {
		if m.Lazy != nil {
			m.Funcs = m.Lazy()
		}
	})
	return m
}

func (m *Module) build(L *lua.LState) lua.LValue {
	m.Declare()
	t := L.CreateTable(0, len(m.Funcs)+len(m.Fields))
	for i := range m.Funcs {
		f := &m.Funcs[i]
		t.RawSetString(f.Name, L.NewFunction(f.bind(m.Name+"."+f.Name, nil)))
	}
	for _, f := range m.Fields {
		if f.Read != nil {
			continue
		}
		v := f.Value
		if make, ok := v.(func(*vm.Interp) any); ok {
			v = make(vm.Of(L))
		}
		t.RawSetString(f.Name, vm.ToLua(L, v))
	}
	if m.Open != nil {
		m.Open(L, t)
	}
	if t.Metatable == lua.LNil { // a module may have its own lookup of fields
		L.SetMetatable(t, m.strict(L))
	}
	return t
}

// strict reads the fields with Read, and makes reading a missing one an error with the nearest name: calling
// it would only report that nil cannot be called.
func (m *Module) strict(L *lua.LState) *lua.LTable {
	name, mt := m.Name, L.NewTable()
	mt.RawSetString("__index", L.NewFunction(func(L *lua.LState) int {
		field, names := L.Get(2).String(), []string{}
		for _, f := range m.Fields {
			if f.Read == nil {
				continue
			}
			if f.Name == field {
				v, err := f.Read(vm.Of(L))
				vm.Must(L, fault.In(name+"."+field, err))
				return vm.Push(L, vm.ToLua(L, v))
			}
			names = append(names, f.Name)
		}
		L.CheckTable(1).ForEach(func(k, _ lua.LValue) { names = append(names, k.String()) })
		sort.Strings(names)
		vm.Raise(L, fault.Hinted(fault.Of(&fault.KeyError{}, "%s has no %s%s", name, field, suggest.Suffix(field, names)),
			"%s", cmp.Or(mistake.Member(field), "it has "+strings.Join(names, ", "))))
		return 0
	}))
	return mt
}

// Values are several results of a function.
type Values []any

func (values Values) push(L *lua.LState) int {
	for _, v := range values {
		L.Push(vm.ToLua(L, v))
	}
	return len(values)
}

type typesKey struct{}

// NewObject wraps a Go value as an object of a declared type.
func NewObject(L *lua.LState, t *Type, value any) *lua.LUserData {
	types := vm.State(vm.Of(L), typesKey{}, func() map[*Type]*lua.LTable { return map[*Type]*lua.LTable{} })
	mt, ok := types[t]
	if !ok {
		mt = t.build(L)
		types[t] = mt
	}
	return &lua.LUserData{Value: &object{t, value}, Env: L.Env, Metatable: mt}
}

// object is the Go value of the userdata.
type object struct {
	typ   *Type
	value any
}

// TypeName and Unwrap implement interfaces of package vm.
func (o *object) TypeName() string { return o.typ.Name }
func (o *object) Unwrap() any      { return o.value }

func (t *Type) build(L *lua.LState) *lua.LTable {
	methods := L.NewTable()
	for i := range t.Methods {
		f := &t.Methods[i]
		methods.RawSetString(f.Name, L.NewFunction(f.bind(t.Name+":"+f.Name, t)))
	}
	mt := L.NewTable()
	mt.RawSetString("__metatable", lua.LString(t.Name))
	mt.RawSetString("__tostring", L.NewFunction(func(L *lua.LState) int {
		text := t.Name
		if o := objectOf(L.Get(1)); o != nil && t.Text != nil {
			text = t.Text(o.value)
		}
		return vm.Push(L, lua.LString(text))
	}))
	if t.Get == nil {
		mt.RawSetString("__index", methods)
		return mt
	}
	mt.RawSetString("__index", L.NewFunction(func(L *lua.LState) int {
		name := L.CheckString(2)
		v := methods.RawGetString(name)
		if o := objectOf(L.Get(1)); v == lua.LNil && o != nil {
			v = vm.ToLua(L, t.Get(o.value, name))
		}
		return vm.Push(L, v)
	}))
	return mt
}

func objectOf(v lua.LValue) *object {
	if ud, ok := v.(*lua.LUserData); ok {
		o, _ := ud.Value.(*object)
		return o
	}
	return nil
}

// ObjectValue returns the Go value in an object made by NewObject.
func ObjectValue(v lua.LValue) (any, bool) {
	if o := objectOf(v); o != nil {
		return o.value, true
	}
	return nil, false
}

type registryKey struct{}

func registry(in *vm.Interp) map[string]*Module {
	return vm.State(in, registryKey{}, func() map[string]*Module { return make(map[string]*Module, 128) })
}

// Preload makes modules available to require. A module's table is built when a
// script first requires it.
func Preload(in *vm.Interp, mods ...*Module) {
	in.Locked(func(L *lua.LState) {
		for _, m := range mods {
			registry(in)[m.Name] = m
			in.AddLoader(m.Name, m.build)
		}
	})
}

// Preloaded returns the available modules by name, for documentation and completion. Code called from Lua
// holds the lock already and must not use it.
func Preloaded(in *vm.Interp) (mods map[string]*Module) {
	in.Locked(func(*lua.LState) {
		mods = maps.Clone(registry(in))
		for _, m := range mods {
			m.Declare()
		}
	})
	return mods
}
