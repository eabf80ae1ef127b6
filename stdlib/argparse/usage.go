package argparse

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"transect/client/human/tabular"
	"transect/client/schema"
)

// Usage returns the text that --help prints.
func (s *Spec) Usage() string {
	var b strings.Builder
	if s.Doc != "" {
		b.WriteString(s.Doc + "\n\n")
	}
	fmt.Fprintf(&b, "Usage:\n  %s", cmp.Or(s.Program, "transect run SCRIPT"))
	if len(s.Args) > len(s.Positional) {
		b.WriteString(" [options]")
	}
	for _, name := range s.Positional {
		b.WriteString(" " + s.synopsis(s.Args[name]))
	}
	b.WriteString("\n")
	if s.Example != "" {
		b.WriteString("\nExamples:\n  " + strings.ReplaceAll(strings.TrimSpace(s.Example), "\n", "\n  ") + "\n")
	}

	section := func(title string, rows []tabular.Row) {
		b.WriteString("\n" + title + ":\n  " + strings.ReplaceAll(tabular.Table(nil, rows), "\n", "\n  ") + "\n")
	}
	var rows []tabular.Row
	for _, name := range s.Positional {
		rows = append(rows, tabular.Row{s.placeholder(s.Args[name]), s.Args[name].explain()})
	}
	if len(rows) > 0 {
		section("Arguments", rows)
	}
	rows = nil
	for _, name := range schema.SortedKeys(s.Args) {
		if slices.Contains(s.Positional, name) {
			continue
		}
		a := s.Args[name]
		left := "--" + flag(name)
		if a.Short != "" {
			left = "-" + a.Short + ", " + left
		}
		if a.Type != "boolean" {
			left += " " + cmp.Or(a.Value, strings.ToUpper(strings.TrimPrefix(string(a.Type), "[]")))
		}
		rows = append(rows, tabular.Row{left, a.explain()})
	}
	section("Options", append(rows, tabular.Row{"--help", "show this text"}))
	return b.String()
}

// synopsis returns a positional argument as shown in the usage line.
func (s *Spec) synopsis(a *Arg) string {
	text := s.placeholder(a)
	if a.list() {
		text += "..."
	}
	if a.Optional || a.Default != nil {
		return "[" + text + "]"
	}
	return text
}

func (a *Arg) explain() string {
	var parts []string
	if a.Doc != "" {
		parts = append(parts, a.Doc)
	}
	if a.Choices != nil {
		parts = append(parts, "one of "+joinQuoted(a.Choices))
	}
	if a.Env != "" {
		parts = append(parts, "or from $"+a.Env)
	}
	switch {
	case a.Default != nil:
		if text := format(a.Default); text != "" {
			parts = append(parts, "default "+text)
		}
	case !a.Optional && a.Type != "boolean":
		parts = append(parts, "required")
	}
	return strings.Join(parts, "; ")
}

// format formats a value for people, "" for an empty one.
func format(value any) string {
	if value == "" {
		return ""
	}
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = fmt.Sprint(v)
	}
	return joinQuoted(texts)
}

// joinQuoted joins texts, quoting texts that would not be distinct in a list.
func joinQuoted(texts []string) string {
	out := make([]string, len(texts))
	for i, text := range texts {
		if out[i] = text; text == "" || strings.ContainsAny(text, ",; \t\n") {
			out[i] = strconv.Quote(text)
		}
	}
	return strings.Join(out, ", ")
}
