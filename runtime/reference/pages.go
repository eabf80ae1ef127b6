package reference

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"transect/client"
	"transect/runtime/lint"
)

// Page is a page of the reference other than managers and modules: a guide, a recipe of the cookbook, or the
// fields of a kind of record.
type Page struct {
	Name  string `json:"name"` // filter, cookbook.find_by_name, Dataset
	Title string `json:"title"`
	Text  string `json:"text"` // Markdown of a guide, Lua of a recipe

	Record *client.RecordType `json:"record,omitempty"`
	Calls  []PythonCall       `json:"calls,omitempty"` // on the page for users of the Python SDK

	Permissions []Permission `json:"permissions,omitempty"` // on the page about rules of operations

	Rules []lint.Rule `json:"rules,omitempty"` // on the page about transect check

	Functions []LuaFunction `json:"functions,omitempty"` // of a module written in Lua
}

// isGuide distinguishes guides from records, recipes and modules.
func (p *Page) isGuide() bool {
	return p.Record == nil && !strings.HasPrefix(p.Name, cookbook+".") && !strings.HasPrefix(p.Name, lib+".")
}

//go:embed guides/*.md cookbook/*.lua
var pageFiles embed.FS

// cookbook is the page that lists the recipes, and the prefix of their names.
const cookbook = "cookbook"

// Guides returns the pages about topics common to several operations.
func Guides() []*Page {
	return readPages("guides/*.md", func(name, text string) *Page {
		title, rest, _ := strings.Cut(text, "\n")
		return &Page{Name: name, Title: strings.TrimPrefix(title, "# "), Text: strings.TrimSpace(rest)}
	})
}

// Recipes returns the scripts of the cookbook; the first line of each describes it. Tests run every one of
// them.
func Recipes() []*Page {
	return readPages("cookbook/*.lua", func(name, text string) *Page {
		title, _, _ := strings.Cut(text, "\n")
		return &Page{Name: cookbook + "." + name, Title: strings.TrimPrefix(title, "-- "), Text: strings.TrimSpace(text)}
	})
}

func readPages(pattern string, read func(name, text string) *Page) (pages []*Page) {
	files, err := fs.Glob(pageFiles, pattern)
	for _, file := range files {
		var text []byte
		if text, err = pageFiles.ReadFile(file); err != nil {
			break
		}
		base := path.Base(file)
		pages = append(pages, read(strings.TrimSuffix(base, path.Ext(base)), string(text)))
	}
	if err != nil {
		panic(err) // the files are part of the program
	}
	return pages
}

// recordPages returns pages with the fields of every kind of record.
func recordPages() (pages []*Page) {
	for _, r := range client.RecordTypes() {
		pages = append(pages, &Page{Name: r.Name, Title: r.Doc, Record: r})
	}
	return pages
}

// page returns a page by its name, in any case; a recipe also without its prefix, a record also by its name
// in arguments (collection_task).
func (r *Reference) page(name string) *Page {
	plain := strings.ToLower(strings.ReplaceAll(name, "_", ""))
	for _, p := range r.Pages {
		own := strings.ToLower(strings.ReplaceAll(p.Name, "_", ""))
		if own == plain || strings.TrimPrefix(own, cookbook+".") == plain {
			return p
		}
	}
	return nil
}

// Document returns the page for the terminal and for Markdown.
func (p *Page) Document() *Document {
	switch {
	case p.Record != nil:
		return recordDocument(p.Record)
	case strings.HasPrefix(p.Name, cookbook+"."):
		return &Document{intro: p.Text} // an unchanged script
	}
	d := &Document{title: p.Title, intro: p.Text}
	for _, s := range callSections(p.Calls) {
		d.add(s)
	}
	for _, s := range permissionSections(p.Permissions) {
		d.add(s)
	}
	d.add(rulesSection(p.Rules))
	d.add(functionsSection(p.Functions))
	return d
}

