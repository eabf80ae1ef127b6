// Package argparse parses command lines as scripts declare them, and writes the text of --help. It is written
// by hand over client/schema: flag packages have no positional arguments, take -5 for a flag, and lack
// suggestions in their errors.
package argparse

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"transect/client/fault"
	"transect/client/schema"
	"transect/client/suggest"
)

// Spec declares a program's command line.
type Spec struct {
	Doc        string // what the program does
	Example    string // command lines
	Reads      bool   // the program changes nothing
	Program    string // how to call it, "transect run survey.lua"
	Args       map[string]*Arg
	Positional []string // names of the arguments without a flag, in order
}

// Arg is one argument.
type Arg struct {
	schema.Param
	Env      string // environment variable to use when the argument is not given
	Short    string // one letter: -f
	Value    string // placeholder of the value in help
	Complete string // kind of values, for completion: see Completions
}

// Completions lists the kinds of values that can be completed.
var Completions = []string{"projects", "missions", "names", "analytics", "products", "files", "folders"}

// types maps the type names that scripts use to types; strings takes all further arguments.
var types = map[string]schema.Type{"string": "string", "number": "number", "integer": "integer", "boolean": "boolean",
	"strings": "[]string"}

// SetType sets the argument's type by the name that scripts use.
func (a *Arg) SetType(name string) error {
	typ, ok := types[name]
	if !ok {
		names := []string{"string", "number", "integer", "boolean", "strings"}
		return fault.Of(&fault.ParameterError{}, "argument %s: unknown type %s%s, the types are %s", a.Name, name,
			suggest.Suffix(name, names), strings.Join(names, ", "))
	}
	a.Type = typ
	return nil
}

// Check refuses a default or choices that could not be given on the command line.
func (a *Arg) Check() error {
	for _, text := range a.Choices {
		if _, err := a.parse(text); err != nil {
			return fault.Of(&fault.ParameterError{}, "argument %s: the choice %q is not %s", a.Name, text, a.Type.Article())
		}
	}
	if a.Default == nil {
		return nil
	}
	p := schema.Param{Name: "the default", Type: a.Type}
	value, err := p.Check(a.Default)
	if err != nil {
		return fault.Of(&fault.ParameterError{}, "argument %s: %w", a.Name, err)
	}
	texts, isList := value.([]string)
	if n, isNumber := value.(float64); isNumber {
		texts = []string{strconv.FormatFloat(n, 'f', -1, 64)} // as on the command line
	} else if !isList {
		texts = []string{fmt.Sprint(value)}
	}
	for _, text := range texts {
		if a.Choices != nil && !slices.Contains(a.Choices, text) {
			return fault.Of(&fault.ParameterError{}, "argument %s: the default %q is not one of the choices %s%s", a.Name, text,
				strings.Join(a.Choices, ", "), suggest.Suffix(text, a.Choices))
		}
	}
	return nil
}

// HelpAsked reports whether --help is among the arguments.
func (s *Spec) HelpAsked(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--help") || slices.Contains(args, "-h")
}

// Parse parses the command line into the value of each argument: a string, float64, bool, or []any of texts.
// Errors are UsageErrors.
func (s *Spec) Parse(args []string, env func(string) (string, bool)) (map[string]any, error) {
	values := map[string]any{}
	var loose []string
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			loose = append(loose, args...)
			break
		}
		name, value, inline := strings.Cut(arg, "=")
		if _, err := strconv.ParseFloat(arg, 64); err == nil || !strings.HasPrefix(name, "-") || len(name) < 2 {
			loose = append(loose, arg)
			continue
		}
		a := s.byFlag(name)
		switch {
		case a == nil:
			return nil, s.unknown(name)
		case inline:
		case a.Type == "boolean":
			value = "true"
		case len(args) > 0:
			value, args = args[0], args[1:]
		default:
			return nil, s.usageError("--%s needs a value", flag(a.Name))
		}
		if err := s.set(a, values, value, "--"+flag(a.Name)); err != nil {
			return nil, err
		}
	}
	if err := s.checkPositional(len(loose), values, env); err != nil {
		return nil, err
	}
	for i, name := range s.Positional {
		a, n := s.Args[name], min(1, len(loose))
		if a.list() {
			n = max(0, len(loose)-s.countAfter(i, values))
		} else if values[name] != nil {
			n = 0
		}
		for _, text := range loose[:n] {
			if err := s.set(a, values, text, s.placeholder(a)); err != nil {
				return nil, err
			}
		}
		loose = loose[n:]
	}
	if len(loose) > 0 {
		return nil, s.usageError("unexpected argument %q", loose[0])
	}
	return values, s.complete(values, env)
}

