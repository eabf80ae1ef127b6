package store

import (
	"database/sql/driver"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
	"modernc.org/sqlite"
)

func init() {
	// passes(body, key, tests) tests a document; tests is a JSON object of operators and values.
	sqlite.MustRegisterDeterministicScalarFunction("passes", 3,
		func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
			body, _ := args[0].(string)
			key, _ := args[1].(string)
			tests, _ := args[2].(string)
			doc, path, all := gjson.Parse(body), strings.Split(key, "."), true
			gjson.Parse(tests).ForEach(func(operator, value gjson.Result) bool {
				all = passes(doc, path, operator.Str, value)
				return all
			})
			return all, nil
		})
	// SQLite's own lower() supports only ASCII.
	sqlite.MustRegisterDeterministicScalarFunction("contains_fold", 2,
		func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
			text, ok := args[0].(string)
			part, _ := args[1].(string)
			return ok && containsFold(text, part), nil
		})
}

func containsFold(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// passes reports whether one of the values under a key passes a test. A list, also one on the way to the key,
// passes when one of its elements does.
func passes(doc gjson.Result, path []string, operator string, want gjson.Result) bool {
	switch operator {
	case "$ne":
		return !passes(doc, path, "$eq", want)
	case "$nin":
		return !passes(doc, path, "$in", want)
	}
	test := func(have gjson.Result) bool { return compare(have, operator, want) }
	if operator == "$in" {
		test = func(have gjson.Result) (found bool) {
			want.ForEach(func(_, one gjson.Result) bool {
				found = compare(have, "$eq", one)
				return !found
			})
			return found
		}
	}
	found := false
	exists := reach(doc, path, func(have gjson.Result) bool {
		found = found || test(have)
		return !found
	})
	switch {
	case operator == "$exists":
		return exists == want.Bool()
	case !exists: // counts as null
		return operator != "$match" && test(gjson.Result{Type: gjson.Null})
	}
	return found
}

// reach visits the values under a key until visit returns false, and reports whether the key exists. A number
// in a key indexes a list where there is one.
func reach(v gjson.Result, path []string, visit func(gjson.Result) bool) (exists bool) {
	switch {
	case len(path) == 0 && v.IsArray():
		v.ForEach(func(_, element gjson.Result) bool { return visit(element) })
		return true
	case len(path) == 0:
		visit(v)
		return true
	case v.IsObject():
		next := v.Get(gjson.Escape(path[0]))
		return next.Exists() && reach(next, path[1:], visit)
	}
	if i, err := strconv.ParseUint(path[0], 10, 30); err == nil && v.IsArray() {
		if element := v.Get(strconv.FormatUint(i, 10)); element.Exists() && reach(element, path[1:], visit) {
			return true
		}
	}
	for _, element := range v.Array() {
		if element.IsObject() {
			exists = reach(element, path, visit) || exists
		}
	}
	return exists
}

// compare compares values of the same type.
func compare(have gjson.Result, operator string, want gjson.Result) bool {
	order := 0
	switch {
	case have.Type != want.Type:
		return false
	case have.Type == gjson.String && operator == "$match":
		return containsFold(have.Str, want.Str)
	case have.Type == gjson.String:
		order = strings.Compare(have.Str, want.Str)
	case have.Type == gjson.Number:
		order = compareNumbers(have, want)
	default: // null, true, false
		return operator == "$eq" && have.Type != gjson.JSON
	}
	switch operator {
	case "$eq":
		return order == 0
	case "$gt":
		return order > 0
	case "$gte":
		return order >= 0
	case "$lt":
		return order < 0
	case "$lte":
		return order <= 0
	}
	return false
}

func compareNumbers(a, b gjson.Result) int {
	m, errA := strconv.ParseInt(a.Raw, 10, 64)
	n, errB := strconv.ParseInt(b.Raw, 10, 64)
	switch {
	case errA == nil && errB == nil && m != n:
		return map[bool]int{true: -1, false: 1}[m < n]
	case errA == nil && errB == nil || a.Num == b.Num:
		return 0
	case a.Num < b.Num:
		return -1
	}
	return 1
}

// checkLiteral refuses values of types that cannot be compared.
func checkLiteral(v any, at string) error {
	switch v := v.(type) {
	case nil, string, bool, int, float64:
		return nil
	case json.Number:
		if _, err := v.Float64(); err != nil {
			return &QueryError{Key: at, Message: "is not a number that can be compared with"}
		}
		return nil
	case []any:
		return &QueryError{Key: at, Message: "a list cannot be compared with; use $in for any of several values"}
	}
	return &QueryError{Key: at, Message: "must be text, a number, true, false or null"}
}
