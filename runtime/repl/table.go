package repl

import (
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/tidwall/gjson"
	lua "github.com/yuin/gopher-lua"

	"transect/bindings"
)

const (
	maxColumns = 5
	gap        = "  "
	minWidth   = 6 // smallest width of a shrunk column
)

// column is a column of a table of records: the first of several fields that a
// record has.
type column struct {
	title  string
	fields []string
	last   bool // shrunk last
}

// usual are common columns, in order.
var usual = []column{
	{"name", []string{"name", "display_name", "email", "title"}, false},
	{"id", []string{"_id", "id"}, true},
	{"type", []string{"type", "kind"}, false},
	{"status", []string{"status", "ingestion.status", "state"}, false},
	{"date", []string{"survey_date", "creation_date", "created", "date", "modification_date"}, false},
}

// records formats a list of records as a table; nil for other lists.
func (p *printer) records(t *lua.LTable) *page {
	n := t.Len()
	if n == 0 {
		return nil
	}
	rows := make([][]byte, 0, min(n, p.max))
	for i := 1; i <= n && i <= p.max; i++ {
		r, ok := bindings.RecordOf(t.RawGetInt(i))
		if !ok {
			return nil
		}
		rows = append(rows, r.JSON)
	}
	columns := columnsOf(rows)
	cells := make([][]string, 0, len(rows)+1)
	head := []string{"#"}
	for _, c := range columns {
		head = append(head, c.title)
	}
	cells = append(cells, head)
	for i, row := range rows {
		line := []string{strconv.Itoa(i + 1)}
		for _, c := range columns {
			line = append(line, c.cell(row))
		}
		cells = append(cells, line)
	}
	lines := align(cells, columns, p.width)
	return &page{head: lines[:1], lines: lines[1:], more: n - len(rows), noun: "of " + strconv.Itoa(n), loop: true}
}

// columnsOf chooses the columns that have values.
func columnsOf(rows [][]byte) []column {
	some := rows[:min(len(rows), 50)]
	var columns []column
	taken := map[string]bool{}
	for _, c := range usual {
		for _, row := range some {
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

// cell is the text of a record's field.
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

// align formats cells for the width of the screen.
func align(cells [][]string, columns []column, width int) []string {
	widths := make([]int, len(cells[0]))
	for _, row := range cells {
		for i, cell := range row {
			widths[i] = max(widths[i], text.StringWidth(cell))
		}
	}
	fit(widths, columns, width)
	lines := make([]string, len(cells))
	for r, row := range cells {
		var parts []string
		for i, cell := range row {
			if widths[i] == 0 {
				continue
			}
			cell = text.Snip(cell, widths[i], "…")
			if i == 0 {
				cell = text.AlignRight.Apply(cell, widths[i])
			} else {
				cell = text.Pad(cell, widths[i], ' ')
			}
			parts = append(parts, cell)
		}
		lines[r] = text.Snip(strings.TrimRight(strings.Join(parts, gap), " "), width, "…")
	}
	return lines
}

// fit shrinks columns until a row fits: the widest first, identifiers last; then
// it drops the last columns.
func fit(widths []int, columns []column, width int) {
	total := func() int {
		sum := -len(gap)
		for _, w := range widths {
			if w > 0 {
				sum += w + len(gap)
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
