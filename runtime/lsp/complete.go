package lsp

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"transect/runtime/complete"
	"transect/runtime/engine/compile"
	"transect/runtime/lint"
	"transect/runtime/reference"
)

// place is the analysis at the cursor.
type place struct {
	complete.Cursor
	*lint.View
	server *Server
	doc    *document
}

func (s *Server) place(d *document, p position) *place {
	before := d.text[:d.offset(p)]
	return &place{complete.Scan(string(before)), s.checker.At(d.path, before), s, d}
}

// entry returns the entry of the reference that a path leads to, or nil.
func (at *place) entry(path []any) *reference.Entry {
	if name := at.Reference(path); name != "" {
		if _, e, err := at.server.reference.Find(name); err == nil {
			return e
		}
	}
	return nil
}

// complete lists the completions at a position.
func (s *Server) complete(d *document, p params) (any, error) {
	at := s.place(d, p.Position)
	items, typed := []completionItem{}, at.Word
	add := func(kind int, words ...string) {
		slices.Sort(words)
		for _, word := range slices.Compact(words) {
			if strings.HasPrefix(word, typed) {
				items = append(items, at.item(kind, word))
			}
		}
	}
	switch name, _ := complete.Single(at.Call); {
	case at.Comment:
	case at.Quoted && name == "require" && !at.Table:
		typed = at.Text
		add(kindModule, append(at.Modules(), s.modules(d)...)...)
	case at.Quoted:
		typed = at.Text
		if words := at.Values(at.entry); words != nil {
			add(kindValue, words...)
			break
		}
		typed = at.Text[strings.LastIndexAny(at.Text, `/\`)+1:]
		add(kindFile, s.files(d, at.Text[:len(at.Text)-len(typed)])...)
	case at.Sep != "":
		if module := s.module(d, at.Module(at.Path)); module != nil {
			for field := range module.script.Exports {
				add(kindField, field)
			}
		} else if at.Path != nil {
			add(kindField, at.Members(at.Path, at.Sep == ":")...)
		}
	default:
		add(kindProperty, at.Keys(at.entry)...)
		if at.Word != "" {
			add(kindVariable, at.Names()...)
			add(kindKeyword, compile.Keywords...)
		}
	}
	for i := range items {
		start := p.Position
		start.Character = max(0, start.Character-units(typed))
		items[i].TextEdit.Range = span{start, p.Position}
	}
	return object{"isIncomplete": false, "items": items}, nil
}

// item returns one completion, documented if the reference has it.
func (at *place) item(kind int, word string) completionItem {
	item := completionItem{Label: strings.TrimSuffix(word, " = "), Kind: kind, TextEdit: &textEdit{NewText: word}}
	switch kind {
	case kindField:
		if e := at.entry(append(slices.Clip(at.Path), word)); e != nil {
			item.Kind, item.Detail, item.Documentation = kindFunction, e.Signature, markdown(e.Doc)
		}
	case kindProperty:
		called := at.Call
		if called == nil {
			called = at.Of
		}
		if e := at.entry(called); e != nil {
			if text := at.server.parameter(e.FullName(), item.Label); text != "" {
				item.Documentation = markdown(text)
			}
		}
	}
	return item
}

// files lists the contents of a folder named in a script; scripts run in the first folder of the workspace.
func (s *Server) files(d *document, folder string) (names []string) {
	dir := filepath.FromSlash(folder)
	switch {
	case filepath.IsAbs(dir):
	case len(s.folders) > 0:
		dir = filepath.Join(s.folders[0], dir)
	default:
		dir = filepath.Join(filepath.Dir(d.path), dir)
	}
	list, _ := os.ReadDir(dir)
	for _, e := range list {
		if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && !strings.HasPrefix(e.Name(), ".") {
			name := e.Name()
			if info.IsDir() {
				name += "/"
			}
			names = append(names, name)
		}
	}
	return names
}

// modules lists the modules in a script's folder and its subfolders.
func (s *Server) modules(d *document) (names []string) {
	dir := filepath.Dir(d.path)
	for _, pattern := range []string{"[^.]*.lua", "[^.]*/[^.]*.lua"} {
		found, _ := fs.Glob(os.DirFS(dir), pattern) // the pattern is valid
		for _, name := range found {
			if name != filepath.Base(d.path) {
				names = append(names, strings.ReplaceAll(strings.TrimSuffix(name, ".lua"), "/", "."))
			}
		}
	}
	return names
}

// signature returns the arguments of the call at a position.
func (s *Server) signature(d *document, p params) (any, error) {
	at := s.place(d, p.Position)
	called, active := at.Call, at.Key
	if called == nil && len(at.Within) > 0 { // in a table within an argument
		called, active = at.Of, at.Within[0]
	}
	if len(called) == 0 || at.Comment {
		return nil, nil
	}
	e := at.entry(called)
	if e == nil {
		return nil, nil
	}
	help := signatureHelp{ActiveParameter: at.Argument}
	found := signature{Label: e.Signature, Documentation: markdown(e.Doc), Parameters: []parameterInfo{}}
	for i, parameter := range e.Parameters {
		found.Parameters = append(found.Parameters, parameterInfo{parameter.Name, markdown(argument(parameter))})
		if active != "" && parameter.Name == active || at.Table && parameter.Options != nil {
			help.ActiveParameter = i
		}
	}
	help.Signatures = []signature{found}
	return help, nil
}
