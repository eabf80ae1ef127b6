package reference

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"transect/client/human/tabular"
)

// Document is a page of the reference. It is written as plain text for the
// terminal and as Markdown for docs/reference.
type Document struct {
	title    string
	intro    string
	sections []section
}

// section is a part of a page: rows of a table, or lines of code or text.
type section struct {
	title string
	rows  [][]string
	links []string // targets of the first cells in Markdown
	code  string
	text  string
}

func (d *Document) add(s section) {
	if len(s.rows) > 0 || s.code != "" || s.text != "" {
		d.sections = append(d.sections, s)
	}
}

// WriteText writes plain text with aligned columns.
func (d *Document) WriteText(w io.Writer) error {
	var b strings.Builder
	for _, part := range []string{d.title, d.intro} {
		if part != "" {
			b.WriteString(part + "\n\n")
		}
	}
	for _, s := range d.sections {
		fmt.Fprintf(&b, "%s:\n", s.title)
		for _, line := range tabular.Align(s.rows, tabular.Widths(s.rows), nil) {
			b.WriteString("  " + line + "\n")
		}
		for line := range strings.Lines(s.text + s.code) {
			b.WriteString(strings.TrimRight("  "+line, " \n") + "\n")
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, strings.TrimSuffix(b.String(), "\n"))
	return err
}

// Markdown writes the page for editors.
func (d *Document) Markdown() string { return d.markdown(3) }

// markdown writes the page with a heading of a level; level 0 has no heading.
func (d *Document) markdown(level int) string {
	var b strings.Builder
	if level > 0 {
		fmt.Fprintf(&b, "%s %s\n\n%s\n", strings.Repeat("#", level), d.title, d.intro)
	}
	for _, s := range d.sections {
		switch {
		case s.title != "" && level == 0:
			fmt.Fprintf(&b, "\n## %s\n", s.title)
		case s.text != "":
			fmt.Fprintf(&b, "\n**%s:** %s.\n", s.title, strings.ReplaceAll(s.text, "\n", ", "))
		case s.title != "":
			fmt.Fprintf(&b, "\n**%s**\n", s.title)
		}
		for i, row := range s.rows {
			if i == 0 {
				fmt.Fprintf(&b, "\n|%s\n|%s\n", strings.Repeat(" |", len(row)), strings.Repeat(" --- |", len(row)))
			}
			cells := make([]string, len(row))
			for j, text := range row {
				cells[j] = strings.ReplaceAll(text, "|", `\|`)
			}
			if s.links != nil {
				cells[0] = "[" + cells[0] + "](" + s.links[i] + ")"
			} else {
				cells[0] = "`" + cells[0] + "`"
			}
			fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
		}
		if s.code != "" {
			fmt.Fprintf(&b, "\n```lua\n%s\n```\n", s.code)
		}
	}
	return b.String()
}

// Overview lists all managers and modules.
func (r *Reference) Overview() *Document { return r.overview(false) }

func (r *Reference) overview(linked bool) *Document {
	d := &Document{}
	for _, part := range []struct {
		title  string
		groups []*Group
	}{{"Managers", r.Managers}, {"Modules", r.Modules}} {
		s := section{title: part.title}
		for _, g := range part.groups {
			s.rows = append(s.rows, []string{g.Name, summary(g.Doc)})
			if linked {
				s.links = append(s.links, g.Name+".md")
			}
		}
		d.add(s)
	}
	if !linked {
		var guides, records []string
		for _, p := range r.Pages {
			switch {
			case p.Record != nil:
				records = append(records, p.Name)
			case p.isGuide():
				guides = append(guides, p.Name)
			}
		}
		d.add(section{title: "Guides", text: strings.Join(guides, ", ")})
		d.add(section{title: "Records", text: wrapped(strings.Join(records, ", "), 90)})
		d.add(section{title: "Details",
			text: "transect doc NAME shows a manager, an operation such as projects.create, a module,\n" +
				"a function such as json.encode, a guide, or the fields of a record such as Dataset;\n" +
				"transect doc --search WORDS searches everything"})
	}
	return d
}

// wrapped breaks a text at blanks into lines of at most width characters.
func wrapped(text string, width int) string {
	var b strings.Builder
	column := 0
	for word := range strings.FieldsSeq(text) {
		if column > 0 && column+1+len(word) > width {
			b.WriteByte('\n')
			column = 0
		} else if column > 0 {
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}

// Document returns the page of a manager or a module, with a line per entry.
func (g *Group) Document() *Document {
	d := &Document{title: "module " + g.Name, intro: g.Doc}
	entries := section{title: "Functions"}
	if g.IsManager() {
		d.title, entries.title = "manager "+g.Name, "Operations"
	}
	if len(g.Aliases) > 0 {
		d.title += ", also " + strings.Join(g.Aliases, ", ")
	}
	fields := section{title: "Fields"}
	for _, f := range g.Fields {
		fields.rows = append(fields.rows, []string{g.Name + "." + f.Name, f.Doc})
	}
	anchors := map[string]int{}
	for _, e := range g.Entries() {
		doc := summary(e.Doc)
		if e.Deprecated != "" {
			doc = "Deprecated, use " + e.Deprecated + "."
		}
		entries.rows = append(entries.rows, []string{e.FullName(), doc})
		anchor := strings.ToLower(strings.NewReplacer(".", "", ":", "").Replace(e.FullName()))
		if anchors[anchor]++; anchors[anchor] > 1 { // task.await and task:await
			anchor = fmt.Sprintf("%s-%d", anchor, anchors[anchor]-1)
		}
		entries.links = append(entries.links, "#"+anchor)
	}
	d.add(fields)
	d.add(entries)
	return d
}

// setup is the title of the section with the code that runs before an example; Markdown pages have it once.
const setup = "The example begins with"

// Document returns the page of an operation or a function: the call first, its setup last.
func (e *Entry) Document() *Document {
	d := &Document{title: e.Signature, intro: e.Doc}
	if e.Deprecated != "" {
		d.intro += "\nDeprecated: use " + e.Deprecated + "."
	}
	if len(e.Aliases) > 0 {
		d.intro += "\nAliases: " + strings.Join(e.Aliases, ", ") + "."
	}
	d.add(section{title: "Example", code: e.example.Code})
	arguments := section{title: "Arguments", rows: rows(e.Parameters, "", e.Manager != "")}
	if e.Extra {
		arguments.rows = append(arguments.rows, []string{"extra", "table",
			"further keys, sent unchanged; so are unknown arguments unless they resemble one of these"})
	}
	d.add(arguments)
	d.add(section{title: "Returns", text: strings.TrimSuffix(e.Returns, ".")})
	errors := section{title: "Errors"}
	for _, r := range e.Raises {
		errors.rows = append(errors.rows, []string{r.Name, r.When})
	}
	d.add(errors)
	d.add(section{title: "Effect", text: effects[e.Effect]})
	requests := make([]string, len(e.Paths))
	for i, path := range e.Paths {
		requests[i] = e.Method + " " + path
	}
	d.add(section{title: "Request", text: strings.Join(requests, "\n")})
	d.add(section{title: setup, code: e.example.Preamble})
	return d
}

func rows(list []Parameter, prefix string, positions bool) (all [][]string) {
	for _, p := range list {
		if p.Options != nil {
			all = append(all, rows(p.Options, p.Name+".", false)...)
			continue
		}
		all = append(all, []string{prefix + p.Name, p.traits(positions), p.meaning()})
	}
	return all
}

// traits returns the type of a parameter, whether it is required, and its default.
func (p Parameter) traits(positions bool) string {
	text := p.Type
	if p.Required {
		text += ", required"
	}
	if positions && p.Positional {
		text += ", by position"
	}
	if p.Default != nil {
		text += ", default " + luaLiteral(p.Default)
	}
	return text
}

func (p Parameter) meaning() string {
	text := p.Doc
	if len(p.Choices) > 0 {
		text += "; one of " + strings.Join(p.Choices, ", ")
	}
	if len(p.Aliases) > 0 {
		text += "; also " + strings.Join(p.Aliases, ", ")
	}
	if p.Secret {
		text += "; never printed"
	}
	return text
}

// summary returns the first sentence.
func summary(doc string) string {
	if i := strings.Index(doc, ". "); i >= 0 {
		return doc[:i+1]
	}
	return doc
}

// Markdown returns the pages of docs/reference: an index and a page per group.
func (r *Reference) Markdown() []File {
	index := "# Reference\n\nManagers and modules, generated from the declarations by `go generate ./runtime/reference`.\n" +
		"`transect doc NAME` shows the same in a terminal, `transect doc --json` for programs.\n\n" +
		"Every call takes its arguments by name in one table, `projects.create{ name = …, company = … }`, or the first " +
		"ones by\n" +
		"position followed by a table, `projects.create(name, company, { geometry = … })`. A resource can be given in " +
		"place of\n" +
		"its identifier. [Records](records.md) lists the fields of what comes back, the [cookbook](cookbook.md) has " +
		"everyday tasks.\n\n## Guides\n\n"
	for _, p := range r.Pages {
		if p.isGuide() && p.Name != cookbook {
			index += "- [" + p.Title + "](" + p.Name + ".md)\n"
		}
	}
	files := append([]File{{"README.md", index + r.overview(true).markdown(0)}}, r.pageFilesMarkdown()...)
	for _, g := range r.Groups() {
		d := g.Document()
		d.title = g.Name
		page := d.markdown(1)
		if preamble := g.Entries()[0].example.Preamble; preamble != "" {
			page += fmt.Sprintf("\nThe examples of this page begin with:\n\n```lua\n%s\n```\n", preamble)
		}
		for _, e := range g.Entries() {
			d := e.Document()
			d.title = e.FullName()
			d.sections = append([]section{{code: e.Signature}}, d.sections...)
			d.sections = slices.DeleteFunc(d.sections, func(s section) bool { return s.title == setup })
			page += "\n" + d.markdown(2)
		}
		files = append(files, File{g.Name + ".md", page})
	}
	return files
}
