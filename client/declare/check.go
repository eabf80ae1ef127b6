package declare

import (
	"fmt"
	"slices"
	"strings"

	"transect/client/fault"
	"transect/client/suggest"
)

// Checked returns the arguments in canonical form: aliases resolved, types
// checked and converted. It raises what the interface documents, and for
// everything else a ParameterError that names the argument.
func (s *Spec) Checked(a Args) (Args, error) {
	out := Args{Values: make(map[string]any, len(a.Values)), Extra: a.Extra}
	for _, name := range sortedKeys(a.Values) {
		p := s.Param(name)
		if p == nil {
			return out, s.unknown(name)
		}
		if _, twice := out.Values[p.Name]; twice {
			return out, s.fail(&fault.ParameterError{}, "%s is given twice, as %s and as %s", p.Name, p.Name, strings.Join(p.Aliases, ", "))
		}
		v := a.Values[name]
		if _, null := v.(Null); null || v == nil {
			if null {
				out.Values[p.Name] = Null{}
			}
			continue
		}
		checked, err := p.Type.check(p.Type, v)
		if err == nil {
			err = p.allowed(checked)
		} else if p.Secret {
			err = fmt.Errorf("wants %s", p.Type)
		}
		if err != nil {
			f := fault.Find(err)
			if f == nil {
				f = p.mistyped()
			}
			f.Facts().Message = fmt.Sprintf("argument %s: %s", p.Name, err)
			f.Facts().Operation = s.FullName()
			return out, f
		}
		out.Values[p.Name] = checked
	}
	for i := range s.Params {
		p := &s.Params[i]
		v, given := out.Values[p.Name]
		if _, null := v.(Null); p.Required && (!given || null) {
			return out, fault.Hinted(s.fail(&fault.ParameterError{}, "argument %s is missing (%s: %s)", p.Name, p.Type, p.Doc),
				"%s", s.usage())
		}
	}
	if s.NoExtra && len(a.Extra) > 0 {
		return out, s.fail(&fault.ParameterError{}, "takes no extra arguments, got %s", strings.Join(sortedKeys(a.Extra), ", "))
	}
	return out, nil
}

// usage says how to give the arguments: in a call, or as keys of a table.
func (s *Spec) usage() string {
	if s.Name == "" {
		return "the keys are " + strings.Join(s.ParamNames(), ", ")
	}
	return "call it as " + s.Signature()
}

func (s *Spec) unknown(name string) error {
	if slices.Contains(s.Refused, name) {
		return fault.Hinted(s.fail(&fault.QueryError{}, "%s is no argument of a search any more", name),
			"filter by it: filter = { %s = { [\"$eq\"] = … } }", name)
	}
	f := s.fail(&fault.ParameterError{}, "unknown argument %s", name)
	f.Facts().Hint = suggest.Hint(name, s.ParamNames())
	if f.Facts().Hint == "" {
		f.Facts().Hint = "it takes " + strings.Join(s.ParamNames(), ", ")
		if len(s.Params) == 0 {
			f.Facts().Hint = "it takes no arguments"
		}
	}
	if !s.NoExtra {
		between := "; a"
		if strings.HasSuffix(f.Facts().Hint, "?") {
			between = " A"
		}
		f.Facts().Hint += between + " key that is not documented goes into extra = { " + name + " = … }"
	}
	return f
}

func (s *Spec) fail(f fault.Fault, format string, args ...any) fault.Fault {
	f.Facts().Operation = s.FullName()
	return fault.Of(f, format, args...)
}

// mistyped is the error for a value of the wrong type.
func (p *Param) mistyped() fault.Fault {
	if p.ChoiceName != "" && len(p.Choices) == 0 {
		return fault.Named(p.ChoiceName)
	}
	return &fault.ParameterError{}
}

func (p *Param) allowed(v any) error {
	text, isText := v.(string)
	if len(p.Choices) == 0 || !isText {
		return nil
	}
	for _, c := range p.Choices {
		if c == text {
			return nil
		}
	}
	f := fault.Of(fault.Named(p.ChoiceName), "%q is not one of %s", text, strings.Join(p.Choices, ", "))
	f.Facts().Hint = suggest.Hint(text, p.Choices)
	return f
}

// Check tells what is wrong with a value of the argument, or nil: a fault where
// the type is right and the value is not.
func (p *Param) Check(v any) error {
	checked, err := p.Type.check(p.Type, v)
	if err != nil {
		return err
	}
	return p.allowed(checked)
}
