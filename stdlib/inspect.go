package stdlib

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/vm"
)

var inspectModule = &vm.Module{
	Name: "inspect",
	Doc:  "Shows values to people.",
	Funcs: []vm.Func{
		{
			Name: "value", Doc: "Writes any value as Lua would read it, tables with sorted keys.",
			Params:  []vm.Param{{Name: "value", Type: "any", Doc: "what to show"}},
			Returns: "the text",
			Example: `assert(require("inspect").value({ b = 1, a = { 1, "x" } }) == '{\n  a = { 1, "x" },\n  b = 1,\n}')`,
			Call: func(c *vm.Call) (any, error) {
				p := printer{L: c.L, seen: map[*lua.LTable]bool{}}
				p.value(c.Value("value"), 0)
				return p.b.String(), nil
			},
		},
		{
			Name: "table", Doc: "Lays rows out as a table with aligned columns.",
			Params: []vm.Param{
				{Name: "rows", Type: "table", Doc: "a list of tables or resources"},
				{Name: "columns", Type: "table", Doc: "the fields to show, in order; all of the first row's if left out", Optional: true},
			},
			Returns: "the text, one line a row",
			Example: `local text = require("inspect").table({ { id = "p1", size = 20 }, { id = "p2", size = 5 } }, { "id", "size" })
assert(text:find("p2"))`,
			Call: layTable,
		},
	},
}

type printer struct {
	L    *lua.LState
	b    strings.Builder
	seen map[*lua.LTable]bool
}

func (p *printer) value(v lua.LValue, depth int) {
	switch v := v.(type) {
	case lua.LString:
		fmt.Fprintf(&p.b, "%q", string(v))
	case *lua.LTable:
		p.table(v, depth)
	default:
		p.b.WriteString(p.L.ToStringMeta(v).String())
	}
}

func (p *printer) table(t *lua.LTable, depth int) {
	switch {
	case p.L.GetMetaField(t, "__tostring") != lua.LNil:
		p.b.WriteString(p.L.ToStringMeta(t).String())
		return
	case p.seen[t]:
		p.b.WriteString("{ … itself … }")
		return
	}
	p.seen[t] = true
	defer delete(p.seen, t)

	length := t.Len()
	var keys []lua.LValue
	flat := true
	t.ForEach(func(k, v lua.LValue) {
		if _, nested := v.(*lua.LTable); nested {
			flat = false
		}
		if n, ok := k.(lua.LNumber); ok && n >= 1 && float64(n) <= float64(length) && float64(n) == math.Trunc(float64(n)) {
			return
		}
		keys = append(keys, k)
	})
	if length == 0 && len(keys) == 0 {
		p.b.WriteString("{}")
		return
	}
	if flat && len(keys) == 0 {
		p.b.WriteString("{ ")
		for i := 1; i <= length; i++ {
			if i > 1 {
				p.b.WriteString(", ")
			}
			p.value(t.RawGetInt(i), depth)
		}
		p.b.WriteString(" }")
		return
	}
	sort.Slice(keys, func(i, j int) bool { return keys[i].String() < keys[j].String() })
	indent := strings.Repeat("  ", depth+1)
	p.b.WriteString("{\n")
	for i := 1; i <= length; i++ {
		p.b.WriteString(indent)
		p.value(t.RawGetInt(i), depth+1)
		p.b.WriteString(",\n")
	}
	for _, k := range keys {
		p.b.WriteString(indent + keyText(k) + " = ")
		p.value(t.RawGet(k), depth+1)
		p.b.WriteString(",\n")
	}
	p.b.WriteString(indent[2:] + "}")
}

func keyText(k lua.LValue) string {
	s, ok := k.(lua.LString)
	if !ok {
		return "[" + k.String() + "]"
	}
	for i, r := range string(s) {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return fmt.Sprintf("[%q]", string(s))
		}
	}
	return string(s)
}

func layTable(c *vm.Call) (any, error) {
	rows := c.Table("rows")
	columns, err := columnsOf(c, rows)
	if err != nil {
		return nil, err
	}
	w := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatDefault
	w.SetStyle(style)
	header, right := table.Row{}, make([]bool, len(columns))
	for i, name := range columns {
		header, right[i] = append(header, name), true
	}
	w.AppendHeader(header)
	for i := 1; i <= rows.Len(); i++ {
		row := table.Row{}
		for j, name := range columns {
			v := c.L.GetField(rows.RawGetInt(i), name)
			right[j] = right[j] && (v.Type() == lua.LTNumber || v == lua.LNil)
			row = append(row, cell(c.L, v))
		}
		w.AppendRow(row)
	}
	var configs []table.ColumnConfig
	for j, numeric := range right {
		if numeric {
			configs = append(configs, table.ColumnConfig{Number: j + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	w.SetColumnConfigs(configs)
	lines := strings.Split(w.Render(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n"), nil
}

// cell is a value in one line.
func cell(L *lua.LState, v lua.LValue) string {
	if v == lua.LNil {
		return ""
	}
	if t, ok := v.(*lua.LTable); ok {
		p := printer{L: L, seen: map[*lua.LTable]bool{}}
		p.table(t, 0)
		return strings.Join(strings.Fields(p.b.String()), " ")
	}
	return strings.NewReplacer("\n", " ", "\t", " ", "\r", " ").Replace(L.ToStringMeta(v).String())
}

func columnsOf(c *vm.Call, rows *lua.LTable) ([]string, error) {
	var columns []string
	if t := c.Table("columns"); t != nil {
		for i := 1; i <= t.Len(); i++ {
			columns = append(columns, t.RawGetInt(i).String())
		}
	} else if first, ok := rows.RawGetInt(1).(*lua.LTable); ok {
		first.ForEach(func(k, _ lua.LValue) { columns = append(columns, k.String()) })
		sort.Strings(columns)
	}
	if len(columns) == 0 && rows.Len() > 0 {
		return nil, fault.Of(&fault.ParameterError{}, "argument columns must name the fields to show")
	}
	return columns, nil
}