// recordDocument returns a table of the fields of a kind of record.
func recordDocument(r *client.RecordType) *Document {
	d := &Document{title: "record " + r.Name, intro: r.Doc + " Returned by " + strings.Join(r.Managers, ", ") + "."}
	fields := section{title: "Fields"}
	others := section{title: "Also read under the names they travel by"}
	var add func(list []client.RecordField, at string)
	add = func(list []client.RecordField, at string) {
		for _, f := range list {
			if travels(r.Fields, at+f.Name) {
				others.rows = append(others.rows, []string{at + f.Name, f.Type, f.Doc})
			} else {
				fields.rows = append(fields.rows, []string{at + f.Name, fieldTraits(f), searchable(f), fieldMeaning(f)})
			}
			if !strings.Contains(f.Wire, ".") { // a table is shown once, under the name that is documented
				add(f.Fields, at+f.Name+".")
			}
		}
	}
	add(r.Fields, "")
	d.add(fields)
	d.add(others)
	d.add(section{title: "Use", text: "Fields are read as attributes: " + example(r) +
		"; a field the platform did not send is nil.\n" +
		"record:totable() copies it, record:fields() lists what was sent. filter and sort name the fields a search takes: " +
		"transect doc filter"})
	return d
}

// travels reports whether a dotted name is the wire name of a field documented under another one, or below
// one.
func travels(fields []client.RecordField, name string) bool {
	for _, f := range fields {
		if f.Wire != "" && f.Wire != "_id" && (f.Wire == name || strings.HasPrefix(name, f.Wire+".")) ||
			travels(f.Fields, name) {
			return true
		}
	}
	return false
}

func fieldTraits(f client.RecordField) string {
	if f.Unit != "" {
		return f.Type + ", " + f.Unit
	}
	return f.Type
}

func searchable(f client.RecordField) string {
	switch {
	case f.Filter && f.Sort:
		return "filter, sort"
	case f.Filter:
		return "filter"
	case f.Sort:
		return "sort"
	}
	return "-"
}

func fieldMeaning(f client.RecordField) string {
	text := f.Doc
	if len(f.Choices) > 0 {
		text += "; one of " + strings.Join(f.Choices, ", ")
	}
	if f.Wire != "" && f.Wire != "_id" {
		text += "; travels as " + f.Wire
	}
	return text
}

func example(r *client.RecordType) string {
	name := strings.ToLower(r.Name[:1]) + r.Name[1:]
	for _, f := range r.Fields {
		if f.Fields != nil && f.Wire == "" && f.Type == "table" {
			return name + "." + f.Name + "." + f.Fields[0].Name
		}
	}
	return name + "." + r.Fields[min(1, len(r.Fields)-1)].Name
}

// pageFilesMarkdown returns the pages as files of docs/reference: one per guide, one with all records, one
// with all recipes.
func (r *Reference) pageFilesMarkdown() []File {
	records := "# Records\n\nThe fields of what operations return, with those that searches filter and sort by. " +
		"`transect doc Dataset` shows the same.\n"
	recipes := "# Cookbook\n\nScripts for everyday tasks. Tests run every one of them. `transect doc cookbook` lists " +
		"them, `transect doc cookbook.NAME` shows one.\n"
	var files []File
	for _, p := range r.Pages {
		switch {
		case p.Record != nil:
			d := p.Document()
			d.title = p.Name
			records += "\n" + d.markdown(2)
		case p.Name == cookbook, p.Name == lib:
		case strings.HasPrefix(p.Name, cookbook+"."):
			recipes += fmt.Sprintf("\n## %s\n\n```lua\n%s\n```\n", p.Title, p.Text)
		case p.isGuide():
			files = append(files, File{p.Name + ".md", p.Document().markdown(1)})
		}
	}
	return append(files, File{"records.md", records}, File{cookbook + ".md", recipes}, File{lib + ".md", r.libMarkdown()})
}

// allPages lists guides, the list of the cookbook, recipes, modules written in Lua and records.
func allPages() []*Page {
	list := &Page{Name: cookbook, Title: "Cookbook"}
	for _, p := range Recipes() {
		list.Text += fmt.Sprintf("%-34s %s\n", p.Name, p.Title)
	}
	list.Text += "\ntransect doc NAME shows one; transect doc NAME > FILE.lua makes a script of it."
	return slices.Concat(Guides(), []*Page{newPermissionsPage(), newRulesPage(), list}, Recipes(), libPages(),
		recordPages())
}
