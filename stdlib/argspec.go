package stdlib

import (
	"math"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/vm"
)

// argSpec is what a script declares of its command line.
type argSpec struct {
	doc        string
	args       map[string]*arg
	positional []string
}

type arg struct {
	name, typ, doc, env string
	choices             []string
	fallback            any
	optional            bool
}

var argTypes = []string{"string", "number", "integer", "boolean", "strings"}

func readArgSpec(t *lua.LTable) (*argSpec, error) {
	s := &argSpec{args: map[string]*arg{}}
	var err error
	t.ForEach(func(k, v lua.LValue) {
		name, ok := k.(lua.LString)
		switch {
		case err != nil || !ok:
		case name == "_doc":
			s.doc = v.String()
		default:
			s.args[string(name)], err = readArg(string(name), v)
		}
	})
	for i := 1; i <= t.Len() && err == nil; i++ {
		name := t.RawGetInt(i).String()
		if s.args[name] == nil {
			s.args[name] = &arg{name: name, typ: "string"}
		}
		if i > 1 && s.args[s.positional[i-2]].typ == "strings" {
			err = fault.Of(&fault.ParameterError{}, "%s takes all further arguments, %s cannot follow it", s.positional[i-2], name)
		}
		s.positional = append(s.positional, name)
	}
	return s, err
}

func readArg(name string, v lua.LValue) (*arg, error) {
	a := &arg{name: name}
	t, ok := v.(*lua.LTable)
	if !ok {
		a.typ = v.String()
		return a, a.checkType()
	}
	a.typ = "string"
	var err error
	t.ForEach(func(k, v lua.LValue) {
		switch k.String() {
		case "1":
			a.typ = v.String()
		case "doc":
			a.doc = v.String()
		case "env":
			a.env = v.String()
		case "optional":
			a.optional = lua.LVAsBool(v)
		case "default":
			a.fallback, err = vm.FromLua(v)
			if _, empty := a.fallback.(vm.EmptyTable); empty {
				a.fallback = []any{}
			}
		case "choices":
			if list, ok := v.(*lua.LTable); ok {
				list.ForEach(func(_, c lua.LValue) { a.choices = append(a.choices, c.String()) })
			}
		default:
			err = fault.Of(&fault.ParameterError{}, "argument %s: unknown key %s%s", name, k,
				vm.Suggestion(k.String(), []string{"doc", "env", "optional", "default", "choices"}))
		}
	})
	if err != nil {
		return nil, err
	}
	return a, a.checkType()
}

func (a *arg) checkType() error {
	if slices.Contains(argTypes, a.typ) {
		return nil
	}
	return fault.Of(&fault.ParameterError{}, "argument %s: unknown type %s%s, the types are %s", a.name, a.typ,
		vm.Suggestion(a.typ, argTypes), strings.Join(argTypes, ", "))
}

func (s *argSpec) helpAsked(args []string) bool {
	for _, a := range args {
		switch a {
		case "--":
			return false
		case "--help", "-h":
			return true
		}
	}
	return false
}

// parse reads the command line.
func (s *argSpec) parse(args []string, env func(string) (string, bool)) (map[string]any, error) {
	values := map[string]any{}
	var loose []string
	for i := 0; i < len(args); i++ {
		name, value, inline := strings.Cut(args[i], "=")
		switch {
		case args[i] == "--":
			loose = append(loose, args[i+1:]...)
			i = len(args)
			continue
		case !strings.HasPrefix(name, "-") || len(name) < 2 || isNumber(args[i]):
			loose = append(loose, args[i])
			continue
		}
		a := s.named(name)
		if a == nil {
			return nil, s.unknown(name)
		}
		switch {
		case inline:
		case a.typ == "boolean":
			value = "true"
		case i+1 < len(args):
			i++
			value = args[i]
		default:
			return nil, usageError("--%s needs a value", flag(a.name))
		}
		if err := a.set(values, value, "--"+flag(a.name)); err != nil {
			return nil, err
		}
	}
	if err := s.place(values, loose); err != nil {
		return nil, err
	}
	return values, s.complete(values, env)
}

// place hands out what was given by position.
func (s *argSpec) place(values map[string]any, loose []string) error {
	next := 0
	for _, name := range s.positional {
		a := s.args[name]
		if _, given := values[name]; given && a.typ != "strings" {
			continue
		}
		for next < len(loose) {
			if err := a.set(values, loose[next], a.name); err != nil {
				return err
			}
			next++
			if a.typ != "strings" {
				break
			}
		}
	}
	if next < len(loose) {
		return usageError("unexpected argument %q", loose[next])
	}
	return nil
}

// complete fills in what was not given.
func (s *argSpec) complete(values map[string]any, env func(string) (string, bool)) error {
	for _, name := range s.names() {
		a := s.args[name]
		if _, given := values[name]; given {
			continue
		}
		if a.env != "" {
			if text, ok := env(a.env); ok {
				if err := a.set(values, text, "the environment variable "+a.env); err != nil {
					return err
				}
				continue
			}
		}
		switch {
		case a.fallback != nil:
			values[name] = a.fallback
		case a.typ == "boolean":
			values[name] = false
		case a.typ == "strings" && a.optional:
			values[name] = []any{}
		case !a.optional:
			if slices.Contains(s.positional, name) {
				return usageError("missing argument %s", strings.ToUpper(name))
			}
			return usageError("missing argument --%s", flag(name))
		}
	}
	return nil
}

func (a *arg) set(values map[string]any, text, where string) error {
	if a.choices != nil && !slices.Contains(a.choices, text) {
		return usageError("%s must be one of %s, got %q%s", where, strings.Join(a.choices, ", "), text, vm.Suggestion(text, a.choices))
	}
	switch a.typ {
	case "number", "integer":
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) || a.typ == "integer" && n != math.Trunc(n) {
			return usageError("%s must be %s, got %q", where, map[string]string{"number": "a number", "integer": "an integer"}[a.typ], text)
		}
		values[a.name] = n
	case "boolean":
		b, err := strconv.ParseBool(text)
		if err != nil {
			return usageError("%s must be true or false, got %q", where, text)
		}
		values[a.name] = b
	case "strings":
		list, _ := values[a.name].([]any)
		values[a.name] = append(list, text)
	default:
		values[a.name] = text
	}
	return nil
}

// named finds an argument by its flag: --max-size and --max_size are the same.
func (s *argSpec) named(name string) *arg {
	if !strings.HasPrefix(name, "--") {
		return nil
	}
	name = name[2:]
	if a := s.args[name]; a != nil {
		return a
	}
	return s.args[strings.ReplaceAll(name, "-", "_")]
}

func (s *argSpec) unknown(name string) error {
	flags := []string{"--help"}
	for _, n := range s.names() {
		flags = append(flags, "--"+flag(n))
	}
	return usageError("unknown argument %s%s", name, vm.Suggestion(name, flags))
}

func (s *argSpec) names() []string {
	names := make([]string, 0, len(s.args))
	for n := range s.args {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

func flag(name string) string { return strings.ReplaceAll(name, "_", "-") }

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}

func usageError(format string, args ...any) error {
	return fault.Hinted(fault.Of(&fault.UsageError{}, format, args...), "--help after the script shows its arguments")
}

func scriptName(script string) string {
	if script == "" {
		return "SCRIPT"
	}
	return filepath.ToSlash(script)
}
