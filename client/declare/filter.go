package declare

import (
	"fmt"
	"slices"
	"strings"

	"transect/client/suggest"
)

// Operators are the filter operators of the platform's searches.
var Operators = []string{"$eq", "$ne", "$in", "$nin", "$gt", "$gte", "$lt", "$lte", "$match", "$exists", "$and", "$or"}

// checkFilter refuses operators that do not exist: the platform would answer
// with everything, or with nothing.
func checkFilter(t *Type, v any) (any, error) {
	o, ok := asObject(v)
	if !ok {
		return nil, wrong(t, v)
	}
	return o, knownOperators(o)
}

func knownOperators(o map[string]any) error {
	for _, key := range sortedKeys(o) {
		if strings.HasPrefix(key, "$") && !slices.Contains(Operators, key) {
			hint := suggest.Hint(key, Operators)
			if hint == "" {
				hint = "there are " + strings.Join(Operators, " ")
			}
			return fmt.Errorf("no operator %s (%s)", key, hint)
		}
		switch v := o[key].(type) {
		case map[string]any:
			if err := knownOperators(v); err != nil {
				return err
			}
		case []any:
			for _, e := range v {
				if nested, ok := e.(map[string]any); ok {
					if err := knownOperators(nested); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}
