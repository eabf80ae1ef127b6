package reference

import (
	"strings"

	"transect/bindings"
	"transect/client/declare"
)

func manager(m *declare.Manager, types map[string]results) *Group {
	g := &Group{Name: m.Name, Aliases: m.Aliases, Doc: m.Doc, preamble: bindings.Preamble(m.Name)}
	for _, s := range m.Ops {
		g.Operations = append(g.Operations, operation(s, types[s.FullName()]))
	}
	return g
}

func operation(s *declare.Spec, result results) *Entry {
	e := &Entry{
		Manager: s.Manager, Operation: s.Name, Aliases: s.Aliases, Doc: s.Doc, Signature: s.Signature(),
		Effect: string(s.Effect), Paths: s.Routes, Parameters: []Parameter{}, Extra: !s.NoExtra, Raises: raises(s),
		Deprecated: s.Deprecated, Example: s.Example, section: s.Example, result: result,
	}
	if len(s.Routes) > 0 {
		e.Method = s.Method
	}
	if section := bindings.Example(s.FullName()); section != "" {
		e.section = section
		e.Example = strings.TrimLeft(bindings.Preamble(s.Manager)+"\n\n"+section, "\n")
	}
	for _, p := range s.Params {
		e.Parameters = append(e.Parameters, parameter(p))
	}
	e.Returns = returned(s, result)
	return e
}

// returned says in words what comes back.
func returned(s *declare.Spec, r results) string {
	kind := r.record
	if kind == "" {
		kind = "resource"
	}
	switch {
	case s.Returns != "":
		return s.Returns
	case s.Shape == declare.ShapeNone:
		return "nothing"
	case s.Shape == declare.ShapeResource:
		return kind
	case s.Shape == declare.ShapeResources:
		return "list of " + kind
	case s.Shape == declare.ShapeSome:
		return kind + "; for a list, a list of them in the same order"
	case s.Shape == declare.ShapePage:
		return "list of " + kind + "; with return_total = true {total, results}"
	case s.Shape == declare.ShapeIterator:
		return "iterator of " + kind
	case s.Shape == declare.ShapeObject:
		return "table"
	}
	return strings.Join(r.values, ", ")
}

// effects in words.
var effects = map[string]string{
	"read":   "reads; changes nothing",
	"create": "creates; calling it again creates once more",
	"set":    "changes; calling it again changes nothing more",
	"delete": "takes something away",
}
