package reference

import (
	"strings"

	"transect/runtime/module"
)

func modulePage(m *module.Module) *Group {
	g := &Group{Name: m.Name, Doc: m.Doc, Functions: []*Entry{}}
	for _, f := range m.Fields {
		g.Fields = append(g.Fields, Field{f.Name, f.Doc})
	}
	for _, f := range m.Funcs {
		g.Functions = append(g.Functions, function(m.Name, "", f))
	}
	for _, t := range m.Types {
		g.Objects = append(g.Objects, Object{t.Name, t.Doc})
		for _, f := range t.Methods {
			g.Functions = append(g.Functions, function(m.Name, t.Name, f))
		}
	}
	return g
}

func function(module, object string, f module.Func) *Entry {
	e := &Entry{Module: module, Object: object, Function: f.Name, Doc: f.Doc, Parameters: []Parameter{}, Returns: f.Returns,
		Raises: []Raise{}, Example: f.Example, section: f.Example}
	if e.Returns == "" {
		e.Returns = "nothing"
	}
	var names []string
	for _, p := range f.Params {
		p.Positional = true
		e.Parameters = append(e.Parameters, parameter(p))
		names = append(names, shown(p))
	}
	e.Signature = e.FullName() + "(" + strings.Join(names, ", ") + ")"
	if len(f.Params) > 0 {
		e.Raises = append(e.Raises, Raise{"ParameterError", "an argument is missing, unknown or of the wrong type"})
	}
	return e
}

// shown is a parameter in a signature: text, [limit], {indent=, …}.
func shown(p module.Param) string {
	if p.Fields == nil {
		if p.Required() || p.Name == "..." || p.Type == "any" && !p.Optional {
			return p.Name
		}
		return "[" + p.Name + "]"
	}
	names := make([]string, len(p.Fields))
	for i, f := range p.Fields {
		names[i] = f.Name + "="
	}
	return "{" + strings.Join(names, ", ") + "}"
}
