package declare

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"transect/client/fault"
	"transect/client/schema"
	"transect/client/suggest"
)

// Args are the arguments of one call, by name, and the extra ones, which are sent unchanged.
type Args struct {
	Values map[string]any
	Extra  map[string]any
}

// ParseArgs reads arguments by name from a JSON object. Keys under extra are sent unchanged.
func ParseArgs(text []byte) (Args, error) {
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	var object map[string]any
	err := in.Decode(&object)
	if _, more := in.Token(); err == nil && (object == nil || more != io.EOF) {
		err = errors.New("it is not one object")
	}
	if err != nil {
		return Args{}, err
	}
	schema.KeepNulls(object)
	args := Args{Values: object}
	if extra, ok := object["extra"].(map[string]any); ok {
		args.Extra = extra
		delete(object, "extra")
	}
	return args, nil
}

// Text returns a string argument, "" when absent.
func (a Args) Text(name string) string {
	s, _ := a.Values[name].(string)
	return s
}

// Checked returns the arguments in canonical form: aliases resolved, types checked and converted.
// It fails with the documented error, otherwise with a ParameterError that names the argument.
func (s *Spec) Checked(a Args) (Args, error) {
	out := Args{Values: make(map[string]any, len(a.Values)), Extra: a.Extra}
	for _, name := range schema.SortedKeys(a.Values) {
		p := s.Param(name)
		if p == nil {
			if err := s.Undeclared(name); err != nil {
				return out, err
			}
			if err := out.addExtra(s, name, a.Values[name]); err != nil {
				return out, err
			}
			continue
		}
		if _, twice := out.Values[p.Name]; twice {
			return out, s.fail(&fault.ParameterError{}, "%s is given twice, as %s and as %s", p.Name, p.Name,
				strings.Join(p.Aliases, ", "))
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
	if out.Extra["coordinates"] != nil && out.Extra["type"] != nil && a.Extra["type"] == nil {
		for i := range s.Params {
			if p := &s.Params[i]; geometric(p.Type) && out.Values[p.Name] == nil {
				return out, fault.Hinted(s.fail(&fault.ParameterError{}, "the arguments are a geometry"),
					"name it: %s = { type = …, coordinates = … }", p.Name)
			}
		}
	}
	if missing := schema.MissingFrom(s.Params, out.Values); missing != nil {
		return out, fault.Hinted(s.fail(&fault.ParameterError{}, "argument %s", missing.Missing()), "call it as %s",
			s.Signature())
	}
	if s.NoExtra && len(a.Extra) > 0 {
		return out, s.fail(&fault.ParameterError{}, "takes no extra arguments, got %s",
			strings.Join(schema.SortedKeys(a.Extra), ", "))
	}
	return out, nil
}

// Unnamed lists the undeclared arguments of a call, which are sent unchanged, each with a likely correction.
func (s *Spec) Unnamed(values map[string]any) (found []string) {
	for name, v := range values {
		if s.Param(name) != nil || v == nil || len(s.Params) == 0 {
			continue
		}
		text := s.FullName() + " has no argument " + name + ", which is sent unchanged"
		for _, param := range s.ParamNames() {
			if len(name) > 4 && strings.HasPrefix(param, name[:5]) || strings.HasSuffix(param, "_"+name) {
				text += "; did you mean " + param + "?"
				break
			}
		}
		found = append(found, text)
	}
	slices.Sort(found)
	return found
}

// addExtra adds an undeclared argument to the extra ones.
func (a *Args) addExtra(s *Spec, name string, v any) error {
	if v == nil {
		return nil
	}
	if _, twice := a.Extra[name]; twice {
		return s.fail(&fault.ParameterError{}, "argument %s is given twice, by name and in extra", name)
	}
	if reflect.TypeOf(v).Kind() == reflect.Func {
		return s.fail(&fault.ParameterError{}, "argument %s is a function, which cannot be sent", name)
	}
	a.Extra = maps.Clone(a.Extra)
	if a.Extra == nil {
		a.Extra = map[string]any{}
	}
	a.Extra[name] = v
	return nil
}

// Undeclared returns why an undeclared argument is refused, or nil when it is sent unchanged, like
// those in extra. A likely misspelling is refused; extra accepts it.
func (s *Spec) Undeclared(name string) error {
	if slices.Contains(s.Refused, name) {
		return fault.Hinted(s.fail(&fault.QueryError{}, "%s is no longer an argument of searches", name),
			"filter by it: filter = { %s = { [\"$eq\"] = … } }", name)
	}
	if slices.Contains(s.Absent, name) {
		return fault.Hinted(s.fail(&fault.ParameterError{}, "argument %s does not exist in this revision of the interface",
			name),
			"connect with another revision, or give extra = { %s = … }", name)
	}
	hint := suggest.Hint(name, s.ParamNames())
	switch {
	case hint == "" && !s.NoExtra:
		return nil
	case hint != "":
	case len(s.Params) == 0:
		hint = "it takes no arguments"
	default:
		hint = "it takes " + strings.Join(s.ParamNames(), ", ")
	}
	if !s.NoExtra {
		hint += fmt.Sprintf(" (to send it as it is: extra = { %s = … })", name)
	}
	return fault.Hinted(s.fail(&fault.ParameterError{}, "unknown argument %s", name), "%s", hint)
}

func (s *Spec) fail(f fault.Fault, format string, args ...any) fault.Fault {
	f.Facts().Operation = s.FullName()
	return fault.Of(f, format, args...)
}
