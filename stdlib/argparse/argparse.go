// Package argparse reads command lines as they were declared, and writes the
// text that --help prints.
package argparse

import (
	"slices"
	"sort"
	"strconv"
	"strings"

	"transect/client/fault"
	"transect/client/schema"
	"transect/client/suggest"
)

// Spec is what a program declares of its command line.
type Spec struct {
	Doc        string // what the program does
	Args       map[string]*Arg
	Positional []string // the arguments that need no flag, in order
}

// Arg is one argument.
type Arg struct {
	schema.Param
	Env string // the variable that gives it when the command line does not
}

// types are what an argument can be, by the names scripts use; strings takes
// all further arguments.
var types = map[string]schema.Type{"string": "string", "number": "number", "integer": "integer", "boolean": "boolean", "strings": "[]string"}

// HelpAsked says whether --help is among the arguments.
func (s *Spec) HelpAsked(args []string) bool {
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

// Parse reads the command line: the value of each argument, a string, float64,
// bool, or []any of texts. Errors are UsageErrors.
func (s *Spec) Parse(args []string, env func(string) (string, bool)) (map[string]any, error) {
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
		case a.Type == "boolean":
			value = "true"
		case i+1 < len(args):
			i++
			value = args[i]
		default:
			return nil, usageError("--%s needs a value", flag(a.Name))
		}
		if err := a.set(values, value, "--"+flag(a.Name)); err != nil {
			return nil, err
		}
	}
	if err := s.assignPositional(values, loose); err != nil {
		return nil, err
	}
	return values, s.complete(values, env)
}

// assignPositional assigns positional values to arguments.
func (s *Spec) assignPositional(values map[string]any, loose []string) error {
	next := 0
	for _, name := range s.Positional {
		a := s.Args[name]
		if _, given := values[name]; given && !a.list() {
			continue
		}
		for next < len(loose) {
			if err := a.set(values, loose[next], a.Name); err != nil {
				return err
			}
			next++
			if !a.list() {
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
func (s *Spec) complete(values map[string]any, env func(string) (string, bool)) error {
	for _, name := range s.names() {
		a := s.Args[name]
		if _, given := values[name]; given {
			continue
		}
		if a.Env != "" {
			if text, ok := env(a.Env); ok {
				if err := a.set(values, text, "the environment variable "+a.Env); err != nil {
					return err
				}
				continue
			}
		}
		switch {
		case a.Default != nil:
			values[name] = a.Default
		case a.Type == "boolean":
			values[name] = false
		case a.list() && a.Optional:
			values[name] = []any{}
		case !a.Optional:
			if slices.Contains(s.Positional, name) {
				return usageError("missing argument %s", strings.ToUpper(name))
			}
			return usageError("missing argument --%s", flag(name))
		}
	}
	return nil
}

// set reads an argument from a text of the command line.
func (a *Arg) set(values map[string]any, text, source string) error {
	v, err := a.parse(text)
	if err != nil {
		return usageError("%s %w", source, err)
	}
	if a.list() {
		list, _ := values[a.Name].([]any)
		v = append(list, text)
	}
	values[a.Name] = v
	return nil
}

// list tells whether the argument takes any number of texts.
func (a *Arg) list() bool { return a.Type == "[]string" }

// parse converts and checks one text.
func (a *Arg) parse(text string) (v any, err error) {
	if err := a.Choose(text); err != nil {
		return nil, err
	}
	switch v = any(text); a.Type {
	case "[]string":
		return text, nil
	case "number", "integer":
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			v = n
		}
	case "boolean":
		if b, err := strconv.ParseBool(text); err == nil {
			v = b
		}
	}
	if v, err = a.Type.Check(v); err != nil {
		return nil, &schema.Mismatch{Want: a.Type, Got: strconv.Quote(text)}
	}
	if n, ok := v.(int64); ok {
		return float64(n), a.InRange(float64(n))
	}
	return v, nil
}

// named finds an argument by its flag: --max-size and --max_size are the same.
func (s *Spec) named(name string) *Arg {
	if !strings.HasPrefix(name, "--") {
		return nil
	}
	name = name[2:]
	if a := s.Args[name]; a != nil {
		return a
	}
	return s.Args[strings.ReplaceAll(name, "-", "_")]
}

func (s *Spec) unknown(name string) error {
	flags := []string{"--help"}
	for _, n := range s.names() {
		flags = append(flags, "--"+flag(n))
	}
	return usageError("unknown argument %s%s", name, suggest.Suffix(name, flags))
}

func (s *Spec) names() []string {
	names := make([]string, 0, len(s.Args))
	for n := range s.Args {
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
