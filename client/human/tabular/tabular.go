// Package tabular formats tables for terminals.
package tabular

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"transect/client/human"
)

// Gap separates columns.
const Gap = "  "

// Row is a row of a table. Numbers are right-aligned.
type Row []any

// Table formats rows, with a header if any, in columns as wide as their widest cell.
func Table(header Row, rows []Row) string {
	all := rows
	if header != nil {
		all = append([]Row{header}, rows...)
	}
	cells, right := make([][]string, len(all)), rightAligned(rows)
	for i, row := range all {
		cells[i] = make([]string, len(row))
		for j, v := range row {
			if v != nil {
				cells[i][j] = human.Line(fmt.Sprint(v))
			}
		}
	}
	return strings.Join(Align(cells, Widths(cells), right), "\n")
}

// rightAligned reports which columns contain only numbers.
func rightAligned(rows []Row) (right []bool) {
	for _, row := range rows {
		for j, v := range row {
			if j == len(right) {
				right = append(right, true)
			}
			switch v.(type) {
			case int, int64, float64, nil:
			default:
				right[j] = false
			}
		}
	}
	return right
}

// Widths returns the width of each column.
func Widths(cells [][]string) (widths []int) {
	for _, row := range cells {
		for j, cell := range row {
			if j == len(widths) {
				widths = append(widths, 0)
			}
			widths[j] = max(widths[j], text.StringWidth(cell))
		}
	}
	return widths
}

// Align formats each row as a line. Cells are cut to the width of their column, and columns without
// width are omitted.
func Align(cells [][]string, widths []int, right []bool) []string {
	lines := make([]string, len(cells))
	for i, row := range cells {
		parts := make([]string, 0, len(row))
		for j, cell := range row {
			if widths[j] == 0 {
				continue
			}
			align := text.AlignLeft
			if j < len(right) && right[j] {
				align = text.AlignRight
			}
			parts = append(parts, align.Apply(text.Snip(cell, widths[j], "…"), widths[j]))
		}
		lines[i] = strings.TrimRight(strings.Join(parts, Gap), " ")
	}
	return lines
}