// checkPositional reports the first positional argument that is missing when n are given, or all required ones when
// the given argument could be any of them.
func (s *Spec) checkPositional(n int, values map[string]any, env func(string) (string, bool)) error {
	var needed []string
	lists := false
	for _, name := range s.Positional {
		a := s.Args[name]
		given := values[name] != nil
		if a.Env != "" && !given {
			_, given = env(a.Env)
		}
		if !given && !a.Optional && a.Default == nil {
			needed = append(needed, s.placeholder(a))
			lists = lists || a.list()
		}
	}
	switch {
	case n >= len(needed):
		return nil
	case n > 0 && lists:
		return s.usageError("missing argument %s", strings.Join(needed, " or "))
	}
	return s.usageError("missing argument %s", needed[n])
}

// countAfter counts the positional arguments after number i that are not given yet.
func (s *Spec) countAfter(i int, values map[string]any) (n int) {
	for _, name := range s.Positional[i+1:] {
		if values[name] == nil {
			n++
		}
	}
	return n
}

// complete sets missing arguments from the environment and defaults.
func (s *Spec) complete(values map[string]any, env func(string) (string, bool)) error {
	for _, name := range schema.SortedKeys(s.Args) {
		a := s.Args[name]
		if values[name] != nil {
			continue
		}
		if a.Env != "" {
			if text, ok := env(a.Env); ok {
				if err := s.set(a, values, text, "the environment variable "+a.Env); err != nil {
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
		case a.Optional:
		case slices.Contains(s.Positional, name):
			return s.usageError("missing argument %s", s.placeholder(a))
		default:
			return s.usageError("missing argument --%s", flag(name))
		}
	}
	return nil
}

// set sets an argument from a text.
func (s *Spec) set(a *Arg, values map[string]any, text, source string) error {
	v, err := a.parse(text)
	if err != nil {
		return s.usageError("%s %w", source, err)
	}
	if a.list() {
		list, _ := values[a.Name].([]any)
		v = append(list, text)
	}
	values[a.Name] = v
	return nil
}

// list reports whether the argument takes several texts.
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
		return float64(n), nil
	}
	return v, nil
}

// byFlag returns the argument with a flag: --max-size and --max_size are the same.
func (s *Spec) byFlag(name string) *Arg {
	name, long := strings.CutPrefix(name, "--")
	for _, a := range s.Args {
		if !long && a.Short != "" && name == "-"+a.Short {
			return a
		}
	}
	if !long {
		return nil
	}
	if a := s.Args[name]; a != nil {
		return a
	}
	return s.Args[strings.ReplaceAll(name, "-", "_")]
}

func (s *Spec) unknown(name string) error {
	flags := []string{"--help"}
	for _, n := range schema.SortedKeys(s.Args) {
		flags = append(flags, "--"+flag(n))
	}
	return s.usageError("unknown argument %s%s", name, suggest.Suffix(name, flags))
}

// placeholder returns the name of a positional argument in messages and help.
func (s *Spec) placeholder(a *Arg) string { return cmp.Or(a.Value, strings.ToUpper(a.Name)) }

func flag(name string) string { return strings.ReplaceAll(name, "_", "-") }

func (s *Spec) usageError(format string, args ...any) error {
	return fault.Hinted(fault.Of(&fault.UsageError{}, format, args...), "see: %s --help",
		cmp.Or(s.Program, "transect run SCRIPT"))
}
