package stdlib

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/human"
	"transect/client/human/tabular"
	"transect/runtime/engine/table"
	"transect/runtime/module"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
)

var (
	inspectAny    = module.Param{Name: "value", Type: "any", Doc: "what to show"}
	inspectLimits = module.Param{Name: "options", Fields: []module.Param{
		{Name: "depth", Type: "integer", Min: new(1.0), Doc: "how many levels of tables to show; deeper ones are { … }",
			Optional: true},
		{Name: "items", Type: "integer", Min: new(1.0), Doc: "how many items of each table to show", Optional: true},
		{Name: "width", Type: "integer", Min: new(1.0), Doc: "how many characters of each text to show", Optional: true},
	}}
	inspectRows    = module.Param{Name: "rows", Type: "any", Doc: "a list of tables or resources, or an iterator of them"}
	inspectColumns = module.Param{Name: "columns", Type: "table",
		Doc: "the fields to show, in order; all of the first row's if left out", Optional: true}
	tableLimits = module.Param{Name: "options", Fields: []module.Param{
		{Name: "limit", Type: "integer", Min: new(1.0), Doc: "how many rows to show; a line says that there are more",
			Optional: true},
		{Name: "width", Type: "integer", Min: new(1.0), Doc: "how many characters of each field to show", Optional: true},
	}}
)

var inspectModule = &module.Module{
	Name: "inspect",
	Doc:  "Formats values for people: as Lua literals, or as a table with columns.",
	Lazy: inspectFuncs,
}

func inspectFuncs() []module.Func {
	return []module.Func{
		{
			Name: "value", Doc: "Formats any value as a Lua literal, tables with sorted keys.",
			Params: []module.Param{inspectAny, inspectLimits}, Returns: "the text",
			Call: inspected,
		},
		{
			Name: "print", Doc: "Prints any value as a Lua literal.",
			Params: []module.Param{inspectAny, inspectLimits},
			Call:   printing(inspected),
		},
		{
			Name: "table", Doc: "Lays rows out as a table with aligned columns.",
			Params: []module.Param{inspectRows, inspectColumns, tableLimits}, Returns: "the text, one line a row",
			Call: formatTable,
		},
		{
			Name: "size", Doc: "Writes a number of bytes the way commands do, in kB, MB and GB of 1000.",
			Params: []module.Param{{Name: "bytes", Type: "number", Doc: "how many", Min: new(0.0),
				Max: new(float64(1 << 53))}}, Returns: "the text, such as 8.2 MB",
			Call: func(c *module.Call) (any, error) { return human.Size(int64(c.Number("bytes"))), nil },
		},
		{
			Name: "count", Doc: "Writes a number with the noun it counts: 1 dataset, 1,200 datasets, 2 retries.",
			Params: []module.Param{{Name: "n", Type: "integer", Doc: "how many"},
				{Name: "noun", Type: "string", Doc: "what one of them is called, in English"}},
			Returns: "the text",
			Call:    func(c *module.Call) (any, error) { return human.Count(c.Int("n"), c.String("noun")), nil },
		},
		{
			Name: "print_table", Doc: "Prints rows as a table with aligned columns.",
			Params: []module.Param{inspectRows, inspectColumns, tableLimits},
			Call:   printing(formatTable),
		},
	}
}

// printing returns a function that prints the text of another.
func printing(text func(*module.Call) (any, error)) func(*module.Call) (any, error) {
	return func(c *module.Call) (any, error) {
		shown, err := text(c)
		if err == nil {
			_, err = fmt.Fprintln(c.In.Options().Stdout, shown)
		}
		return nil, err
	}
}

func inspected(c *module.Call) (any, error) {
	p := vm.Printer{L: c.L, Depth: c.Int("depth"), Items: c.Int("items"), Width: c.Int("width")}
	return p.Text(c.Value("value")), nil
}

// maxRows limits the rows of a table: an iterator may have no end.
const maxRows = 100_000

