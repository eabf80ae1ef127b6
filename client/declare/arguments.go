package declare

import (
	"slices"
	"strings"

	"transect/client/fault"
	"transect/client/schema"
)

// Table describes the table that is the last argument of a call.
type Table struct {
	Keys []string
	List bool // it has keys that are not names
}

// Bind assigns the n arguments of a call: by position to parameters, one each, and a last table of
// named arguments to the parameters it names. It fails when there are too many.
func (s *Spec) Bind(n int, last *Table) (positional []*schema.Param, named bool, err error) {
	for i := range s.Params {
		if s.Params[i].Positional {
			positional = append(positional, &s.Params[i])
		}
	}
	if last != nil && s.takesNamed(last, n-1, positional) {
		n, named = n-1, true
	}
	if n <= len(positional) {
		return positional[:n], named, nil
	}
	f := s.fail(&fault.ParameterError{}, "takes at most %d by position", len(positional))
	if len(positional) == 0 {
		f = s.fail(&fault.ParameterError{}, "takes its arguments by name")
	}
	return positional, named, fault.Hinted(f, "call it as %s", s.Signature())
}

// takesNamed reports whether a table, the last argument of a call at an index, holds named
// arguments rather than the value of a positional one.
func (s *Spec) takesNamed(last *Table, at int, positional []*schema.Param) bool {
	matched, record := 0, false
	for _, key := range last.Keys {
		if s.Names(key) {
			matched++
		}
		record = record || key == "_id" || key == "id"
	}
	switch {
	case last.List:
		return false
	case at >= len(positional):
		return true
	case record && matched == 0:
		return false
	case len(last.Keys) == 0:
		return !positional[at].Required() || s.Params[0].Name != positional[at].Name ||
			positional[at].Type.Kinds()&schema.EmptyTable == 0
	case matched == len(last.Keys):
		return true
	case geometric(positional[at].Type):
		return !slices.Contains(last.Keys, "type") // every geometry has a type
	case positional[at].Type.Keyed():
		return false
	}
	return true
}

func geometric(t schema.Type) bool { return t == "geometry" || t == "drawing" }

// Names reports whether a key of a table of named arguments names one.
func (s *Spec) Names(key string) bool { return key == "extra" || s.Param(key) != nil }

// Signature returns the operation as a line of documentation:
// projects.create(name, company, {geometry=}).
func (s *Spec) Signature() string {
	var pos, named []string
	for _, p := range s.Params {
		switch {
		case p.Positional && p.Required():
			pos = append(pos, p.Name)
		case p.Positional:
			pos = append(pos, "["+p.Name+"]")
		default:
			named = append(named, p.Name+"=")
		}
	}
	if len(named) > 0 {
		pos = append(pos, "{"+strings.Join(named, ", ")+"}")
	}
	return s.FullName() + "(" + strings.Join(pos, ", ") + ")"
}
