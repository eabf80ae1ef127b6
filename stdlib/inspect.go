package stdlib

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/module"
	"transect/runtime/vm"
)

var (
	inspectAny    = module.Param{Name: "value", Type: "any", Doc: "what to show"}
	inspectLimits = module.Param{Name: "options", Fields: []module.Param{
		{Name: "depth", Type: "integer", Min: new(1.0), Doc: "how many levels of tables to show; deeper ones are { … }", Optional: true},
		{Name: "items", Type: "integer", Min: new(1.0), Doc: "how many items of each table to show", Optional: true},
		{Name: "width", Type: "integer", Min: new(1.0), Doc: "how many characters of each text to show", Optional: true},
	}}
	inspectRows    = module.Param{Name: "rows", Type: "any", Doc: "a list of tables or resources, or an iterator of them"}
	inspectColumns = module.Param{Name: "columns", Type: "table", Doc: "the fields to show, in order; all of the first row's if left out", Optional: true}
	tableLimits    = module.Param{Name: "options", Fields: []module.Param{
		{Name: "limit", Type: "integer", Min: new(1.0), Doc: "how many rows to show; a line says that there are more", Optional: true},
		{Name: "width", Type: "integer", Min: new(1.0), Doc: "how many characters of each field to show", Optional: true},
	}}
)

var inspectModule = &module.Module{
	Name: "inspect",
	Doc:  "Shows values to people: as Lua would read them, or as a table with columns.",
	Funcs: []module.Func{
		{
			Name: "value", Doc: "Writes any value as Lua would read it, tables with sorted keys.",
			Params: []module.Param{inspectAny, inspectLimits}, Returns: "the text",
			Call: inspected,
		},
		{
			Name: "print", Doc: "Prints any value as Lua would read it.",
			Params: []module.Param{inspectAny, inspectLimits},
			Call:   printed(inspected),
		},
		{
			Name: "table", Doc: "Lays rows out as a table with aligned columns.",
			Params: []module.Param{inspectRows, inspectColumns, tableLimits}, Returns: "the text, one line a row",
			Call: layTable,
		},
		{
			Name: "print_table", Doc: "Prints rows as a table with aligned columns.",
			Params: []module.Param{inspectRows, inspectColumns, tableLimits},
			Call:   printed(layTable),
		},
	},
}

// printed makes a function that prints the text of another.
func printed(text func(*module.Call) (any, error)) func(*module.Call) (any, error) {
	return func(c *module.Call) (any, error) {
		shown, err := text(c)
		if err == nil {
			_, err = fmt.Fprintln(c.In.Options().Stdout, shown)
		}
		return nil, err
	}
}

func inspected(c *module.Call) (any, error) {
	p := newPrinter(c.L)
	p.depth, p.items, p.width = c.Int("depth"), c.Int("items"), c.Int("width")
	p.value(c.Value("value"), 0)
	return p.b.String(), nil
}

// printer writes values as Lua would read them, within limits; 0 is none.
type printer struct {
	L    *lua.LState
	b    strings.Builder
	seen map[*lua.LTable]bool // those one is in

	depth, items, width int
}

func newPrinter(L *lua.LState) *printer { return &printer{L: L, seen: map[*lua.LTable]bool{}} }

// deepest is how far down it goes at most, so that nothing nested endlessly
// fills the memory.
const deepest = 200

func (p *printer) value(v lua.LValue, depth int) {
	switch v := v.(type) {
	case lua.LString:
		if p.width > 0 && utf8.RuneCountInString(string(v)) > p.width {
			fmt.Fprintf(&p.b, "%.*q…", p.width, string(v))
			return
		}
		p.b.WriteString(strconv.Quote(string(v)))
	case *lua.LTable:
		p.table(v, depth)
	default:
		p.b.WriteString(p.L.ToStringMeta(v).String())
	}
}

func (p *printer) table(t *lua.LTable, depth int) {
	switch first, _ := t.Next(lua.LNil); {
	case p.L.GetMetaField(t, "__tostring") != lua.LNil:
		p.b.WriteString(p.L.ToStringMeta(t).String())
		return
	case p.seen[t]:
		p.b.WriteString("{ … itself … }")
		return
	case first == lua.LNil:
		p.b.WriteString("{}")
		return
	case depth >= deepest || p.depth > 0 && depth >= p.depth:
		p.b.WriteString("{ … }")
		return
	}
	p.seen[t] = true
	defer delete(p.seen, t)

	type entry struct{ key, value lua.LValue }
	var entries []entry
	flat := true
	for k, v := range vm.Entries(t) {
		entries = append(entries, entry{k, v})
		flat = flat && k == lua.LNil && v.Type() != lua.LTTable
	}
	left := 0
	if p.items > 0 && len(entries) > p.items {
		left, entries = len(entries)-p.items, entries[:p.items]
	}
	if flat {
		for i, e := range entries {
			p.b.WriteString([]string{"{ ", ", "}[min(i, 1)])
			p.value(e.value, depth)
		}
		if left > 0 {
			fmt.Fprintf(&p.b, ", … %d more", left)
		}
		p.b.WriteString(" }")
		return
	}
	indent := strings.Repeat("  ", depth+1)
	p.b.WriteString("{\n")
	for _, e := range entries {
		p.b.WriteString(indent + vm.KeyText(e.key, strconv.Quote))
		p.value(e.value, depth+1)
		p.b.WriteString(",\n")
	}
	if left > 0 {
		fmt.Fprintf(&p.b, "%s… %d more\n", indent, left)
	}
	p.b.WriteString(indent[2:] + "}")
}
