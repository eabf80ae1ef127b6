package bindings

import (
	"cmp"

	lua "github.com/yuin/gopher-lua"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/schema"
	"transect/runtime/vm"
	"transect/runtime/vm/mistake"
)

// arguments reads a call: named arguments in one table, or positional ones in documented order followed by a
// table of named ones.
func arguments(L *lua.LState, s *declare.Spec) (declare.Args, error) {
	a := declare.Args{Values: map[string]any{}}
	n := L.GetTop()
	if n > 0 && ManagerOf(L.Get(1)) != "" {
		return a, fault.In(s.FullName(),
			fault.Hinted(fault.Of(&fault.ParameterError{}, "is called with a colon"), "%s", mistake.Colon(s.Manager, s.Name)))
	}
	for n > 0 && L.Get(n) == lua.LNil {
		n-- // trailing nils, from variables without a value
	}
	var last *declare.Table
	table, ok := L.Get(n).(*lua.LTable)
	if ok && n > 0 {
		last = &declare.Table{}
		table.ForEach(func(k, _ lua.LValue) {
			last.Keys = append(last.Keys, k.String())
			last.List = last.List || k.Type() != lua.LTString
		})
	}
	positional, named, err := s.Bind(n, last)
	if err != nil {
		return a, err
	}
	for i, p := range positional {
		value, err := toGo(L, L.Get(i+1))
		if err != nil {
			return a, fault.In(s.FullName(), fault.Of(&fault.ParameterError{}, "argument %s: %w", p.Name, err))
		}
		if value != nil {
			a.Values[p.Name] = value
		}
	}
	if named {
		err = fault.In(s.FullName(), readNamed(L, &a, table))
	}
	for name, v := range a.Values {
		if p := s.Param(name); p != nil && p.Type == "[]object" && err == nil {
			a.Values[name], err = drained(L, v)
			err = fault.In(s.FullName(), err)
		}
	}
	return a, err
}

// drained makes a list of what an iterator gives, where an operation takes any iterable.
func drained(L *lua.LState, v any) (any, error) {
	f, ok := v.(*lua.LFunction)
	if !ok {
		return v, nil
	}
	list := []any{}
	for next := vm.Call(L, f); next != lua.LNil; next = vm.Call(L, f) {
		value, err := vm.FromLua(L, next)
		if _, ok := next.(*lua.LTable); err != nil || !ok || len(list) == mostDrained {
			return nil, cmp.Or(err, error(fault.Of(&fault.ParameterError{},
				"the iterator must give at most %d tables, then nil; its element %d is a %s",
				mostDrained, len(list)+1, next.Type())))
		}
		list = append(list, value)
	}
	return list, nil
}

// mostDrained limits what an iterator gives for one request.
const mostDrained = 1_000_000

func readNamed(L *lua.LState, a *declare.Args, t *lua.LTable) error {
	var failure error
	t.ForEach(func(k, v lua.LValue) {
		if failure != nil {
			return
		}
		value, err := toGo(L, v)
		if err != nil {
			failure = fault.Of(&fault.ParameterError{}, "argument %s: %w", k, err)
			return
		}
		if _, twice := a.Values[k.String()]; twice {
			failure = fault.Of(&fault.ParameterError{}, "argument %s is given twice, by position and by name", k)
			return
		}
		if k.String() != "extra" {
			a.Values[k.String()] = value
			return
		}
		switch extra := value.(type) {
		case map[string]any:
			a.Extra = extra
		case schema.Empty:
		default:
			failure = fault.Of(&fault.ParameterError{}, "extra must be a table of further arguments")
		}
	})
	return failure
}

// toGo converts a Lua value to the form that the client's checks expect. A function becomes a callback when
// the call begins.
func toGo(L *lua.LState, v lua.LValue) (any, error) {
	if f, ok := v.(*lua.LFunction); ok {
		return f, nil
	}
	return vm.FromLua(L, v)
}

// resolvePaths makes relative local paths among the arguments of an operation
// begin in the script's folder, as all its paths do. A download without a target
// folder goes there, too.
func resolvePaths(in *vm.Interp, s *declare.Spec, a *declare.Args) {
	if in.Options().Dir == "" {
		return
	}
	resolveIn(in, s.Params, a.Values)
	if p := s.Param("target_path"); p != nil && (a.Values[p.Name] == nil || a.Values[p.Name] == "") {
		a.Values[p.Name] = in.Path(".")
	}
}

func resolveIn(in *vm.Interp, params []schema.Param, values map[string]any) {
	for name, value := range values {
		switch p := schema.Find(params, name); {
		case p == nil:
		case p.Type == "path" || p.Type == "[]path":
			values[name] = absolute(in, value)
		case p.Fields != nil:
			tables, _ := value.([]any)
			for _, table := range append(tables, value) {
				if keys, ok := table.(map[string]any); ok {
					resolveIn(in, p.Fields, keys)
				}
			}
		}
	}
}

func absolute(in *vm.Interp, value any) any {
	switch v := value.(type) {
	case string:
		return in.Path(v)
	case []any:
		for i := range v {
			v[i] = absolute(in, v[i])
		}
	}
	return value
}
