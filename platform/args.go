package platform

import (
	"encoding/json"
	"strconv"
	"time"

	"transect/platform/store"
)

// args reads the arguments of a request. The first one that is wrong is kept as
// the error, so that a handler reads them all and asks once.
type args struct {
	doc store.Doc
	at  string // put before keys in messages
	err error
}

func (r *Request) args() *args { return &args{doc: r.body} }

// within reads the arguments of an object inside another.
func within(doc store.Doc, at string) *args { return &args{doc: doc, at: at + "."} }

func (a *args) wrong(key, format string, values ...any) {
	if a.err == nil {
		f := invalid(a.at+key+": "+format, values...)
		f.Details = store.Doc{"key": a.at + key}
		a.err = f
	}
}

// has tells whether a value was given.
func (a *args) has(key string) bool { return a.doc[key] != nil }

// need complains when the key is absent.
func (a *args) need(key string) bool {
	if !a.has(key) {
		a.wrong(key, "is required")
		return false
	}
	return true
}

// text reads a text that must be there and not be empty.
func (a *args) text(key string) string {
	if !a.need(key) {
		return ""
	}
	s := a.optText(key)
	if s == "" {
		a.wrong(key, "must not be empty")
	}
	return s
}

func (a *args) optText(key string) string {
	if !a.has(key) {
		return ""
	}
	s, ok := a.doc[key].(string)
	if !ok {
		a.wrong(key, "must be text")
	}
	return s
}

// oneOf reads a text that must be one of those given.
func (a *args) oneOf(key string, allowed ...string) string {
	s := a.text(key)
	for _, one := range allowed {
		if s == one {
			return s
		}
	}
	a.wrong(key, "must be one of %v, not %q", allowed, s)
	return s
}

func (a *args) id(key string) string {
	if !a.need(key) {
		return ""
	}
	return a.optID(key)
}

func (a *args) optID(key string) string {
	if !a.has(key) {
		return ""
	}
	id, ok := a.doc[key].(string)
	if !ok || !store.IsID(id) {
		a.wrong(key, "must be an identifier of 24 hexadecimal digits")
	}
	return id
}

// list reads a list that must be there.
func (a *args) list(key string) []any {
	if !a.need(key) {
		return nil
	}
	list, ok := a.doc[key].([]any)
	if !ok {
		a.wrong(key, "must be a list")
	}
	return list
}

// texts reads a list of texts that must be there.
func (a *args) texts(key string) []string {
	var all []string
	for i, v := range a.list(key) {
		s, ok := v.(string)
		if !ok || s == "" {
			a.wrong(key, "element %d must be text", i)
		}
		all = append(all, s)
	}
	return all
}

// ids reads a list of at most limit identifiers that must be there.
func (a *args) ids(key string, limit int) []string {
	all := a.texts(key)
	for _, id := range all {
		if !store.IsID(id) {
			a.wrong(key, "%q is not an identifier of 24 hexadecimal digits", id)
		}
	}
	if len(all) > limit {
		a.wrong(key, "holds %d identifiers; at most %d are taken at once", len(all), limit)
	}
	return all
}

// object reads an object that must be there.
func (a *args) object(key string) store.Doc {
	a.need(key)
	return a.optObject(key)
}

func (a *args) optObject(key string) store.Doc {
	if !a.has(key) {
		return nil
	}
	object, ok := a.doc[key].(map[string]any)
	if !ok {
		a.wrong(key, "must be an object")
	}
	return object
}

// integer reads a whole number between two bounds; otherwise when there is none.
func (a *args) integer(key string, otherwise, from, to int64) int64 {
	if !a.has(key) {
		return otherwise
	}
	var n int64
	var err error = strconv.ErrSyntax
	switch v := a.doc[key].(type) {
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
	if !a.has(key) {
		return false
	}
	b, ok := a.doc[key].(bool)
	if !ok {
		a.wrong(key, "must be true or false")
	}
	return b
}

// optGeometry checks a GeoJSON geometry.
func (a *args) optGeometry(key string) store.Doc {
	object := a.optObject(key)
	if object == nil {
		return nil
	}
	if err := new(box).add(object); err != nil {
		a.wrong(key, "is no GeoJSON geometry: %v", err)
	}
	return object
}

func (a *args) geometry(key string) store.Doc {
	a.need(key)
	return a.optGeometry(key)
}

// dates are the forms in which a date may be given.
var dates = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999", "2006-01-02"}

// date reads a date that must be there, and gives it in the platform's form.
func (a *args) date(key string) string {
	s := a.text(key)
	for _, form := range dates {
		if t, err := time.Parse(form, s); err == nil {
			return date(t)
		}
	}
	a.wrong(key, "%q is no date such as 2024-03-31T12:00:00.000Z or 2024-03-31", s)
	return s
}
