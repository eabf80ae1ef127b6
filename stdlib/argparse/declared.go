package argparse

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"transect/client/fault"
	"transect/client/schema"
	"transect/client/suggest"
)

// SetType gives the argument a type by the name scripts use for it.
func (a *Arg) SetType(name string) error {
	known, ok := types[name]
	if !ok {
		names := []string{"string", "number", "integer", "boolean", "strings"}
		return fault.Of(&fault.ParameterError{}, "argument %s: unknown type %s%s, the types are %s", a.Name, name,
			suggest.Suffix(name, names), strings.Join(names, ", "))
	}
	a.Type = known
	return nil
}

// Check refuses a default or choices that the command line could not give.
func (a *Arg) Check() error {
	for _, text := range a.Choices {
		if _, err := a.parse(text); err != nil {
			return fault.Of(&fault.ParameterError{}, "argument %s: the choice %q is not %s", a.Name, text, a.Type.Article())
		}
	}
	if a.Default == nil {
		return nil
	}
	p := schema.Param{Name: "the default", Type: a.Type}
	value, err := p.Check(a.Default)
	if err != nil {
		return fault.Of(&fault.ParameterError{}, "argument %s: %w", a.Name, err)
	}
	texts, isList := value.([]string)
	if !isList {
		texts = []string{written(value)}
	}
	for _, text := range texts {
		if a.Choices != nil && !slices.Contains(a.Choices, text) {
			return fault.Of(&fault.ParameterError{}, "argument %s: the default %q is none of the choices %s%s", a.Name, text,
				strings.Join(a.Choices, ", "), suggest.Suffix(text, a.Choices))
		}
	}
	return nil
}

// written is a default as the command line would give it.
func written(v any) string {
	if f, ok := v.(float64); ok {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}
