package store

import (
	"fmt"
	"sort"
	"strings"

	"transect/client/suggest"
)

// QueryError says what is wrong with a filter, a sort or a document.
type QueryError struct {
	Key     string // where
	Message string // what
}

func (e *QueryError) Error() string { return e.Key + ": " + e.Message }

// Operators are the words a filter may use.
var Operators = []string{
	"$and", "$eq", "$exists", "$gt", "$gte", "$in", "$lt", "$lte", "$match", "$ne", "$nin", "$or",
}

// maxDepth bounds how deep $and and $or may be nested, and the parts of a key.
const maxDepth = 16

// condition is a compiled filter.
type condition struct {
	sql  string
	args []any
	keys map[string]bool // the keys it speaks of
}

func (c *condition) mentions(key string) bool { return c.keys[key] }

// compile turns a filter into SQL. No text of the filter ever becomes part of
// the SQL itself; all of it is bound as arguments.
func compile(filter Doc) (*condition, error) {
	c := &condition{keys: map[string]bool{}}
	var err error
	c.sql, err = c.object(filter, "filter", 0)
	return c, err
}

// object compiles one level: all its entries must hold.
func (c *condition) object(filter Doc, at string, depth int) (string, error) {
	if depth > maxDepth {
		return "", &QueryError{Key: at, Message: "is nested too deep"}
	}
	var all []string
	for _, key := range sortedKeys(filter) {
		var sql string
		var err error
		switch {
		case key == "$and" || key == "$or":
			sql, err = c.list(filter[key], key, at+"."+key, depth)
		case strings.HasPrefix(key, "$"):
			return "", unknownOperator(at, key)
		default:
			sql, err = c.key(key, filter[key], at+"."+key)
		}
		if err != nil {
			return "", err
		}
		if sql != "" {
			all = append(all, sql)
		}
	}
	return strings.Join(all, " AND "), nil
}

// list compiles $and and $or.
func (c *condition) list(value any, operator, at string, depth int) (string, error) {
	filters, ok := value.([]any)
	if !ok || len(filters) == 0 {
		return "", &QueryError{Key: at, Message: "must be a list of at least one filter"}
	}
	var alternatives []string
	for i, f := range filters {
		at := fmt.Sprintf("%s[%d]", at, i)
		inner, ok := f.(map[string]any)
		if !ok {
			return "", &QueryError{Key: at, Message: "must be an object"}
		}
		sql, err := c.object(inner, at, depth+1)
		if err != nil {
			return "", err
		}
		if sql == "" {
			sql = "1"
		}
		alternatives = append(alternatives, "("+sql+")")
	}
	word := " AND "
	if operator == "$or" {
		word = " OR "
	}
	return "(" + strings.Join(alternatives, word) + ")", nil
}

// key compiles what is asked of one key: a plain value, or operators.
func (c *condition) key(key string, value any, at string) (string, error) {
	c.keys[key] = true
	f, err := newField(key, at)
	if err != nil {
		return "", err
	}
	operators, ok := value.(map[string]any)
	if !ok {
		operators = Doc{"$eq": value}
	}
	if len(operators) == 0 {
		return "", &QueryError{Key: at, Message: "must be a value or an object of operators, such as {\"$eq\": ...}"}
	}
	var all []string
	for _, operator := range sortedKeys(operators) {
		if !strings.HasPrefix(operator, "$") {
			return "", &QueryError{Key: at, Message: fmt.Sprintf(
				"an object cannot be compared with; ask for the key inside it (%s.%s)", key, operator)}
		}
		sql, err := c.operator(f, operator, operators[operator], at+"."+operator)
		if err != nil {
			return "", err
		}
		all = append(all, sql)
	}
	return strings.Join(all, " AND "), nil
}

func (c *condition) operator(f field, operator string, value any, at string) (string, error) {
	switch operator {
	case "$eq", "$ne":
		v, err := newLiteral(value, at)
		if err != nil {
			return "", err
		}
		return c.emit(f, anyOf{v}, operator == "$ne"), nil
	case "$in", "$nin":
		values, ok := value.([]any)
		if !ok {
			return "", &QueryError{Key: at, Message: "must be a list of values"}
		}
		set := make(anyOf, len(values))
		for i := range values {
			var err error
			if set[i], err = newLiteral(values[i], fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return "", err
			}
		}
		return c.emit(f, set, operator == "$nin"), nil
	case "$gt", "$gte", "$lt", "$lte":
		v, err := newLiteral(value, at)
		if err != nil {
			return "", err
		}
		if v.kind != textKind && v.kind != numberKind {
			return "", &QueryError{Key: at, Message: "must be text or a number"}
		}
		return c.emit(f, comparison{sign: signs[operator], value: v}, false), nil
	case "$match":
		text, ok := value.(string)
		if !ok {
			return "", &QueryError{Key: at, Message: "must be text"}
		}
		return c.emit(f, substring(text), false), nil
	case "$exists":
		wanted, ok := value.(bool)
		if !ok {
			return "", &QueryError{Key: at, Message: "must be true or false"}
		}
		sql, args := f.exists()
		c.args = append(c.args, args...)
		if !wanted {
			sql = "NOT " + sql
		}
		return sql, nil
	}
	return "", unknownOperator(strings.TrimSuffix(at, "."+operator), operator)
}

var signs = map[string]string{"$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}

// emit adds the test's arguments and returns its SQL. Of a value that is not
// there it may be NULL, which counts as false: only a NOT would keep it NULL. To
// wrap the other tests as well would hide their columns from the indexes.
func (c *condition) emit(f field, t test, negate bool) string {
	sql, args := f.test(t)
	c.args = append(c.args, args...)
	if negate {
		return "NOT COALESCE(" + sql + ", 0)"
	}
	return sql
}

func unknownOperator(at, operator string) error {
	message := fmt.Sprintf("unknown operator %s", operator)
	if hint := suggest.Hint(operator, Operators); hint != "" {
		message += "; " + hint
	}
	return &QueryError{Key: at, Message: message}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
