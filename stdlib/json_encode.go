package stdlib

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unsafe"

	"transect/client/fault"
	"transect/client/schema"
	"transect/runtime/module"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
)

func decodeJSON(c *module.Call, text string, nulls bool) (any, error) {
	c.Must(c.In.Fits(decodedSize(text)))
	v, err := vm.DecodeJSON(unsafe.Slice(unsafe.StringData(text), len(text)), nulls) // it only reads
	if err != nil {
		return nil, jsonError(text, err)
	}
	if v == nil {
		v = schema.Null{}
	}
	return v, nil
}

func encodeJSON(c *module.Call, v any, indent int) (string, error) {
	most := c.In.MaxText()
	size := encodedSize(v, indent, 1, most)
	if size > most {
		return "", sandbox.TooLong("json", float64(size), most)
	}
	if err := schema.CheckText(v); err != nil {
		return "", err
	}
	vm.Grow(c.L, 3*size) // the encoder builds the text, then writes it
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

// encodedSize estimates the length of a value as JSON; above most it stops counting.
func encodedSize(v any, indent, depth, most int) (n int) {
	switch v := v.(type) {
	case string:
		n = len(v) + 2
		for i := 0; i < len(v) && n <= most; i++ {
			if v[i] < ' ' {
				n += 5
			}
		}
	case []any:
		for i := 0; i < len(v) && n <= most; i++ {
			n += encodedSize(v[i], indent, depth+1, most-n) + 2 + indent*depth
		}
	case map[string]any:
		for k, e := range v {
			if n > most {
				break
			}
			n += len(k) + encodedSize(e, indent, depth+1, most-n) + 5 + indent*depth
		}
	default:
		n = 8
	}
	return n
}

// decodedSize estimates an upper bound of the memory for the value of a JSON text.
func decodedSize(text string) int {
	values := strings.Count(text, ",") + strings.Count(text, "[") + 3*strings.Count(text, "{")
	return 3*len(text) + 64*values // the decoder copies the text, unquotes parts of it, and copies them
}

// jsonError adds line and column to a parse error.
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
