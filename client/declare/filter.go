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
	return conditions(o)
}

// conditions checks the operators of a filter, and gives an empty table the
// form its operator wants: a list under $in, $nin, $and and $or.
func conditions(o map[string]any) (map[string]any, error) {
	out := make(map[string]any, len(o))
	for _, key := range sortedKeys(o) {
		if strings.HasPrefix(key, "$") && !slices.Contains(Operators, key) {
			hint := suggest.Hint(key, Operators)
			if hint == "" {
				hint = "there are " + strings.Join(Operators, " ")
			}
			return nil, fmt.Errorf("no operator %s (%s)", key, hint)
		}
		out[key] = o[key]
		switch v := o[key].(type) {
		case Empty:
			if slices.Contains(listOperators, key) {
				out[key] = []any{}
			}
		case map[string]any:
			nested, err := conditions(v)
			if err != nil {
				return nil, err
			}
			out[key] = nested
		case []any:
			list := make([]any, len(v))
			for i, e := range v {
				list[i] = e
				if object, ok := e.(map[string]any); ok {
					nested, err := conditions(object)
					if err != nil {
						return nil, err
					}
					list[i] = nested
				}
			}
			out[key] = list
		}
	}
	return out, nil
}

var listOperators = []string{"$in", "$nin", "$and", "$or"}
