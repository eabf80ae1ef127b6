package reference

import (
	"fmt"
	"strings"
)

// Markdown returns the reference: a page a manager and a module, and an index.
func (c *Reference) Markdown() []File {
	files := []File{{"README.md", c.index()}}
	for _, g := range c.Groups() {
		files = append(files, File{g.Name + ".md", g.markdown()})
	}
	return files
}

func (c *Reference) index() string {
	var b strings.Builder
	b.WriteString("# Reference\n\nEverything scripts can use, generated from the declarations by `go generate ./runtime/reference`.\n" +
		"`transect doc NAME` shows the same in a terminal, `transect doc --json` for programs.\n\n" +
		"Every call takes its arguments by name in one table, `projects.create{ name = …, company = … }`, or the first ones by\n" +
		"position and the rest behind them, `projects.create(name, company, { geometry = … })`. A resource stands for its\n" +
		"identifier wherever an id is wanted.\n")
	for _, part := range []struct {
		title  string
		groups []*Group
	}{{"Managers", c.Managers}, {"Modules", c.Modules}} {
		fmt.Fprintf(&b, "\n## %s\n\n| | |\n| --- | --- |\n", part.title)
		for _, g := range part.groups {
			fmt.Fprintf(&b, "| [%s](%s.md) | %s |\n", g.Name, g.Name, cell(summary(g.Doc)))
		}
	}
	return b.String()
}

func (g *Group) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n", g.Name, g.Doc)
	if len(g.Aliases) > 0 {
		fmt.Fprintf(&b, "\nAlso called %s.\n", code(g.Aliases...))
	}
	if len(g.Fields) > 0 {
		b.WriteString("\n| Field | |\n| --- | --- |\n")
		for _, f := range g.Fields {
			fmt.Fprintf(&b, "| `%s.%s` | %s |\n", g.Name, f.Name, cell(f.Doc))
		}
	}
	b.WriteString("\n| | |\n| --- | --- |\n")
	taken := map[string]int{}
	for _, e := range g.Entries() {
		at := anchor(e.FullName())
		if taken[at]++; taken[at] > 1 { // task.await, task:await
			at = fmt.Sprintf("%s-%d", at, taken[at]-1)
		}
		fmt.Fprintf(&b, "| [%s](#%s) | %s |\n", e.FullName(), at, cell(summary(e.Doc)))
	}
	if g.preamble != "" {
		fmt.Fprintf(&b, "\nThe examples of this page begin with:\n\n```lua\n%s\n```\n", g.preamble)
	}
	for _, e := range g.Entries() {
		e.markdown(&b)
	}
	return b.String()
}

func (e *Entry) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n## %s\n\n```lua\n%s\n```\n\n%s\n", e.FullName(), e.Signature, e.Doc)
	if e.Deprecated != "" {
		fmt.Fprintf(b, "\n**Deprecated:** use %s.\n", e.Deprecated)
	}
	if len(e.Aliases) > 0 {
		fmt.Fprintf(b, "\nAlso called %s.\n", code(e.Aliases...))
	}
	if len(e.Parameters) > 0 {
		b.WriteString("\n| Argument | Type | |\n| --- | --- | --- |\n")
		parameterRows(func(cells ...string) {
			fmt.Fprintf(b, "| `%s` | %s | %s |\n", cells[0], cell(cells[1]), cell(cells[2]))
		}, e.Parameters, "", e.Manager != "")
		if e.Extra {
			b.WriteString("| `extra` | table | further keys, sent as they are |\n")
		}
	}
	fmt.Fprintf(b, "\n**Returns** %s.\n", strings.TrimSuffix(e.Returns, "."))
	if len(e.Raises) > 0 {
		b.WriteString("\n**Raises**\n\n")
		for _, r := range e.Raises {
			fmt.Fprintf(b, "- `%s`: %s\n", r.Name, r.When)
		}
	}
	if e.Effect != "" {
		fmt.Fprintf(b, "\n**Effect:** %s.", effects[e.Effect])
		if len(e.Paths) > 0 {
			fmt.Fprintf(b, " Request: `%s %s`.", e.Method, strings.Join(e.Paths, "`, `"+e.Method+" "))
		}
		b.WriteString("\n")
	}
	if e.section != "" {
		fmt.Fprintf(b, "\n```lua\n%s\n```\n", e.section)
	}
}

// cell is text within a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

func code(names ...string) string { return "`" + strings.Join(names, "`, `") + "`" }

// anchor is the address of a heading, as readers of Markdown make it.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		if r == '.' || r == ':' {
			return -1
		}
		return r
	}, strings.ToLower(heading))
}
