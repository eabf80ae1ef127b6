package reference

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// WriteList writes a line for each manager and each module.
func (c *Reference) WriteList(w io.Writer) error {
	p := &printer{w: w}
	for _, part := range []struct {
		title  string
		groups []*Group
	}{{"Managers", c.Managers}, {"Modules", c.Modules}} {
		p.printf("%s:\n", part.title)
		p.table(func(row func(...string)) {
			for _, g := range part.groups {
				row(g.Name, summary(g.Doc))
			}
		})
		p.printf("\n")
	}
	p.printf("transect doc NAME tells more: of a manager, an operation such as projects.create,\na module, or a function such as json.encode.\n")
	return p.err
}

// WriteText writes what people read of a group: a line for each of its entries.
func (g *Group) WriteText(w io.Writer) error {
	p := &printer{w: w}
	p.printf("%s\n\n%s\n", g.title(), g.Doc)
	if len(g.Fields) > 0 {
		p.printf("\nFields:\n")
		p.table(func(row func(...string)) {
			for _, f := range g.Fields {
				row(g.Name+"."+f.Name, f.Doc)
			}
		})
	}
	what := "Functions"
	if g.IsManager() {
		what = "Operations"
	}
	p.printf("\n%s:\n", what)
	p.table(func(row func(...string)) {
		for _, e := range g.Entries() {
			doc := summary(e.Doc)
			if e.Deprecated != "" {
				doc = "Deprecated, use " + e.Deprecated + "."
			}
			row(e.FullName(), doc)
		}
	})
	return p.err
}

func (g *Group) title() string {
	title := "module " + g.Name
	if g.IsManager() {
		title = "manager " + g.Name
	}
	if len(g.Aliases) > 0 {
		title += ", also " + strings.Join(g.Aliases, ", ")
	}
	return title
}

// WriteText writes everything there is to say of an entry.
func (e *Entry) WriteText(w io.Writer) error {
	p := &printer{w: w}
	p.printf("%s\n\n%s\n", e.Signature, e.Doc)
	if e.Deprecated != "" {
		p.printf("Deprecated: use %s.\n", e.Deprecated)
	}
	if len(e.Aliases) > 0 {
		p.printf("Also called %s.\n", strings.Join(e.Aliases, ", "))
	}
	if len(e.Parameters) > 0 {
		p.printf("\nArguments:\n")
		p.table(func(row func(...string)) { parameterRows(row, e.Parameters, "", e.Manager != "") })
	}
	if e.Extra {
		p.printf("  extra = { … } sends further keys as they are.\n")
	}
	p.printf("\nReturns:\n  %s\n", e.Returns)
	if len(e.Raises) > 0 {
		p.printf("\nRaises:\n")
		p.table(func(row func(...string)) {
			for _, r := range e.Raises {
				row(r.Name, r.When)
			}
		})
	}
	if e.Effect != "" {
		p.printf("\nEffect:\n  %s\n", effects[e.Effect])
	}
	if len(e.Paths) > 0 {
		p.printf("\nRequest:\n")
		for _, path := range e.Paths {
			p.printf("  %s %s\n", e.Method, path)
		}
	}
	if e.Example != "" {
		p.printf("\nExample:\n%s\n", indented(e.Example))
	}
	return p.err
}

func parameterRows(row func(...string), list []Parameter, under string, places bool) {
	for _, param := range list {
		if param.Options != nil {
			parameterRows(row, param.Options, param.Name+".", false)
			continue
		}
		row(under+param.Name, strings.Join(param.traits(places), ", "), param.meaning())
	}
}

// traits are what is short to say of a parameter: type, required, default.
func (p Parameter) traits(places bool) []string {
	traits := []string{p.Type}
	if p.Required {
		traits = append(traits, "required")
	}
	if places && p.Positional {
		traits = append(traits, "by position")
	}
	if p.Default != nil {
		traits = append(traits, "default "+literal(p.Default))
	}
	return traits
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
		text += "; never shown"
	}
	return text
}

// literal writes a default as Lua has it.
func literal(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	var plain any
	if json.Unmarshal(raw, &plain) != nil {
		return string(raw)
	}
	return luaLiteral(plain)
}

func luaLiteral(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case string:
		return strconv.Quote(v)
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = luaLiteral(item)
		}
		return "{" + strings.Join(items, ", ") + "}"
	case map[string]any:
		var items []string
		for key, item := range v {
			items = append(items, key+" = "+luaLiteral(item))
		}
		slices.Sort(items)
		return "{" + strings.Join(items, ", ") + "}"
	}
	return fmt.Sprint(v)
}

// summary is the first sentence.
func summary(doc string) string {
	if i := strings.Index(doc, ". "); i >= 0 {
		return doc[:i+1]
	}
	return doc
}

// printer keeps the first error of writing.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// table writes rows in columns.
func (p *printer) table(fill func(row func(cells ...string))) {
	if p.err != nil {
		return
	}
	t := tabwriter.NewWriter(p.w, 0, 0, 2, ' ', 0)
	fill(func(cells ...string) { fmt.Fprintf(t, "  %s\n", strings.Join(cells, "\t")) })
	p.err = t.Flush()
}

func indented(code string) string {
	lines := strings.Split(strings.TrimSpace(code), "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = "  " + line
		}
	}
	return strings.Join(lines, "\n")
}
