package stdlib

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"transect/client/fault"
	"transect/runtime/module"
	"transect/runtime/vm"
)

// exactInteger is a whole number of any size.
type exactInteger json.Number

// LuaValue makes it travel as a number without rounding.
func (n exactInteger) LuaValue() any { return json.Number(n) }

var integerType = &module.Type{
	Name: "exact_integer", Doc: "A whole number of any size, for writing; tostring gives its digits.",
	Text: func(self any) string { return string(self.(exactInteger)) },
}

var wholeNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`) })

var rowsParam = module.Param{Name: "rows", Type: "any", Doc: "a list of values, or an iterator function"}

var jsonFiles = []module.Func{
	{
		Name: "read", Doc: "Reads a file with one JSON value.",
		Params: []module.Param{pathParam("the file"), jsonNulls}, Returns: "the value",
		Call: func(c *module.Call) (any, error) {
			data, err := atPath(c, c.In.ReadFile)
			if err != nil {
				return nil, err
			}
			data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
			v, err := decodeJSON(string(data), c.Bool("nulls"))
			if err != nil {
				return nil, fault.Of(&fault.ValueError{}, "%s: %w", c.String("path"), err)
			}
			return v, nil
		},
	},
	{
		Name: "write", Doc: "Writes a value to a file in one step, as encode does.",
		Params: []module.Param{pathParam("the file"), {Name: "value", Type: "any", Doc: "what to write"}, {Name: "options", Fields: []module.Param{
			{Name: "indent", Type: "integer", Doc: "spaces per level; 0 writes one line", Default: 2}}}},
		Call: func(c *module.Call) (any, error) {
			text, err := encode(c, c.Int("indent"))
			if err != nil {
				return nil, err
			}
			return nil, onFile(c, func(path string) error { return c.In.WriteFile(path, []byte(text.(string)+"\n")) })
		},
	},
	{
		Name: "read_lines", Doc: "Goes through a file with one JSON value a line (JSON Lines), however large; empty lines are skipped.",
		Params: []module.Param{pathParam("the file")}, Returns: "an iterator of values, each with its line number",
		Call: readJSONLines,
	},
	{
		Name: "write_lines", Doc: "Writes values to a file in one step, one a line (JSON Lines).",
		Params: []module.Param{pathParam("the file"), rowsParam}, Returns: "how many",
		Call: writeJSONLines,
	},
	{
		Name: "encode_lines", Doc: "Writes values as a text, one a line (JSON Lines).", Params: []module.Param{rowsParam}, Returns: "the text",
		Call: func(c *module.Call) (any, error) {
			var b strings.Builder
			_, err := eachJSONLine(c, func(line string) error { b.WriteString(line); return nil })
			return b.String(), err
		},
	},
	{
		Name: "integer", Doc: "Makes a whole number of any size from its digits, so that it is written as a number: decode gives such numbers as text.",
		Params: []module.Param{{Name: "digits", Type: "string", Doc: "the number"}}, Returns: "the number, for encode",
		Call: func(c *module.Call) (any, error) {
			text := c.String("digits")
			if !wholeNumber().MatchString(text) {
				return nil, fault.Of(&fault.ValueError{}, "%q is no whole number", text)
			}
			return module.NewObject(c.L, integerType, exactInteger(text)), nil
		},
	},
}

func readJSONLines(c *module.Call) (any, error) {
	name := c.String("path")
	return fileLines(c, func(line string, number int) (any, error) {
		v, err := jsonLine(line, number)
		if err != nil {
			return nil, fault.Of(&fault.ValueError{}, "%s: %w", name, err)
		}
		return v, nil
	})
}

// eachJSONLine encodes the rows one by one.
func eachJSONLine(c *module.Call, add func(string) error) (n int, err error) {
	next, err := itemsOf(c, "rows")
	if err != nil {
		return 0, err
	}
	for {
		item := next()
		if item == nil {
			return n, nil
		}
		n++
		v, err := vm.FromLua(item[0])
		if err != nil {
			return n, fault.Of(&fault.ParameterError{}, "row %d: %w", n, err)
		}
		text, err := encodeJSON(v, 0)
		if err != nil {
			return n, fault.Of(&fault.ParameterError{}, "row %d: %w", n, err)
		}
		if err := add(text + "\n"); err != nil {
			return n, err
		}
	}
}

func writeJSONLines(c *module.Call) (any, error) {
	f, err := atPath(c, c.In.Create)
	if err != nil {
		return nil, err
	}
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
