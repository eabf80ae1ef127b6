package stdlib

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/schema"
	"transect/runtime/module"
	"transect/runtime/vm"
	"transect/stdlib/lines"
)

var jsonModule = &module.Module{
	Name: "json",
	Doc:  "Reads and writes JSON. Integers a Lua number cannot hold exactly are read as text.",
	Fields: []module.Field{
		{Name: "null", Doc: "stands for JSON null, where a field must be there and empty", Value: schema.Null{}},
	},
	Types: []*module.Type{integerType},
	Funcs: slices.Concat([]module.Func{
		{
			Name: "encode", Doc: "Writes a value as JSON, keys sorted. An empty table becomes {} unless made by json.list.",
			Params: []module.Param{
				{Name: "value", Type: "any", Doc: "what to write"},
				{Name: "options", Fields: []module.Param{
					{Name: "indent", Type: "integer", Doc: "spaces per level; 0 writes one line", Default: 0},
				}},
			},
			Returns: "the text",
			Call:    func(c *module.Call) (any, error) { return encode(c, c.Int("indent")) },
		},
		{
			Name: "pretty", Doc: "Writes a value as JSON for people, two spaces a level.",
			Params:  []module.Param{{Name: "value", Type: "any", Doc: "what to write"}},
			Returns: "the text",
			Call:    func(c *module.Call) (any, error) { return encode(c, 2) },
		},
		{
			Name: "decode", Doc: "Reads a JSON text. A null in an object reads as nil, in a list as json.null.",
			Params: []module.Param{
				{Name: "text", Type: "string", Doc: "one JSON value"},
				jsonNulls,
			},
			Returns: "the value",
			Call: func(c *module.Call) (any, error) {
				return decodeJSON(c.String("text"), c.Bool("nulls"))
			},
		},
		{
			Name: "lines", Doc: "Goes through a text with one JSON value a line; empty lines are skipped.",
			Params:  []module.Param{{Name: "text", Type: "string", Doc: "the lines"}},
			Returns: "an iterator",
			Call:    func(c *module.Call) (any, error) { return jsonLines(c), nil },
		},
		{
			Name: "list", Doc: "Marks a table as a list, so that it is written as [] while it is empty.",
			Params:  []module.Param{{Name: "items", Type: "table", Doc: "the table, changed in place", Optional: true}},
			Returns: "the table",
			Call: func(c *module.Call) (any, error) {
				t := c.Table("items")
				if t == nil {
					t = c.L.NewTable()
				}
				vm.MarkList(t)
				return t, nil
			},
		},
	}, jsonFiles),
}

var jsonNulls = module.Param{Name: "options", Fields: []module.Param{
	{Name: "nulls", Type: "boolean", Doc: "keep every null as json.null", Default: false},
}}

func decodeJSON(text string, nulls bool) (any, error) {
	v, err := vm.DecodeJSON([]byte(text))
	if err != nil {
		return nil, jsonError(text, err)
	}
	if v == nil || nulls {
		v = schema.KeepNulls(v)
	}
	return v, nil
}

func encode(c *module.Call, indent int) (any, error) {
	v, err := c.Go("value")
	if err != nil {
		return nil, err
	}
	if indent < 0 || indent > 16 {
		return nil, fault.Of(&fault.ParameterError{}, "option indent must be between 0 and 16, got %d", indent)
	}
	return encodeJSON(v, indent)
}

func encodeJSON(v any, indent int) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if indent > 0 {
		e.SetIndent("", strings.Repeat(" ", indent))
	}
	if err := e.Encode(v); err != nil {
		return "", fault.Of(&fault.ParameterError{}, "cannot be written as JSON: %w", err) // NaN, infinity
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// jsonError names line and column of what does not parse.
func jsonError(text string, err error) error {
	offset := int64(len(text))
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		offset = min(max(syntax.Offset-1, 0), offset)
	}
	before := text[:offset]
	line := strings.Count(before, "\n") + 1
	column := len(before) - strings.LastIndexByte(before, '\n')
	why := err.Error()
	if strings.Contains(why, "EOF") {
		why = "the text ends too early"
	}
	return fault.Of(&fault.ValueError{}, "line %d, column %d is not JSON: %s", line, column, why)
}

// jsonLine is the value of one line, nil for an empty one.
func jsonLine(line string, number int) (any, error) {
	if number == 1 {
		line = strings.TrimPrefix(line, "\ufeff")
	}
	if strings.TrimSpace(line) == "" {
		return nil, nil
	}
	v, err := vm.DecodeJSON([]byte(line))
	if err != nil {
		return nil, fault.Of(&fault.ValueError{}, "line %d is not JSON: %w", number, err)
	}
	if v == nil {
		v = schema.Null{}
	}
	return v, nil
}

func jsonLines(c *module.Call) lua.LValue {
	source := lines.New(strings.NewReader(c.String("text")))
	return c.Iterator(func(*module.Call) (module.Values, error) {
		for {
			line, ok, err := source.Next()
			if !ok || err != nil {
				return nil, err
			}
			if v, err := jsonLine(line, source.Number()); v != nil || err != nil {
				return module.Values{v}, err
			}
		}
	})
}
