package jobs

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Querier is a database or a transaction.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Collect reads all rows of a query, each with scan.
func Collect[T any](ctx context.Context, q Querier, scan func(*sql.Rows) (T, error), query string,
	args ...any) (all []T, err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		value, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, value)
	}
	return all, rows.Err()
}

// Column reads all rows of a query with one column.
func Column[T any](ctx context.Context, q Querier, query string, args ...any) ([]T, error) {
	return Collect(ctx, q, func(rows *sql.Rows) (value T, err error) {
		err = rows.Scan(&value)
		return value, err
	}, query, args...)
}

// In returns the condition that an expression equals one of some values; "false" for none, because PostgreSQL
// accepts no empty list. Ids are written out, as there may be more than a statement has arguments; texts are
// appended to the arguments.
func In[T ~string | ~int64](expression string, values []T, args *[]any) string {
	if len(values) == 0 {
		return "false"
	}
	list := make([]string, len(values))
	for i, value := range values {
		switch v := any(value).(type) {
		case int64:
			list[i] = strconv.FormatInt(v, 10)
		default:
			*args = append(*args, fmt.Sprint(v))
			list[i] = fmt.Sprintf("$%d", len(*args))
		}
	}
	return expression + " in (" + strings.Join(list, ", ") + ")"
}

// Storable reports whether both databases can store a text: it is UTF-8 without zero bytes.
func Storable(text string) bool { return utf8.ValidString(text) && !strings.Contains(text, "\x00") }

// Millis converts a time to the form of the tables: milliseconds, 0 for the zero time.
func Millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// FromMillis converts a time from the form of the tables.
func FromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// ReadTime evaluates an expression for a time, such as Store.Now.
func ReadTime(ctx context.Context, q Querier, expression string) (time.Time, error) {
	var ms int64
	err := q.QueryRowContext(ctx, "select "+expression).Scan(&ms)
	return FromMillis(ms), err
}

// Stamp returns a time for JSON: in UTC, nil for the zero time.
func Stamp(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// Bit converts a boolean to the form of the tables.
func Bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
