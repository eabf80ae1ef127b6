package repl

import (
	"strconv"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/tidwall/gjson"
	lua "github.com/yuin/gopher-lua"

	"transect/bindings"
	"transect/client/human/tabular"
	"transect/runtime/engine/table"
	"transect/runtime/vm"
)

const (
	maxColumns = 5
	minWidth   = 6 // smallest width of a shrunk column
)

// column is a column of a table of records: the first of several fields that a
// record has.
type column struct {
	title  string
	fields []string
	last   bool // shrunk last
}

// usual lists common columns, in order.
var usual = []column{
	{"name", []string{"name", "display_name", "email", "title"}, false},
	{"id", []string{"_id", "id"}, true},
	{"type", []string{"type", "kind"}, false},
	{"status", []string{"status", "ingestion.status", "state"}, false},
	{"date", []string{"survey_date", "creation_date", "created", "date", "modification_date"}, false},
}

// records formats a list of records as a table; nil for other lists. The first rows determine the columns.
func (p *printer) records(t *lua.LTable) *page {
	n := table.Length(t)
	if n == 0 {
		return nil
	}
	var some [][]byte
	for i := 1; i <= min(n, 50); i++ {
		r, ok := bindings.RecordOf(table.Element(t, i))
		if !ok {
			return nil
		}
		some = append(some, r.JSON)
	}
	columns := columnsOf(some)
	head := []string{"#"}
	for _, c := range columns {
		head = append(head, c.title)
	}
	cells := func(from, to int) (rows [][]string) {
		for i := from; i < to; i++ {
			if i%256 == 0 && vm.Context(p.L).Err() != nil {
				break
			}
			line := make([]string, 1, len(columns)+1)
			line[0] = strconv.Itoa(i + 1)
			r, _ := bindings.RecordOf(table.Element(t, i+1)) // a hole has empty cells
			for _, c := range columns {
				line = append(line, c.cell(r.JSON))
			}
			rows = append(rows, line)
		}
		return rows
	}
	sample := cells(0, len(some))
	if p.texts {
		sample = cells(0, n) // all are printed
	}
	widths := widthsOf(append(sample, head, []string{strconv.Itoa(n)}), columns, p.width)
	return &page{head: align([][]string{head}, widths, p.width), noun: "of " + strconv.Itoa(n), loop: true, colour: plain,
		left: func(shown int) (int, bool) { return n - shown, true },
		render: func(_ *lua.LState, from, want int) []string {
			return align(cells(from, from+min(want, n-from)), widths, p.width)
		}}
}

// columnsOf chooses the columns that have values.
func columnsOf(rows [][]byte) []column {
	var columns []column
	taken := map[string]bool{}
	for _, c := range usual {
		for _, row := range rows {
			if c.cell(row) != "" {
				columns = append(columns, c)
				break
			}
		}
		for _, f := range c.fields {
			taken[f] = true
		}
	}
	if len(columns) < 3 { // other kinds of records: their first fields
		gjson.ParseBytes(rows[0]).ForEach(func(k, v gjson.Result) bool {
			if name := k.String(); !taken[name] && !v.IsObject() && !v.IsArray() && v.Type != gjson.Null {
				columns = append(columns, column{title: name, fields: []string{gjson.Escape(name)}})
			}
			return len(columns) < maxColumns
		})
	}
	return columns
}

// cell returns the text of a record's field.
func (c column) cell(row []byte) string {
	for _, f := range c.fields {
		if v := gjson.GetBytes(row, f); v.Exists() && v.Type != gjson.Null && v.Type != gjson.JSON {
			return clean(date(v.String()))
		}
	}
	return ""
}

// date shortens a timestamp.
func date(s string) string {
	if len(s) < 16 || s[4] != '-' || s[7] != '-' || s[10] != 'T' || s[13] != ':' {
		return s
	}
	if s[11:16] == "00:00" {
		return s[:10]
	}
	return s[:10] + " " + s[11:16]
}

// widthsOf returns the widths of columns, fitted to the screen.
func widthsOf(cells [][]string, columns []column, width int) []int {
	widths := tabular.Widths(cells)
	fit(widths, columns, width)
	return widths
}

// align formats rows with the widths of their columns.
func align(cells [][]string, widths []int, width int) []string {
	lines := tabular.Align(cells, widths, []bool{true})
	for i, line := range lines {
		lines[i] = text.Snip(line, width, "…")
	}
	return lines
}

// fit shrinks columns until a row fits: the widest first, identifiers last; then
// it drops the last columns.
func fit(widths []int, columns []column, width int) {
	total := func() int {
		sum := -len(tabular.Gap)
		for _, w := range widths {
			if w > 0 {
				sum += w + len(tabular.Gap)
			}
		}
		return sum
	}
	for total() > width {
		widest := 0
		for i, w := range widths[1:] {
			if w > minWidth && !columns[i].last && (widest == 0 || w > widths[widest]) {
				widest = i + 1
			}
		}
		if widest > 0 {
			widths[widest]--
			continue
		}
		last := len(widths) - 1
		for last > 1 && (widths[last] == 0 || columns[last-1].last) {
			last--
		}
		if last <= 1 {
			return // the line is truncated
		}
		widths[last] = 0
	}
}
