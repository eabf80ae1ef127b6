package stdlib

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"transect/client/fault"
	"transect/client/schema"
	"transect/runtime/module"
	"transect/runtime/vm"
	"transect/stdlib/internal/lines"
)

var jsonModule = &module.Module{
	Name: "json",
	Doc:  "Reads and writes JSON. Integers a Lua number cannot hold exactly are read as text.",
	Fields: []module.Field{
		{Name: "null", Doc: "JSON null, for a field that must be present and empty", Value: schema.Null{}},
	},
	Types: []*module.Type{integerType},
	Lazy:  jsonFuncs,
}

func jsonFuncs() []module.Func {
	return []module.Func{
		{
			Name: "encode", Doc: "Writes a value as JSON, keys sorted. An empty table becomes {} unless made by json.list.",
			Params:  []module.Param{jsonValue, jsonIndent(0)},
			Returns: "the text",
			Call:    func(c *module.Call) (any, error) { return encodeJSON(c, c.Go("value"), c.Int("indent")) },
		},
		{
			Name: "pretty", Doc: "Writes a value as indented JSON, two spaces per level.",
			Params:  []module.Param{jsonValue},
			Returns: "the text",
			Call:    func(c *module.Call) (any, error) { return encodeJSON(c, c.Go("value"), 2) },
		},
		{
			Name: "decode",
			Doc: "Reads a JSON text; pairs goes through keys in its order. A null in an object reads as nil, in a list as " +
				"json.null; a whole number beyond 2^53, which no Lua number holds, as the text of its digits.",
			Params:  []module.Param{{Name: "text", Type: "string", Doc: "one JSON value"}, jsonNulls},
			Returns: "the value",
			Call:    func(c *module.Call) (any, error) { return decodeJSON(c, c.String("text"), c.Bool("nulls")) },
		},
		{
			Name: "lines", Doc: "Iterates over a string with one JSON value per line; empty lines are skipped.",
			Params:  []module.Param{{Name: "text", Type: "string", Doc: "the lines"}},
			Returns: "an iterator",
			Call: func(c *module.Call) (any, error) {
				source := lines.New(strings.NewReader(c.String("text")))
				source.Fits = c.In.Fits
				return c.Iterator(func(c *module.Call) (module.Values, error) {
					for {
						vm.Work(c.L, 1)
						line, ok, err := source.Next()
						if !ok || err != nil {
							return nil, err
						}
						if v, err := jsonLine(line, source.Number()); v != nil || err != nil {
							return module.Values{v}, err
						}
					}
				}), nil
			},
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
		{
			Name: "read", Doc: "Reads a file with one JSON value.",
			Params: []module.Param{pathParam("the file"), jsonNulls}, Returns: "the value",
			Call: func(c *module.Call) (any, error) {
				data := atPath(c, c.In.ReadFile)
				v, err := decodeJSON(c, strings.TrimPrefix(string(data), "\ufeff"), c.Bool("nulls"))
				if err != nil {
					err = fault.Of(&fault.ValueError{}, "%s: %w", c.String("path"), err)
				}
				return v, err
			},
		},
		{
			Name: "write", Doc: "Writes a value to a file atomically, as encode does.",
			Params: []module.Param{pathParam("the file"), jsonValue, jsonIndent(2)},
			Call: func(c *module.Call) (any, error) {
				text, err := encodeJSON(c, c.Go("value"), c.Int("indent"))
				c.Must(err)
				return nil, onFile(c, func(ctx context.Context, path string) error {
					return c.In.WriteFile(ctx, path,
						[]byte(text+"\n"))
				})
			},
		},
		{
			Name:   "read_lines",
			Doc:    "Iterates over a file of any size with one JSON value per line (JSON Lines); empty lines are skipped.",
			Params: []module.Param{pathParam("the file")}, Returns: "an iterator of values, each with its line number",
			Call: func(c *module.Call) (any, error) {
				name := c.String("path")
				return fileLines(c, func(line string, number int) (any, error) {
					v, err := jsonLine(line, number)
					if err != nil {
						err = fault.Of(&fault.ValueError{}, "%s: %w", name, err)
					}
					return v, err
				})
			},
		},
		{
			Name: "write_lines", Doc: "Writes values to a file atomically, one per line (JSON Lines).",
			Params: []module.Param{pathParam("the file"), rowsParam}, Returns: "how many",
			Call: writeJSONLines,
		},
		{
			Name: "encode_lines", Doc: "Writes values as a string, one per line (JSON Lines).",
			Params:  []module.Param{rowsParam},
			Returns: "the text",
			Call: func(c *module.Call) (any, error) {
				b := c.In.NewText("json.encode_lines")
				_, err := eachJSONLine(c, func(line string) error { _, err := b.WriteString(line); return err })
				return b.String(), err
			},
		},
		{
			Name: "integer",
			Doc: "Makes a whole number of any size from its digits, so that it is written as a number: decode gives such " +
				"numbers as text.",
			Params: []module.Param{{Name: "digits", Type: "string", Doc: "the number"}}, Returns: "the number, for encode",
			Call: func(c *module.Call) (any, error) {
				text := c.String("digits")
				if !wholeNumber().MatchString(text) {
					return nil, fault.Of(&fault.ValueError{}, "%q is not a whole number", text)
				}
				return module.NewObject(c.L, integerType, exactInteger(text)), nil
			},
		},
	}
}

// exactInteger is a whole number of any size.
type exactInteger json.Number

// LuaValue converts n to a number without rounding.
func (n exactInteger) LuaValue() any { return json.Number(n) }

var integerType = &module.Type{
	Name: "exact_integer", Doc: "A whole number of any size, for writing; tostring gives its digits.",
	Text: func(self any) string { return string(self.(exactInteger)) },
}

var wholeNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`) })

var (
	jsonValue = module.Param{Name: "value", Type: "any", Doc: "what to write"}
	jsonNulls = module.Param{Name: "options",
		Fields: []module.Param{{Name: "nulls", Type: "boolean", Doc: "keep every null as json.null", Default: false}}}
	rowsParam = module.Param{Name: "rows", Type: "any", Doc: "a list of values, or an iterator function"}
)

func jsonIndent(usual int) module.Param {
	return module.Param{Name: "options", Fields: []module.Param{
		{Name: "indent", Type: "integer", Doc: "spaces per level; 0 writes one line", Default: usual, Min: new(0.0),
			Max: new(16.0)}}}
}

// jsonLine decodes one line, nil for an empty one.
func jsonLine(line string, number int) (any, error) {
	if number == 1 {
		line = strings.TrimPrefix(line, "\ufeff")
	}
	if strings.TrimSpace(line) == "" {
		return nil, nil
	}
	v, err := vm.DecodeJSON([]byte(line), false)
	if err != nil {
		return nil, fault.Of(&fault.ValueError{}, "line %d is not JSON: %w", number, err)
	}
	if v == nil {
		v = schema.Null{}
	}
	return v, nil
}

// eachJSONLine encodes the rows one by one.
func eachJSONLine(c *module.Call, add func(string) error) (n int, err error) {
	next := itemsOf(c, "rows")
	for item := next(); item != nil; item = next() {
		n++
		var text string
		v, err := vm.FromLua(c.L, item[0])
		if err == nil {
			text, err = encodeJSON(c, v, 0)
		}
		if err != nil {
			return n, fault.Of(&fault.ParameterError{}, "row %d: %w", n, err)
		}
		if err := add(text + "\n"); err != nil {
			return n, err
		}
	}
	return n, nil
}

func writeJSONLines(c *module.Call) (any, error) {
	f := changeAt(c, c.In.Create)
	defer f.Discard()
	var b bytes.Buffer
	flush := func() error {
		return c.Blocking(func(context.Context) error { _, err := b.WriteTo(f); return err })
	}
	n, err := eachJSONLine(c, func(line string) error {
		b.WriteString(line)
		if b.Len() > 256<<10 {
			return flush()
		}
		return nil
	})
	if err == nil {
		err = flush()
	}
	if err == nil {
		err = c.Blocking(func(context.Context) error { return f.Commit() })
	}
	return n, namedFile(c.String("path"), err)
}
