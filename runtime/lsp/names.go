package lsp

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"transect/runtime/engine/compile"
	"transect/runtime/lint"
	"transect/runtime/reference"
	"transect/runtime/vm"
)

// symbol is a variable, a global variable, or a field that a module of the workspace
// exports.
type symbol struct {
	doc   *document
	name  int    // where it is declared
	field string // of a module
}

// symbolAt returns the symbol of the name at a position.
func (s *Server) symbolAt(d *document, p position) (at symbol, ok bool) {
	i := s.analysed(d).nameAt(p)
	if i < 0 {
		return symbol{}, false
	}
	return s.symbol(d, i)
}

func (s *Server) symbol(d *document, i int) (symbol, bool) {
	switch n := &d.script.Names[i]; {
	case n.Member:
		if module := s.module(d, n.Module); module != nil {
			if j, exported := module.script.Exports[n.Text]; exported {
				return symbol{module, j, n.Text}, true
			}
		}
	case n.Declared >= 0:
		return symbol{d, n.Declared, exported(d, n.Declared)}, true
	case n.Global:
		for j := range d.script.Names {
			if o := &d.script.Names[j]; o.Global && o.Assigned && o.Text == n.Text {
				return symbol{d, j, ""}, true
			}
		}
	case n.Table >= 0 && n.Table == d.script.Returned: // within the module itself
		if j, exported := d.script.Exports[n.Text]; exported {
			return symbol{d, j, n.Text}, true
		}
	case n.Assigned && exported(d, i) != "":
		return symbol{d, i, n.Text}, true
	}
	return symbol{}, false
}

// exported returns the field under which a module exports the name declared at an index, or "".
func exported(d *document, declared int) string {
	for field, i := range d.script.Exports {
		if i == declared {
			return field
		}
	}
	return ""
}

func (s *Server) module(d *document, name string) *document {
	if path := s.Module(d.path, name); name != "" && filepath.IsAbs(path) {
		return s.document(path)
	}
	return nil
}

func (s *Server) definition(d *document, p params) (any, error) {
	if at, ok := s.symbolAt(d, p.Position); ok {
		n := &at.doc.script.Names[at.name]
		if file := s.module(at.doc, n.Module); file == nil || n.Line-1 != p.Position.Line || at.doc != d {
			return location{at.doc.uri, at.doc.rangeOf(n)}, nil
		}
	}
	if i := d.nameAt(p.Position); i >= 0 {
		if file := s.module(d, d.script.Names[i].Module); file != nil {
			return location{file.uri, span{}}, nil
		}
	}
	return nil, nil
}

// uses lists the occurrences of a symbol.
func (s *Server) uses(at symbol) (found []location) {
	docs := []*document{at.doc}
	if at.field != "" {
		if docs = s.documents(); !slices.ContainsFunc(docs, func(d *document) bool { return d.path == at.doc.path }) {
			docs = append(docs, at.doc)
		}
	}
	declared := at.doc.script.Names[at.name].Text
	for _, d := range docs {
		for i := range d.script.Names {
			n := &d.script.Names[i]
			if n.Text != at.field && (d.path != at.doc.path || n.Text != declared) {
				continue
			}
			if other, ok := s.symbol(d, i); ok && other.doc.path == at.doc.path && other.name == at.name {
				found = append(found, location{d.uri, d.rangeOf(n)})
			}
		}
	}
	return found
}

func (s *Server) references(d *document, p params) (any, error) {
	at, ok := s.symbolAt(d, p.Position)
	if !ok {
		return nil, nil
	}
	declared := location{at.doc.uri, at.doc.rangeOf(&at.doc.script.Names[at.name])}
	list := s.uses(at)
	if !p.Context.IncludeDeclaration {
		list = slices.DeleteFunc(list, func(l location) bool { return l == declared })
	}
	return list, nil
}

// local returns the local variable at a position, for renaming.
func (s *Server) local(d *document, p params) (variable int, at *lint.Name, err error) {
	i := s.analysed(d).nameAt(p.Position)
	switch {
	case i < 0 || d.script.Names[i].Declared < 0:
		return 0, nil, refused(codeRequestFailed, "only local variables can be renamed")
	case len(d.script.Problems) > 0 && d.script.Problems[0].Rule == lint.Syntax:
		return 0, nil, refused(codeRequestFailed, "the script has a syntax error: correct it first")
	}
	return d.script.Names[i].Declared, &d.script.Names[i], nil
}

