package declare

import (
	"fmt"
	"slices"
	"strings"

	"transect/client/fault"
	"transect/client/schema"
	"transect/client/suggest"
)

// Args are the arguments of one call, by name, and the extra ones that travel
// unchanged.
type Args struct {
	Values map[string]any
	Extra  map[string]any
}

// Text returns a string argument, "" when absent.
func (a Args) Text(name string) string {
	s, _ := a.Values[name].(string)
	return s
}

// Checked returns the arguments in canonical form: aliases resolved, types
// checked and converted. It returns the error the interface documents, and for
// everything else a ParameterError that names the argument.
func (s *Spec) Checked(a Args) (Args, error) {
	out := Args{Values: make(map[string]any, len(a.Values)), Extra: a.Extra}
	for _, name := range schema.SortedKeys(a.Values) {
		p := s.Param(name)
		if p == nil {
			return out, s.unknown(name)
		}
		if _, twice := out.Values[p.Name]; twice {
			return out, s.fail(&fault.ParameterError{}, "%s is given twice, as %s and as %s", p.Name, p.Name, strings.Join(p.Aliases, ", "))
		}
		v := a.Values[name]
		if v == nil {
			continue
		}
		checked, err := p.CheckOrNull(v)
		if err != nil {
			f := fault.Find(err)
			f.Facts().Message = "argument " + f.Facts().Message
			f.Facts().Operation = s.FullName()
			return out, f
		}
		out.Values[p.Name] = checked
	}
	if missing := schema.MissingFrom(s.Params, out.Values); missing != nil {
		return out, fault.Hinted(s.fail(&fault.ParameterError{}, "argument %s", missing.Missing()), "call it as %s", s.Signature())
	}
	if s.NoExtra && len(a.Extra) > 0 {
		return out, s.fail(&fault.ParameterError{}, "takes no extra arguments, got %s", strings.Join(schema.SortedKeys(a.Extra), ", "))
	}
	return out, nil
}

func (s *Spec) unknown(name string) error {
	if slices.Contains(s.Refused, name) {
		return fault.Hinted(s.fail(&fault.QueryError{}, "%s is no longer an argument of searches", name),
			"filter by it: filter = { %s = { [\"$eq\"] = … } }", name)
	}
	f := s.fail(&fault.ParameterError{}, "unknown argument %s", name)
	hint := suggest.Hint(name, s.ParamNames())
	switch {
	case hint != "":
	case len(s.Params) == 0:
		hint = "it takes no arguments"
	default:
		hint = "it takes " + strings.Join(s.ParamNames(), ", ")
	}
	if !s.NoExtra {
		hint += fmt.Sprintf(" (an undocumented key goes into extra = { %s = … })", name)
	}
	return fault.Hinted(f, "%s", hint)
}

func (s *Spec) fail(f fault.Fault, format string, args ...any) fault.Fault {
	f.Facts().Operation = s.FullName()
	return fault.Of(f, format, args...)
}
