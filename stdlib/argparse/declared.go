package argparse

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"transect/client/fault"
	"transect/client/suggest"
)

// Check refuses a declaration that means nothing: an unknown type, a default or
// choices that the command line could not give.
func (a *Arg) Check() error {
	if !slices.Contains(Types, a.Type) {
		return fault.Of(&fault.ParameterError{}, "argument %s: unknown type %s%s, the types are %s", a.Name, a.Type,
			suggest.Suffix(a.Type, Types), strings.Join(Types, ", "))
	}
	for _, text := range a.Choices {
		if err := (&Arg{Name: a.Name, Type: a.Type}).set(map[string]any{}, text, "x"); err != nil {
			return fault.Of(&fault.ParameterError{}, "argument %s: the choice %q is not %s", a.Name, text, article(a.Type))
		}
	}
	if a.Default == nil {
		return nil
	}
	if !a.fits(a.Default) {
		return fault.Of(&fault.ParameterError{}, "argument %s: the default must be %s, got %s", a.Name, article(a.Type), describe(a.Default))
	}
	texts := []string{written(a.Default)}
	if list, ok := a.Default.([]any); ok {
		texts = nil
		for _, v := range list {
			texts = append(texts, written(v))
		}
	}
	for _, text := range texts {
		if a.Choices != nil && !slices.Contains(a.Choices, text) {
			return fault.Of(&fault.ParameterError{}, "argument %s: the default %q is none of the choices %s%s", a.Name, text, strings.Join(a.Choices, ", "),
				suggest.Suffix(text, a.Choices))
		}
	}
	return nil
}

// fits says whether a default is of the type.
func (a *Arg) fits(v any) bool {
	switch v := v.(type) {
	case string:
		return a.Type == "string"
	case bool:
		return a.Type == "boolean"
	case int64:
		return a.Type == "integer" || a.Type == "number"
	case float64:
		return !math.IsNaN(v) && (a.Type == "number" || a.Type == "integer" && v == math.Trunc(v))
	case []any:
		return a.Type == "strings" && !slices.ContainsFunc(v, func(e any) bool { _, text := e.(string); return !text })
	}
	return false
}

func article(typ string) string {
	switch typ {
	case "integer":
		return "an integer"
	case "boolean":
		return "true or false"
	case "strings":
		return "a list of texts"
	case "string":
		return "a text"
	}
	return "a " + typ
}

func describe(v any) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("the text %q", v)
	case bool:
		return strconv.FormatBool(v)
	case int64, float64:
		return fmt.Sprintf("the number %v", v)
	case []any:
		return "a list"
	}
	return "a table"
}

// written is a default as the command line would give it.
func written(v any) string {
	if f, ok := v.(float64); ok {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}
