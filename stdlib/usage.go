package stdlib

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// usage is the text --help prints.
func (s *argSpec) usage(script string) string {
	var b strings.Builder
	if s.doc != "" {
		b.WriteString(s.doc + "\n\n")
	}
	fmt.Fprintf(&b, "Usage:\n  transect run %s", scriptName(script))
	if len(s.args) > len(s.positional) {
		b.WriteString(" [options]")
	}
	for _, name := range s.positional {
		b.WriteString(" " + s.args[name].place())
	}
	b.WriteString("\n")

	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	if len(s.positional) > 0 {
		fmt.Fprint(w, "\nArguments:\n")
		for _, name := range s.positional {
			fmt.Fprintf(w, "  %s\t%s\n", strings.ToUpper(name), s.args[name].explain())
		}
	}
	fmt.Fprint(w, "\nOptions:\n")
	for _, name := range s.names() {
		if slices.Contains(s.positional, name) {
			continue
		}
		a := s.args[name]
		left := "--" + flag(name)
		if a.typ != "boolean" {
			left += " " + strings.ToUpper(strings.TrimSuffix(a.typ, "s"))
		}
		fmt.Fprintf(w, "  %s\t%s\n", left, a.explain())
	}
	fmt.Fprint(w, "  --help\tshow this text\n")
	w.Flush() // into a strings.Builder, which does not fail
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// place is how a positional argument looks in the first line.
func (a *arg) place() string {
	text := strings.ToUpper(a.name)
	if a.typ == "strings" {
		text += "..."
	}
	if a.optional || a.fallback != nil {
		return "[" + text + "]"
	}
	return text
}

func (a *arg) explain() string {
	var parts []string
	if a.doc != "" {
		parts = append(parts, a.doc)
	}
	if a.choices != nil {
		parts = append(parts, "one of "+strings.Join(a.choices, ", "))
	}
	if a.env != "" {
		parts = append(parts, "or from $"+a.env)
	}
	switch {
	case a.fallback != nil:
		parts = append(parts, fmt.Sprintf("default %v", a.fallback))
	case !a.optional && a.typ != "boolean":
		parts = append(parts, "required")
	}
	return strings.Join(parts, "; ")
}
