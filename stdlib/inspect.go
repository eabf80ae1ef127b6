package stdlib

import (
	"io"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/module"
)

var (
	inspectAny    = module.Param{Name: "value", Type: "any", Doc: "what to show"}
	inspectLimits = module.Param{Name: "options", Fields: []module.Param{
		{Name: "depth", Type: "integer", Doc: "how many levels of tables to show; deeper ones are { … }", Optional: true},
		{Name: "items", Type: "integer", Doc: "how many items of each table to show", Optional: true},
		{Name: "width", Type: "integer", Doc: "how many characters of each text to show", Optional: true},
	}}
	inspectRows    = module.Param{Name: "rows", Type: "any", Doc: "a list of tables or resources, or an iterator of them"}
	inspectColumns = module.Param{Name: "columns", Type: "table", Doc: "the fields to show, in order; all of the first row's if left out", Optional: true}
	tableLimits    = module.Param{Name: "options", Fields: []module.Param{
		{Name: "limit", Type: "integer", Doc: "how many rows to show; a line says that there are more", Optional: true},
		{Name: "width", Type: "integer", Doc: "how many characters of each field to show", Optional: true},
	}}
)

var inspectModule = &module.Module{
	Name: "inspect",
	Doc:  "Shows values to people: as Lua would read them, or as a table with columns.",
	Funcs: []module.Func{
		{
			Name: "value", Doc: "Writes any value as Lua would read it, tables with sorted keys.",
			Params: []module.Param{inspectAny, inspectLimits}, Returns: "the text",
			Call: func(c *module.Call) (any, error) { return inspected(c) },
		},
		{
			Name: "print", Doc: "Prints any value as Lua would read it.",
			Params: []module.Param{inspectAny, inspectLimits},
			Call: func(c *module.Call) (any, error) {
				text, err := inspected(c)
				if err != nil {
					return nil, err
				}
				_, err = io.WriteString(c.In.Options().Stdout, text+"\n")
				return nil, err
			},
		},
		{
			Name: "table", Doc: "Lays rows out as a table with aligned columns.",
			Params: []module.Param{inspectRows, inspectColumns, tableLimits}, Returns: "the text, one line a row",
			Call: func(c *module.Call) (any, error) { return layTable(c) },
		},
		{
			Name: "print_table", Doc: "Prints rows as a table with aligned columns.",
			Params: []module.Param{inspectRows, inspectColumns, tableLimits},
			Call: func(c *module.Call) (any, error) {
				text, err := layTable(c)
				if err != nil {
					return nil, err
				}
				_, err = io.WriteString(c.In.Options().Stdout, text+"\n")
				return nil, err
			},
		},
	},
}

// limit reads an option that counts something; 0 is none.
func limit(c *module.Call, name string) (int, error) {
	n := c.Int(name)
	if c.Has(name) && n < 1 {
		return 0, fault.Of(&fault.ParameterError{}, "option %s must be at least 1, got %d", name, n)
	}
	return n, nil
}

func inspected(c *module.Call) (string, error) {
	p := newPrinter(c.L)
	for name, to := range map[string]*int{"depth": &p.depth, "items": &p.items, "width": &p.width} {
		var err error
		if *to, err = limit(c, name); err != nil {
			return "", err
		}
	}
	p.value(c.Value("value"), 0)
	return p.b.String(), nil
}

func newPrinter(L *lua.LState) *printer { return &printer{L: L, seen: map[*lua.LTable]bool{}} }
