package store

import (
	"encoding/json"
	"strconv"
	"strings"
)

// kindOf is the type of a value that filters compare with.
type kindOf int

const (
	nullKind kindOf = iota
	textKind
	numberKind
	boolKind
)

// literal is one value of a filter.
type literal struct {
	kind  kindOf
	value any // string, int64, float64 or bool
}

func newLiteral(v any, at string) (literal, error) {
	switch v := v.(type) {
	case nil:
		return literal{}, nil
	case string:
		return literal{textKind, v}, nil
	case bool:
		return literal{boolKind, v}, nil
	case int:
		return literal{numberKind, int64(v)}, nil
	case float64:
		return literal{numberKind, v}, nil
	case json.Number:
		if n, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return literal{numberKind, n}, nil
		}
		f, err := v.Float64()
		if err != nil {
			return literal{}, &QueryError{Key: at, Message: "is no number that can be compared with"}
		}
		return literal{numberKind, f}, nil
	case []any:
		return literal{}, &QueryError{Key: at, Message: "a list cannot be compared with; use $in for any of several values"}
	}
	return literal{}, &QueryError{Key: at, Message: "must be text, a number, true, false or null"}
}

// test is what a filter asks of a value. Its SQL is over one value and its
// JSON type, both given as SQL.
type test interface {
	sql(value, kind string) (string, []any)
	// text is the SQL over a column that holds text or NULL.
	text(column string) (string, []any)
	// missing tells whether a document without the key passes.
	missing() bool
}

// anyOf holds when the value equals one of several.
type anyOf []literal

func (set anyOf) split() (texts []string, numbers []any, truths map[bool]bool, null bool) {
	truths = map[bool]bool{}
	for _, l := range set {
		switch l.kind {
		case textKind:
			texts = append(texts, l.value.(string))
		case numberKind:
			numbers = append(numbers, l.value)
		case boolKind:
			truths[l.value.(bool)] = true
		case nullKind:
			null = true
		}
	}
	return texts, numbers, truths, null
}

func (set anyOf) missing() bool {
	_, _, _, null := set.split()
	return null
}

func (set anyOf) sql(value, kind string) (string, []any) {
	texts, numbers, truths, null := set.split()
	var parts []string
	var args []any
	if len(texts) > 0 {
		in, arg := among(texts)
		parts, args = append(parts, kind+" = 'text' AND "+value+in), append(args, arg)
	}
	if len(numbers) > 0 {
		in, arg := among(numbers)
		parts, args = append(parts, kind+" IN ('integer', 'real') AND "+value+in), append(args, arg)
	}
	if truths[true] {
		parts = append(parts, kind+" = 'true'")
	}
	if truths[false] {
		parts = append(parts, kind+" = 'false'")
	}
	if null {
		parts = append(parts, kind+" = 'null'")
	}
	if len(parts) == 0 {
		return "0", nil
	}
	return "(" + strings.Join(parts, " OR ") + ")", args
}

func (set anyOf) text(column string) (string, []any) {
	texts, _, _, null := set.split()
	sql, args := "0", []any(nil)
	if len(texts) > 0 {
		in, arg := among(texts)
		sql, args = column+in, []any{arg}
	}
	if null {
		return "(" + column + " IS NULL OR " + sql + ")", args
	}
	return sql, args
}

// among is the SQL for membership: of one value directly, of several through
// one JSON argument, because the number of arguments is limited.
func among[T any](values []T) (string, any) {
	if len(values) == 1 {
		return " = ?", values[0]
	}
	list, _ := encode(values) // text and numbers always encode
	return " IN (SELECT value FROM json_each(?))", string(list)
}

// comparison holds for values of the same type that are smaller or larger.
type comparison struct {
	sign  string
	value literal
}

func (t comparison) missing() bool { return false }

func (t comparison) sql(value, kind string) (string, []any) {
	types := " = 'text'"
	if t.value.kind == numberKind {
		types = " IN ('integer', 'real')"
	}
	return "(" + kind + types + " AND " + value + " " + t.sign + " ?)", []any{t.value.value}
}

func (t comparison) text(column string) (string, []any) {
	if t.value.kind != textKind {
		return "0", nil
	}
	return column + " " + t.sign + " ?", []any{t.value.value}
}

// substring holds for text that contains it, whatever the case.
type substring string

func (t substring) missing() bool { return false }

func (t substring) sql(value, kind string) (string, []any) {
	return "(" + kind + " = 'text' AND contains_fold(" + value + ", ?))", []any{string(t)}
}

func (t substring) text(column string) (string, []any) {
	return "contains_fold(" + column + ", ?)", []any{string(t)}
}
