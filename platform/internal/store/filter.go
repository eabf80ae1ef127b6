package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"transect/client/suggest"
)

// QueryError is an error in a filter, a sort or a document.
type QueryError struct {
	Key     string // where the error is
	Message string // what is wrong
}

func (e *QueryError) Error() string { return e.Key + ": " + e.Message }

// Operators lists the operators of filters.
var Operators = []string{
	"$and", "$eq", "$exists", "$gt", "$gte", "$in", "$lt", "$lte", "$match", "$ne", "$nin", "$or",
}

// maxDepth limits the nesting of $and and $or, and the parts of a key.
const maxDepth = 16

// maxTests limits the tests of one filter: SQLite nests the alternatives of $or.
const maxTests = 500

// condition is a filter being compiled.
type condition struct {
	args    []any
	tests   int
	deleted bool // it tests deletion_date
}

// compile turns a filter into SQL. Deleted documents are excluded unless the filter tests deletion_date. Text
// of the filter never becomes part of the SQL itself; all of it is bound as arguments.
func compile(collection string, filter Doc) (sql string, args []any, err error) {
	c := &condition{args: []any{collection}}
	if sql, err = c.object(filter, "filter", 0); err != nil {
		return "", nil, err
	}
	condition := "collection = ?"
	if !c.deleted {
		condition += " AND deletion_date IS NULL"
	}
	if sql != "" {
		condition += " AND " + sql
	}
	return condition, c.args, nil
}

// object compiles one level: all its entries must hold.
func (c *condition) object(filter Doc, at string, depth int) (string, error) {
	if depth > maxDepth {
		return "", &QueryError{Key: at, Message: "is nested too deep"}
	}
	if c.tests++; c.tests > maxTests {
		return "", c.tooMany(at)
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

// key compiles the test of one key: a plain value, or operators.
func (c *condition) key(key string, value any, at string) (string, error) {
	c.deleted = c.deleted || key == "deletion_date"
	if _, err := jsonPath(key); err != nil {
		err.(*QueryError).Key = at
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
	others := Doc{} // tests that no column has
	for _, operator := range sortedKeys(operators) {
		if !strings.HasPrefix(operator, "$") {
			return "", &QueryError{Key: at, Message: fmt.Sprintf(
				"an object cannot be compared with; ask for the key inside it (%s.%s)", key, operator)}
		}
		value := operators[operator]
		if err := checkOperand(operator, value, at+"."+operator); err != nil {
			return "", err
		}
		if c.tests++; c.tests > maxTests {
			return "", c.tooMany(at)
		}
		if sql, args, ok := columnTest(key, operator, value); ok {
			all = append(all, sql)
			c.args = append(c.args, args...)
		} else {
			others[operator] = value
		}
	}
	if len(others) > 0 {
		text, err := encode(others)
		if err != nil {
			return "", err
		}
		all = append(all, "passes(body, ?, ?)")
		c.args = append(c.args, key, string(text))
	}
	return strings.Join(all, " AND "), nil
}

func (c *condition) tooMany(at string) error {
	return &QueryError{Key: at, Message: fmt.Sprintf("asks more than %d things; a list of values goes into one $in",
		maxTests)}
}

// checkOperand refuses an operand of the wrong type for an operator.
func checkOperand(operator string, value any, at string) error {
	var ok bool
	var want string
	switch operator {
	case "$eq", "$ne":
		return checkLiteral(value, at)
	case "$in", "$nin":
		values, ok := value.([]any)
		if !ok {
			return &QueryError{Key: at, Message: "must be a list of values"}
		}
		for i := range values {
			if err := checkLiteral(values[i], fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
		return nil
	case "$gt", "$gte", "$lt", "$lte":
		if err := checkLiteral(value, at); err != nil {
			return err
		}
		_, isBool := value.(bool)
		ok, want = !isBool && value != nil, "text or a number"
	case "$match":
		_, ok = value.(string)
		want = "text"
	case "$exists":
		_, ok = value.(bool)
		want = "true or false"
	default:
		return unknownOperator(strings.TrimSuffix(at, "."+operator), operator)
	}
	if !ok {
		return &QueryError{Key: at, Message: "must be " + want}
	}
	return nil
}

var signs = map[string]string{"$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}

// columnTest returns the SQL of a test on a key that has a column, which holds text or NULL; otherwise false.
// Only such a test can use an index.
func columnTest(key, operator string, value any) (sql string, args []any, ok bool) {
	column := columns[key]
	if column == "" || operator == "$exists" {
		return "", nil, false
	}
	text, isText := value.(string)
	if sign := signs[operator]; sign != "" {
		if !isText {
			return "0", nil, true
		}
		return column + " " + sign + " ?", []any{text}, true
	}
	if operator == "$match" {
		return "contains_fold(" + column + ", ?)", []any{text}, true
	}
	values, isList := value.([]any)
	if !isList {
		values = []any{value}
	}
	var texts []string
	null := false
	for _, v := range values {
		if text, ok := v.(string); ok {
			texts = append(texts, text)
		}
		null = null || v == nil
	}
	if null && key == "status" {
		return "", nil, false // a status may be an object, which its column shows as NULL
	}
	switch len(texts) {
	case 0:
		sql = "0"
	case 1:
		sql, args = column+" = ?", []any{texts[0]}
	default: // one JSON argument, because the number of arguments is limited
		list, _ := encode(texts)
		sql, args = column+" IN (SELECT value FROM json_each(?))", []any{string(list)}
	}
	if null {
		sql = "(" + column + " IS NULL OR " + sql + ")"
	}
	if operator == "$ne" || operator == "$nin" {
		sql = "NOT COALESCE(" + sql + ", 0)" // NULL passes
	}
	return sql, args, true
}

func unknownOperator(at, operator string) error {
	message := fmt.Sprintf("unknown operator %s", operator)
	if hint := suggest.Hint(operator, Operators); hint != "" {
		message += "; " + hint
	}
	return &QueryError{Key: at, Message: message}
}

// jsonPath converts a dotted key to a path for SQLite's JSON functions.
func jsonPath(key string) (string, error) {
	parts := strings.Split(key, ".")
	if len(parts) > maxDepth {
		return "", &QueryError{Key: key, Message: "has too many parts"}
	}
	for _, part := range parts {
		// These cannot be written inside a quoted label.
		if part == "" || strings.ContainsAny(part, "\"\\\x00") {
			return "", &QueryError{Key: key, Message: fmt.Sprintf("%q is not a key", key)}
		}
	}
	return `$."` + strings.Join(parts, `"."`) + `"`, nil
}

func sortedKeys(m Doc) []string { return slices.Sorted(maps.Keys(m)) }
