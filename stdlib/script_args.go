package stdlib

import (
	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/vm"
	"transect/stdlib/argparse"
)

// readArgSpec reads the declaration of a script's arguments.
func readArgSpec(t *lua.LTable) (*argparse.Spec, error) {
	s := &argparse.Spec{Args: map[string]*argparse.Arg{}}
	var err error
	t.ForEach(func(k, v lua.LValue) {
		name, ok := k.(lua.LString)
		switch {
		case err != nil || !ok:
		case name == "_doc":
			s.Doc = v.String()
		default:
			s.Args[string(name)], err = readArg(string(name), v)
		}
	})
	for i := 1; i <= t.Len() && err == nil; i++ {
		name := t.RawGetInt(i).String()
		if s.Args[name] == nil {
			s.Args[name] = &argparse.Arg{Name: name, Type: "string"}
		}
		if i > 1 && s.Args[s.Positional[i-2]].Type == "strings" {
			err = fault.Of(&fault.ParameterError{}, "%s takes all further arguments, %s cannot follow it", s.Positional[i-2], name)
		}
		s.Positional = append(s.Positional, name)
	}
	return s, err
}

func readArg(name string, v lua.LValue) (*argparse.Arg, error) {
	a := &argparse.Arg{Name: name}
	t, ok := v.(*lua.LTable)
	if !ok {
		a.Type = v.String()
		return a, a.Check()
	}
	a.Type = "string"
	var err error
	t.ForEach(func(k, v lua.LValue) {
		switch k.String() {
		case "1":
			a.Type = v.String()
		case "doc":
			a.Doc = v.String()
		case "env":
			a.Env = v.String()
		case "optional":
			a.Optional = lua.LVAsBool(v)
		case "default":
			a.Default, err = vm.FromLua(v)
			if _, empty := a.Default.(vm.EmptyTable); empty {
				a.Default = []any{}
			}
		case "choices":
			if list, ok := v.(*lua.LTable); ok {
				list.ForEach(func(_, c lua.LValue) { a.Choices = append(a.Choices, c.String()) })
			}
		default:
			err = fault.Of(&fault.ParameterError{}, "argument %s: unknown key %s%s", name, k,
				vm.Suggestion(k.String(), []string{"doc", "env", "optional", "default", "choices"}))
		}
	})
	if err != nil {
		return nil, err
	}
	return a, a.Check()
}
