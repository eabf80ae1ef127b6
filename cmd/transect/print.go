package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"transect/client/human/tabular"
	"transect/runtime/jobs"
)

// printJSON prints a value on one line, or indented.
func (a *app) printJSON(v any, indent string) error { return writeJSON(a.stdout, v, indent) }

func writeJSON(to io.Writer, v any, indent string) error {
	out := json.NewEncoder(to)
	out.SetEscapeHTML(false)
	out.SetIndent("", indent)
	return out.Encode(v)
}

// fact prints a line with a name and a text, unless that is empty.
func (a *app) fact(name, format string, args ...any) {
	if text := jobs.Plain(fmt.Sprintf(format, args...)); text != "" {
		fmt.Fprintf(a.stdout, "%-11s %s\n", name, text)
	}
}

// printTable prints a table without borders.
func (a *app) printTable(header tabular.Row, rows []tabular.Row) {
	fmt.Fprintln(a.stdout, tabular.Table(header, rows))
}

// listing prints a list as a table, or with --json as one JSON object per line.
type listing[T any] struct {
	header tabular.Row
	row    func(T) tabular.Row
	object func(T) any // nil: the item itself
	none   string      // printed to standard error in place of an empty table
}

func (l listing[T]) print(a *app, list []T, asJSON bool) error {
	if asJSON {
		out := bufio.NewWriter(a.stdout)
		defer out.Flush() // a.stdout keeps its errors
		for _, item := range list {
			object := any(item)
			if l.object != nil {
				object = l.object(item)
			}
			if err := writeJSON(out, object, ""); err != nil {
				return err
			}
		}
		return nil
	}
	if len(list) == 0 {
		fmt.Fprintln(a.process.Stderr, l.none)
		return nil
	}
	rows := make([]tabular.Row, len(list))
	for i, item := range list {
		rows[i] = l.row(item)
	}
	a.printTable(l.header, rows)
	return nil
}
