package platform

import (
	"encoding/json"
	"slices"
	"strconv"

	"transect/platform/store"
)

// args reads arguments that no declaration checks. The first that is wrong is
// kept as the error, so that a handler reads them all and asks once.
type args struct {
	doc store.Doc
	err error
}

func (r *Request) args() *args { return &args{doc: r.body} }

func (a *args) wrong(key, format string, values ...any) {
	if a.err == nil {
		a.err = wrong(key, format, values...)
	}
}

// has tells whether a value was given.
func (a *args) has(key string) bool { return a.doc[key] != nil }

// need refuses a request without the key.
func (a *args) need(key string) bool {
	if !a.has(key) {
		a.wrong(key, "is required")
	}
	return a.has(key)
}

// text reads a text that must be given and not be empty.
func (a *args) text(key string) string {
	s := a.optText(key)
	if a.need(key) && s == "" {
		a.wrong(key, "must not be empty")
	}
	return s
}

func (a *args) optText(key string) string {
	s, ok := a.doc[key].(string)
	if !ok && a.has(key) {
		a.wrong(key, "must be text")
	}
	return s
}

// oneOf reads a text that must be one of those given.
func (a *args) oneOf(key string, allowed ...string) string {
	s := a.text(key)
	if !slices.Contains(allowed, s) {
		a.wrong(key, "must be one of %v, not %q", allowed, s)
	}
	return s
}

func (a *args) id(key string) string {
	id, _ := a.doc[key].(string)
	if a.need(key) && !store.IsID(id) {
		a.wrong(key, "must be an identifier of 24 hexadecimal digits")
	}
	return id
}

// integer reads a whole number between two bounds; otherwise when there is none.
func (a *args) integer(key string, otherwise, from, to int64) int64 {
	var n int64
	var err error = strconv.ErrSyntax
	switch v := a.doc[key].(type) {
	case nil:
		return otherwise
	case json.Number:
		n, err = strconv.ParseInt(v.String(), 10, 64)
	case string: // in the query of an address everything is text
		n, err = strconv.ParseInt(v, 10, 64)
	}
	if err != nil {
		a.wrong(key, "must be a whole number")
	} else if n < from || n > to {
		a.wrong(key, "must be between %d and %d, not %d", from, to, n)
	}
	return n
}

// boolean reads true or false; false when there is none.
func (a *args) boolean(key string) bool {
	b, ok := a.doc[key].(bool)
	if !ok && a.has(key) {
		a.wrong(key, "must be true or false")
	}
	return b
}
