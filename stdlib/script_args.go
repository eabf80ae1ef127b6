package stdlib

import (
	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/schema"
	"transect/client/suggest"
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
		case name == "help":
			err = fault.Of(&fault.ParameterError{}, "argument help: --help is there already")
		default:
			s.Args[string(name)], err = readArg(string(name), v)
		}
	})
	for i := 1; i <= t.Len() && err == nil; i++ {
		name := t.RawGetInt(i).String()
		if s.Args[name] == nil {
			s.Args[name] = newArg(name)
		}
		if i > 1 && s.Args[s.Positional[i-2]].Type == "[]string" {
			err = fault.Of(&fault.ParameterError{}, "%s takes all further arguments, %s cannot follow it", s.Positional[i-2], name)
		}
		s.Positional = append(s.Positional, name)
	}
	return s, err
}

func newArg(name string) *argparse.Arg {
	return &argparse.Arg{Param: schema.Param{Name: name, Type: "string"}}
}

func readArg(name string, v lua.LValue) (*argparse.Arg, error) {
	a := newArg(name)
	t, ok := v.(*lua.LTable)
	if !ok {
		return a, a.SetType(v.String())
	}
	var err error
	t.ForEach(func(k, v lua.LValue) {
		if err == nil {
			err = readArgKey(a, k.String(), v)
		}
	})
	if err != nil {
		return nil, err
	}
	return a, a.Check()
}

func readArgKey(a *argparse.Arg, key string, v lua.LValue) error {
	switch key {
	case "1":
		return a.SetType(v.String())
	case "doc":
		a.Doc = v.String()
	case "env":
		a.Env = v.String()
	case "optional":
		a.Optional = lua.LVAsBool(v)
	case "default":
		value, err := vm.FromLua(v)
		if err != nil {
			return fault.Of(&fault.ParameterError{}, "argument %s: the default cannot be used: %w", a.Name, err)
		}
		if _, empty := value.(schema.Empty); empty {
			value = []any{}
		}
		a.Default = value
	case "choices":
		list, ok := v.(*lua.LTable)
		if !ok || list.Len() == 0 {
			return fault.Of(&fault.ParameterError{}, "argument %s: choices must be a list, got a %s", a.Name, v.Type())
		}
		for i := 1; i <= list.Len(); i++ {
			a.Choices = append(a.Choices, list.RawGetInt(i).String())
		}
	default:
		return fault.Of(&fault.ParameterError{}, "argument %s: unknown key %s%s", a.Name, key,
			suggest.Suffix(key, []string{"doc", "env", "optional", "default", "choices"}))
	}
	return nil
}
