package store

import (
	"database/sql/driver"
	"fmt"
	"strings"

	"modernc.org/sqlite"
)

func init() {
	// SQLite's own lower() knows the letters of ASCII alone.
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

// field is a key that a filter speaks of.
type field struct {
	column string // its column, or ""
	path   string // JSON path of the whole key
	place  string // the same with numbers as places of lists, or ""
	parts  []string
}

func newField(key, at string) (field, error) {
	path, err := jsonPath(key)
	if err != nil {
		err.(*QueryError).Key = at
		return field{}, err
	}
	parts := strings.Split(key, ".")
	return field{column: columns[key], path: path, place: placePath(parts), parts: parts}, nil
}

// placePath writes a key such as geometry.coordinates.0 as a path into lists;
// "" when no part of it is a number.
func placePath(parts []string) string {
	path, found := "$", false
	for i, part := range parts {
		if i > 0 && len(part) < 10 && strings.Trim(part, "0123456789") == "" {
			path, found = path+"["+part+"]", true
			continue
		}
		path += `."` + part + `"`
	}
	if !found {
		return ""
	}
	return path
}

// jsonPath writes a dotted key as a path of SQLite's JSON functions.
func jsonPath(key string) (string, error) {
	parts := strings.Split(key, ".")
	if len(parts) > maxDepth {
		return "", &QueryError{Key: key, Message: "has too many parts"}
	}
	for _, part := range parts {
		// Inside a quoted label there is no way to write these.
		if part == "" || strings.ContainsAny(part, "\"\\\x00") {
			return "", &QueryError{Key: key, Message: fmt.Sprintf("%q is not a key", key)}
		}
	}
	return `$."` + strings.Join(parts, `"."`) + `"`, nil
}

// test gives the SQL that says whether one of the field's values passes. A
// list passes when one of its elements does, also a list on the way to the key.
func (f field) test(t test) (string, []any) {
	// A status may be an object, which its column shows as NULL.
	if f.column != "" && !(f.column == "status" && t.missing()) {
		return t.text(f.column)
	}
	if f.place != "" {
		// A number names a place of a list where there is one, else a key.
		sql, args := t.sql("json_extract(body, ?)", "json_type(body, ?)")
		key := f
		key.place = ""
		otherwise, otherArgs := key.test(t)
		return "CASE WHEN json_type(body, ?) IS NOT NULL THEN " + sql + " ELSE " + otherwise + " END",
			append(append([]any{f.place}, interleave(sql, args, f.place)...), otherArgs...)
	}
	// Most values are plain: those are compared without taking lists apart.
	plain, plainArgs := t.sql("json_extract(body, ?)", "json_type(body, ?)")
	plainArgs = interleave(plain, plainArgs, f.path)
	from, fromArgs := f.expand(len(f.parts))
	last := fmt.Sprintf("e%d", len(f.parts))
	listed, listedArgs := t.sql(last+".value", last+".type")

	sql := "CASE WHEN json_type(body, ?) IN ('text', 'integer', 'real', 'true', 'false') THEN " + plain +
		" ELSE EXISTS (SELECT 1 FROM " + from + " WHERE " + listed + ")"
	args := append(append(append([]any{f.path}, plainArgs...), fromArgs...), listedArgs...)
	if t.missing() {
		exists, existsArgs := f.exists()
		sql += " OR NOT " + exists
		args = append(args, existsArgs...)
	}
	return sql + " END", args
}

// interleave puts the path where the SQL reads the body, among the arguments
// of its comparisons, in the order of the question marks.
func interleave(sql string, args []any, path string) []any {
	var all []any
	for {
		i := strings.IndexByte(sql, '?')
		if i < 0 {
			return all
		}
		if strings.HasSuffix(sql[:i], "(body, ") {
			all = append(all, path)
		} else {
			all = append(all, args[0])
			args = args[1:]
		}
		sql = sql[i+1:]
	}
}

// exists gives the SQL that says whether the key is there, whatever its value.
func (f field) exists() (string, []any) {
	if f.place != "" {
		key := f
		key.place = ""
		sql, args := key.exists()
		return "(json_type(body, ?) IS NOT NULL OR " + sql + ")", append([]any{f.place}, args...)
	}
	leaf := `$."` + f.parts[len(f.parts)-1] + `"`
	if len(f.parts) == 1 {
		return "(json_type(body, ?) IS NOT NULL)", []any{leaf}
	}
	from, args := f.expand(len(f.parts) - 1)
	last := fmt.Sprintf("e%d", len(f.parts)-1)
	return "EXISTS (SELECT 1 FROM " + from + " WHERE CASE WHEN " + last + ".type = 'object' THEN json_type(" +
		last + ".value, ?) IS NOT NULL ELSE 0 END)", append(args, leaf)
}

// expand gives the SQL whose rows are the values under the first n parts of
// the key: each step takes the key of every object, and lists apart.
func (f field) expand(n int) (string, []any) {
	var from []string
	var args []any
	source, isObject := "body", "1"
	for i := 1; i <= n; i++ {
		path := `$."` + f.parts[i-1] + `"`
		from = append(from, fmt.Sprintf("json_each(CASE WHEN %[2]s THEN CASE json_type(%[1]s, ?) "+
			"WHEN 'array' THEN json_extract(%[1]s, ?) ELSE "+
			"CASE WHEN json_type(%[1]s, ?) IS NULL THEN '[]' ELSE '[' || (%[1]s -> ?) || ']' END "+
			"END ELSE '[]' END) e%[3]d", source, isObject, i))
		args = append(args, path, path, path, path)
		source, isObject = fmt.Sprintf("e%d.value", i), fmt.Sprintf("e%d.type = 'object'", i)
	}
	return strings.Join(from, ", "), args
}