func (s *Server) prepareRename(d *document, p params) (any, error) {
	_, n, err := s.local(d, p)
	if err != nil {
		return nil, err
	}
	return object{"range": d.rangeOf(n), "placeholder": n.Text}, nil
}

// rename renames a local variable, unless the new name would capture or be captured by another variable.
func (s *Server) rename(d *document, p params) (any, error) {
	declared, _, err := s.local(d, p)
	if err != nil {
		return nil, err
	}
	if !vm.IsName(p.NewName) || slices.Contains(compile.Keywords, p.NewName) {
		return nil, refused(codeRequestFailed, "%q cannot be a name", p.NewName)
	}
	var edits []textEdit
	renamed := &document{}
	*renamed = *d
	for i, n := range slices.Backward(d.script.Names) {
		if n.Declared == declared {
			edits = append(edits, textEdit{d.rangeOf(&d.script.Names[i]), p.NewName})
			renamed.edit(change{&edits[len(edits)-1].Range, p.NewName})
		}
	}
	for i, n := range s.analysed(renamed).script.Names {
		if n.Declared != d.script.Names[i].Declared || n.Global != d.script.Names[i].Global {
			return nil, refused(codeRequestFailed, "%s is another variable in line %d", p.NewName, n.Line)
		}
	}
	return workspaceEdit{map[string][]textEdit{d.uri: edits}}, nil
}

// hover describes the name at a position.
func (s *Server) hover(d *document, p params) (any, error) {
	i := s.analysed(d).nameAt(p.Position)
	if i < 0 {
		return nil, nil
	}
	n := &d.script.Names[i]
	text := ""
	switch document, value, err := s.reference.Lookup(n.Reference); {
	case n.Parameter != "":
		text = s.parameter(n.Reference, n.Parameter)
	case n.Reference != "" && err == nil:
		if page, ok := value.(*reference.Page); ok && page.Name != n.Reference {
			f := page.Record.Field(n.Text)
			text = described(n.Reference, f.Type, f.Doc, f.Choices)
			break
		}
		text = document.Markdown()
		if n.Declared >= 0 && n.About != "table" && n.About != "function" {
			text = code("local "+n.Text+": "+n.About) + "\n" + text
		}
	default:
		if at, ok := s.symbol(d, i); ok {
			text = at.shown()
		}
	}
	if text == "" {
		return nil, nil
	}
	return hover{markdown(text), d.rangeOf(n)}, nil
}

func code(text string) string { return "```lua\n" + text + "\n```\n" }

// parameter documents an argument of an operation or a function, or one of its options.
func (s *Server) parameter(entry, name string) string {
	_, e, err := s.reference.Find(entry)
	if err != nil || e == nil {
		return ""
	}
	list := e.Parameters
	for _, p := range e.Parameters {
		list = append(list[:len(list):len(list)], p.Options...)
	}
	for _, p := range list {
		if p.Name == name {
			return argument(p)
		}
	}
	return ""
}

func argument(p reference.Parameter) string {
	kind := p.Type
	if p.Required {
		kind += ", required"
	}
	return described(p.Name, kind, p.Doc, p.Choices)
}

// described formats an argument or a field in Markdown.
func described(name, kind, doc string, choices []string) string {
	text := "`" + name + "`: " + kind + "\n\n" + doc
	if len(choices) > 0 {
		text += "\n\nOne of `" + strings.Join(choices, "`, `") + "`."
	}
	return text
}

// shown returns the line where a symbol is declared, with the comment above it.
func (at symbol) shown() string {
	n := &at.doc.script.Names[at.name]
	var lines []string
	for i := n.Line - 2; i >= 0; i-- {
		text, comment := bytes.CutPrefix(bytes.TrimSpace(at.doc.line(i)), []byte("--"))
		if !comment {
			break
		}
		lines = append(lines, strings.TrimSpace(strings.TrimLeft(string(text), "-")))
	}
	slices.Reverse(lines)
	line := string(bytes.TrimSpace(at.doc.line(n.Line - 1)))
	if n.About != "" && !strings.Contains(line, "function") {
		line += " -- " + n.About
	}
	return code(line) + "\n" + strings.Join(lines, "\n")
}
