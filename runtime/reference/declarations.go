package reference

import (
	"cmp"
	"slices"
	"strings"

	"transect/client/declare"
	"transect/client/schema"
	"transect/runtime/module"
)

func managerGroup(m *declare.Manager) *Group {
	g := &Group{Name: m.Name, Aliases: m.Aliases, Doc: m.Doc}
	for _, s := range m.Ops() {
		g.Operations = append(g.Operations, operation(s))
	}
	return g
}

func operation(s *declare.Spec) *Entry {
	result := resultsOf(s)
	e := &Entry{
		Spec: s, Manager: s.Manager, Operation: s.Name, Aliases: s.Aliases, Doc: s.Doc, Signature: s.Signature(),
		Effect: string(s.Effect), Paths: s.Routes, Parameters: []Parameter{}, Extra: !s.NoExtra, Raises: raises(s),
		Deprecated: s.Deprecated, result: result, Returns: returned(s, result),
	}
	if len(s.Routes) > 0 {
		e.Method = s.Method
	}
	for _, p := range s.Params {
		e.Parameters = append(e.Parameters, parameter(p))
	}
	return e
}

// returned describes the result in words.
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

// effects describes effects in words.
var effects = map[string]string{
	"read":   "reads; changes nothing",
	"create": "creates; a repeated call creates again",
	"set":    "changes; a repeated call changes nothing more",
	"delete": "removes",
}

// raises lists the errors of an operation. Its declaration determines nearly
// all: the checks of its arguments, and whether it sends requests.
func raises(s *declare.Spec) []Raise {
	var list []Raise
	add := func(name, when string) { // reasons of the same error are merged
		if i := slices.IndexFunc(list, func(r Raise) bool { return r.Name == name }); i >= 0 {
			list[i].When += "; " + when
			return
		}
		list = append(list, Raise{name, when})
	}
	add("ParameterError", "an argument is missing, unknown or of the wrong type; nothing was sent")
	for _, p := range s.Params {
		switch {
		case p.Raises != "" && len(p.Choices) > 0:
			add(p.Raises, p.Name+" is not one of "+strings.Join(p.Choices, ", "))
		case p.Raises == "BoundingBoxError":
			add(p.Raises, p.Name+" is not a valid GeoJSON geometry")
		}
	}
	if slices.ContainsFunc(s.Params, func(p schema.Param) bool { return strings.Contains(string(p.Type), "path") }) {
		if s.Effect == declare.Read {
			add("FileExistsError", "the file exists and overwrite is not true")
			add("FileError", "the file cannot be written")
			add("DownloadError", "the file arrives with another checksum, or the transfer fails")
		} else {
			add("UploadError", "a file cannot be read, is empty, changes during the upload, or arrives with another checksum")
		}
	}
	for _, r := range s.Raises {
		add(r.Name, r.When)
	}
	for _, p := range s.Params {
		switch {
		case (p.Type == "geometry" || p.Type == "drawing") && p.Raises == "":
			add("QueryError", p.Name+" is not a valid GeoJSON geometry")
		case p.Type == "filter":
			add("SearchError", "the filter has an unknown operator, sort is not 1 or -1, or fields both includes and excludes")
		}
	}
	if len(s.Refused) > 0 {
		add("QueryError", "an argument is combined with a filter on it ("+strings.Join(s.Refused, ", ")+")")
	}
	if s.Shape != declare.ShapeNone && sends(s) {
		add("QueryError", "the response is not of the documented form")
	}
	if s.Missing != "QueryError" {
		add(s.Missing, "the response does not contain "+cmp.Or(s.ResultKey, "an id"))
	}
	if sends(s) {
		add("ResponseError", "the platform refuses: what is named does not exist, is not allowed, or is taken; see status")
		add("TokenRenewalError", "the platform refuses the credentials")
		add("ConnectionError", "the platform cannot be reached; running again may help")
	}
	return list
}

// sends reports whether an operation sends requests. Some exist only to name
// their replacement.
func sends(s *declare.Spec) bool {
	if !s.Composed || len(s.Routes) > 0 || s.Shape != declare.ShapeNone {
		return true
	}
	return slices.ContainsFunc(s.Params, func(p schema.Param) bool { return p.In != schema.NotSent })
}

func moduleGroup(m *module.Module) *Group {
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

func function(group, object string, f module.Func) *Entry {
	e := &Entry{Module: group, Object: object, Function: f.Name, Doc: f.Doc, Parameters: []Parameter{}, Returns: f.Returns,
		Raises: []Raise{}}
	if e.Returns == "" {
		e.Returns = "nothing"
	}
	e.byName = len(f.Params) > 0 && module.TakesNames(f.Params, []string{f.Params[0].Name})
	var names []string
	for _, p := range f.Params {
		p.Positional = true
		e.Parameters = append(e.Parameters, parameter(p))
		names = append(names, signatureName(p))
	}
	e.Signature = e.FullName() + "(" + strings.Join(names, ", ") + ")"
	if len(f.Params) > 0 {
		e.Raises = append(e.Raises, Raise{"ParameterError", "an argument is missing, unknown or of the wrong type"})
	}
	return e
}

// signatureName formats a parameter for a signature: text, [limit], {indent=, …}.
func signatureName(p schema.Param) string {
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
