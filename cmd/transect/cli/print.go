package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"time"

	"transect/client/human"
	"transect/client/human/tabular"
)

// PrintJSON prints a value on one line, or indented.
func (a *App) PrintJSON(v any, indent string) error { return writeJSON(a.Stdout, v, indent) }

func writeJSON(to io.Writer, v any, indent string) error {
	out := json.NewEncoder(to)
	out.SetEscapeHTML(false)
	out.SetIndent("", indent)
	return out.Encode(v)
}

// Fact prints a line with a name and a text, unless that is empty.
func (a *App) Fact(name, format string, args ...any) {
	if text := human.Line(fmt.Sprintf(format, args...)); text != "" {
		fmt.Fprintf(a.Stdout, "%-11s %s\n", name, text)
	}
}

// PrintTable prints a table without borders.
func (a *App) PrintTable(header tabular.Row, rows []tabular.Row) {
	fmt.Fprintln(a.Stdout, tabular.Table(header, rows))
}

// Listing prints a list as a table, or with --json as one JSON object per line.
type Listing[T any] struct {
	Header tabular.Row
	Row    func(T) tabular.Row
	Object func(T) any // nil: the item itself
	None   string      // printed to standard error in place of an empty table
}

// Print prints the list to the output of the command.
func (l Listing[T]) Print(a *App, list []T, asJSON bool) error {
	if asJSON {
		out := bufio.NewWriter(a.Stdout)
		defer out.Flush() // a.stdout keeps its errors
		for _, item := range list {
			object := any(item)
			if l.Object != nil {
				object = l.Object(item)
			}
			if err := writeJSON(out, object, ""); err != nil {
				return err
			}
		}
		return nil
	}
	if len(list) == 0 {
		fmt.Fprintln(a.Process.Stderr, l.None)
		return nil
	}
	rows := make([]tabular.Row, len(list))
	for i, item := range list {
		rows[i] = l.Row(item)
	}
	a.PrintTable(l.Header, rows)
	return nil
}

// Logger logs to standard error.
func (a *App) Logger() *slog.Logger {
	options := &slog.HandlerOptions{Level: a.Output.Level()}
	if a.Output.JSON {
		return slog.New(slog.NewJSONHandler(a.Process.Stderr, options))
	}
	return slog.New(slog.NewTextHandler(a.Process.Stderr, options))
}

// LocalTime formats a time for tables; "" for none.
func LocalTime(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.In(now.Location()).Format(time.DateTime)
}
