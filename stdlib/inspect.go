package stdlib

import (
	"fmt"

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
	p := vm.Printer{L: c.L, Depth: c.Int("depth"), Items: c.Int("items"), Width: c.Int("width")}
	return p.Text(c.Value("value")), nil
}
