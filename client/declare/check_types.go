package declare

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"time"

	"sync"
)

// kind names a value's type as a script author would.
func kind(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case string, ID, Date, Path:
		return fmt.Sprintf("text %q", v)
	case bool:
		return fmt.Sprintf("boolean %t", v)
	case int, int64, float64:
		return fmt.Sprintf("number %v", v)
	case []any:
		return "a list"
	case map[string]any, Object:
		return "a table with keys"
	case Empty:
		return "an empty table"
	}
	return fmt.Sprintf("%T", v)
}

func wrong(t *Type, v any) error { return fmt.Errorf("wants %s, got %s", t, kind(v)) }

func checkText(t *Type, v any) (any, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case Path:
		return string(v), nil
	case fmt.Stringer: // a version, a duration
		return v.String(), nil
	}
	return nil, wrong(t, v)
}

// Identified is a value that stands for a resource: its id is taken wherever
// an id is wanted.
type Identified interface{ ResourceID() string }

func checkID(t *Type, v any) (any, error) {
	switch v := v.(type) {
	case Identified:
		return v.ResourceID(), nil
	case ID:
		return checkID(t, string(v))
	case string:
		if v == "" {
			return nil, errors.New("wants an id, got an empty text")
		}
		return v, nil
	case map[string]any: // a record made by hand or read from JSON
		for _, key := range []string{"_id", "id"} {
			if id, ok := v[key].(string); ok && id != "" {
				return id, nil
			}
		}
	}
	return nil, wrong(t, v)
}

// checkIDs gives a string for one id and a []string for a list: the two take
// different routes.
func checkIDs(t *Type, v any) (any, error) {
	switch v := v.(type) {
	case Empty:
		return []string{}, nil
	case IDs:
		return []string(v), nil
	case []string:
		return v, nil
	case []any:
		ids := make([]string, len(v))
		for i, e := range v {
			id, err := checkID(scalarID, e)
			if err != nil {
				return nil, fmt.Errorf("item %d: %w", i+1, err)
			}
			ids[i] = id.(string)
		}
		return ids, nil
	}
	id, err := checkID(scalarID, v)
	if err != nil {
		return nil, wrong(t, v)
	}
	return id, nil
}

var (
	scalarID   = &Type{Name: "id", check: checkID}
	numberKind = &Type{Name: "number", check: checkNumber}
)

func checkTexts(t *Type, v any) (any, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case Texts:
		return []string(v), nil
	case Empty:
		return []string{}, nil
	case []any:
		texts := make([]string, len(v))
		for i, e := range v {
			text, ok := e.(string)
			if !ok {
				return nil, fmt.Errorf("item %d: wants text, got %s", i+1, kind(e))
			}
			texts[i] = text
		}
		return texts, nil
	}
	return nil, wrong(t, v)
}

var datePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$`)
})

// DateForm is how dates travel.
const DateForm = "2006-01-02T15:04:05.000Z"

func checkDate(t *Type, v any) (any, error) {
	switch v := v.(type) {
	case time.Time:
		return v.UTC().Format(DateForm), nil
	case Date:
		return checkDate(t, string(v))
	case string:
		if !datePattern().MatchString(v) {
			return nil, fmt.Errorf("%q is not a date; write 2026-05-31 or 2026-05-31T08:30:00Z", v)
		}
		if _, err := time.Parse("2006-01-02", v[:10]); err != nil {
			return nil, fmt.Errorf("%q is not a day of the calendar", v[:10])
		}
		return v, nil
	}
	return nil, wrong(t, v)
}

func checkInteger(t *Type, v any) (any, error) {
	switch v := v.(type) {
	case int:
		return int64(v), nil
	case int64:
		return v, nil
	case float64:
		if v == math.Trunc(v) && math.Abs(v) <= 1<<53 {
			return int64(v), nil
		}
		return nil, fmt.Errorf("wants an integer, got %v", v)
	}
	return nil, wrong(t, v)
}

func checkNumber(t *Type, v any) (any, error) {
	switch v := v.(type) {
	case int:
		return float64(v), nil
	case int64:
		return float64(v), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("wants a number, got %v", v)
		}
		return v, nil
	}
	return nil, wrong(t, v)
}

func checkBool(t *Type, v any) (any, error) {
	if b, ok := v.(bool); ok {
		return b, nil
	}
	return nil, wrong(t, v)
}

func asObject(v any) (map[string]any, bool) {
	switch v := v.(type) {
	case map[string]any:
		return v, true
	case Object:
		return v, true
	case Filter:
		return v, true
	case Geometry:
		return v, true
	case Drawing:
		return v, true
	case Empty:
		return map[string]any{}, true
	}
	return nil, false
}

func checkObject(t *Type, v any) (any, error) {
	if o, ok := asObject(v); ok {
		return o, nil
	}
	return nil, wrong(t, v)
}

func checkList(t *Type, v any) (any, error) {
	if _, empty := v.(Empty); empty {
		return []any{}, nil
	}
	list, ok := v.([]any)
	if !ok {
		return nil, wrong(t, v)
	}
	out := make([]any, len(list))
	for i, e := range list {
		checked, err := t.Elem.check(t.Elem, e)
		if err != nil {
			return nil, fmt.Errorf("item %d: %w", i+1, err)
		}
		out[i] = checked
	}
	return out, nil
}

// checkSort takes {attribute = 1}, or a list of such tables where the order
// of several attributes matters.
func checkSort(t *Type, v any) (any, error) {
	if s, ok := v.(Sort); ok {
		return s, nil
	}
	var parts []any
	if list, ok := v.([]any); ok {
		parts = list
	} else {
		parts = []any{v}
	}
	var s Sort
	for _, part := range parts {
		o, ok := asObject(part)
		if !ok {
			return nil, wrong(t, v)
		}
		for _, attribute := range sortedKeys(o) {
			d, err := checkInteger(&Type{Name: "1 or -1"}, o[attribute])
			if err != nil || d != int64(1) && d != int64(-1) {
				return nil, fmt.Errorf("%s: wants 1 (ascending) or -1 (descending), got %s", attribute, kind(o[attribute]))
			}
			s = append(s, SortKey{attribute, int(d.(int64))})
		}
	}
	return s, nil
}