func formatTable(c *module.Call) (any, error) {
	rows, more := tableRows(c, c.Int("limit"))
	columns := columnsOf(c, rows)
	right, widest := make([]bool, len(columns)), make([]int, len(columns))
	cells := [][]string{columns}
	for j := range right {
		right[j] = true
	}
	for _, fields := range rows {
		row := make([]string, len(columns))
		for j, name := range columns {
			v := c.L.GetField(fields, name)
			right[j] = right[j] && (v.Type() == lua.LTNumber || v == lua.LNil)
			row[j] = cell(c.L, v, c.Int("width"))
			widest[j] = max(widest[j], len(row[j])+2)
		}
		cells = append(cells, row)
	}
	size := 0 // each cell is as wide as the widest in its column
	for _, width := range widest {
		size += width * (len(rows) + 1)
	}
	if most := c.In.MaxText(); size > most {
		return nil, sandbox.TooLong("inspect.table", float64(size), most)
	}
	vm.Grow(c.L, 3*size)
	return strings.Join(tabular.Align(cells, tabular.Widths(cells), right), "\n") + more, nil
}

// tableRows returns the rows to show; more is a line with the number of omitted ones.
func tableRows(c *module.Call, most int) (rows []lua.LValue, more string) {
	next := itemsOf(c, "rows")
	list, isList := c.Value("rows").(*lua.LTable)
	for item := next(); item != nil; item = next() {
		if most > 0 && len(rows) == most {
			if isList {
				return rows, fmt.Sprintf("\n… %d more", table.Length(list)-most)
			}
			return rows, "\n… and more" // an iterator is not read to its end
		}
		if len(rows) == maxRows {
			c.Raise(fault.Hinted(fault.Of(&fault.LimitError{}, "a table has at most %d rows", maxRows),
				"show some of them with limit = 100, or write them with csv"))
		}
		switch item[0].(type) {
		case *lua.LTable, *lua.LUserData:
		default:
			c.Raise(fault.Of(&fault.ParameterError{}, "row %d must be a table or resource, got a %s", len(rows)+1,
				item[0].Type()))
		}
		rows = append(rows, item[0])
	}
	return rows, ""
}

// cell formats a value in one line.
func cell(L *lua.LState, v lua.LValue, width int) string {
	if v == lua.LNil {
		vm.Work(L, 20)
		return ""
	}
	line := L.ToStringMeta(v).String()
	vm.Work(L, 20) // charges the layout
	vm.Grow(L, 2*len(line))
	line = human.Line(line)
	if v.Type() == lua.LTTable {
		line = strings.Join(strings.Fields((&vm.Printer{L: L, OneLine: true}).Text(v)), " ")
	}
	if width > 0 && utf8.RuneCountInString(line) > width {
		return fmt.Sprintf("%.*s…", max(width-1, 1), line)
	}
	return line
}

func columnsOf(c *module.Call, rows []lua.LValue) (columns []string) {
	if t := c.Table("columns"); t != nil {
		for i := 1; i <= table.Length(t); i++ {
			columns = append(columns, table.Element(t, i).String())
		}
	} else if len(rows) > 0 {
		columns = fieldsOf(c.L, rows[0])
	}
	if len(columns) == 0 && len(rows) > 0 {
		c.Raise(fault.Of(&fault.ParameterError{}, "argument columns must name the fields to show"))
	}
	return columns
}

// fieldsOf returns the names of a row's fields: the sorted keys of a table, or the fields that a resource
// lists.
func fieldsOf(L *lua.LState, row lua.LValue) (names []string) {
	if t, ok := row.(*lua.LTable); ok {
		t.ForEach(func(k, _ lua.LValue) {
			if name, ok := k.(lua.LString); ok {
				names = append(names, string(name))
			}
		})
		sort.Strings(names)
		return names
	}
	method, ok := L.GetField(row, "fields").(*lua.LFunction)
	if !ok {
		return nil
	}
	list, ok := vm.Call(L, method, row).(*lua.LTable)
	for i := 1; ok && i <= table.Length(list); i++ {
		names = append(names, table.Element(list, i).String())
	}
	return names
}
