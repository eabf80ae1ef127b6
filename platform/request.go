package platform

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"transect/client"
	"transect/client/declare"
	"transect/client/schema"
	"transect/platform/internal/store"
)

// Limits for the JSON body of a request, in bytes and in values: decoded, a value takes up to sixty bytes.
const (
	maxStep   = 64 << 10 // signing in, and the steps of transfers
	maxSearch = 4 << 20  // requests that change nothing
	maxChange = 64 << 20
	maxValues = 2_000_000
)

// maxBody returns the size limit for the bodies of requests to the route.
func (rt route) maxBody() int64 {
	switch {
	case rt.op == nil:
		return maxStep
	case rt.op.Effect == declare.Read:
		return maxSearch
	}
	return maxChange
}

// requestBody marks errors of reading a request, as opposed to errors of the platform.
type requestBody struct{ io.ReadCloser }

type bodyError struct{ error }

func (e *bodyError) Unwrap() error { return e.error }

func (b *requestBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = &bodyError{err}
	}
	return n, err
}

// Request is one request to a route, as its handler sees it.
type Request struct {
	p        *Platform
	http     *http.Request
	op       *operation
	revision int
	service  string // first part of the path, named in errors
	caller   caller
	body     store.Doc // the JSON body; the query of a GET
	raw      []byte    // the body as received, where the order of keys counts
	tx                 // of the route's kind; of none for a stream
	after    []func()  // run after the transaction is committed
}

// readBody reads the request's arguments.
func (r *Request) readBody(most int64) error {
	if r.http.Method == http.MethodGet {
		r.readQuery()
		return nil
	}
	data, err := io.ReadAll(http.MaxBytesReader(nil, r.http.Body, most))
	if err != nil {
		return err
	}
	if len(data) == 0 {
		r.body = store.Doc{}
		return nil
	}
	if countValues(data) > maxValues {
		return fail(http.StatusRequestEntityTooLarge, "RequestTooLarge", "the request's body holds more than %d values",
			maxValues)
	}
	r.raw = data
	if r.body, err = store.Decode(data); err != nil {
		if wrongType, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return invalid("the body must be one JSON object, not %s", wrongType.Value)
		}
		return invalid("the body is not JSON: %v", err)
	}
	if r.body == nil {
		return invalid("the body must be one JSON object, not null")
	}
	return nil
}

// countValues estimates the number of values in a JSON text.
func countValues(data []byte) (n int) {
	quoted := false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case !quoted && (c == ',' || c == '[' || c == '{'):
			n++
		}
	}
	return n
}

// readQuery reads the arguments in the query string.
func (r *Request) readQuery() {
	r.body = store.Doc{}
	for key, values := range r.http.URL.Query() {
		r.body[key] = values[0]
	}
}

// text returns an argument that is text or an identifier, "" when absent.
func (r *Request) text(key string) string { return store.Text(r.body, key) }

// object returns an argument that is an object, nil when absent.
func (r *Request) object(key string) store.Doc { return objectOf(r.body, key) }

func objectOf(doc store.Doc, key string) store.Doc {
	object, _ := store.Lookup(doc, key).(map[string]any)
	return object
}

func listOf(doc store.Doc, key string) []any {
	list, _ := store.Lookup(doc, key).([]any)
	return list
}

// texts returns an argument that is a list of texts or identifiers, or one.
func (r *Request) texts(key string) []string { return textsOf(store.Lookup(r.body, key)) }

func textsOf(v any) []string {
	if text, ok := v.(string); ok {
		return []string{text}
	}
	list, _ := v.([]any)
	var all []string
	for _, v := range list {
		if text, ok := v.(string); ok {
			all = append(all, text)
		}
	}
	return all
}

// path returns an argument in the path.
func (r *Request) path(name string) string { return r.http.PathValue(name) }

func (r *Request) now() time.Time { return r.p.options.Now() }

// afterwards runs f once the transaction of the request is committed.
func (r *Request) afterwards(f func()) { r.after = append(r.after, f) }

// read runs f in a reading transaction, for routes that stream.
func (r *Request) read(f func()) {
	check(r.p.read(r.http.Context(), func(t tx) { r.in(t, f) }))
}

// write runs f in a writing transaction, and then the functions passed to afterwards.
func (r *Request) write(f func()) {
	r.after = nil
	check(r.p.write(r.http.Context(), func(t tx) { r.in(t, f) }))
	for _, do := range r.after {
		do()
	}
}

func (r *Request) in(t tx, f func()) {
	r.tx = t
	defer func() { r.tx = tx{} }()
	f()
}

// integer returns an argument that is a whole number between two bounds, or a default when it is absent. In a
// query it is text.
func (r *Request) integer(key string, otherwise, from, to int64) int64 {
	if r.body[key] == nil {
		return otherwise
	}
	n, err := strconv.ParseInt(fmt.Sprint(r.body[key]), 10, 64)
	switch {
	case err != nil:
		panic(wrong(key, "must be a whole number"))
	case n < from || n > to:
		panic(wrong(key, "must be between %d and %d, not %d", from, to, n))
	}
	return n
}

// fields declares values in a body that have rules beyond the declared ones.
type fields = []schema.Param

// optional returns copies of fields, marked as optional.
func optional(all fields) fields {
	all = slices.Clone(all)
	for i := range all {
		all[i].Optional = true
	}
	return all
}

// checkAs fails the request unless a value has a type.
func checkAs(t schema.Type, key string, v any) { check((&schema.Param{Type: t}).CheckJSON(key, v)) }

// timeOf returns a date of a document, or zero.
func timeOf(doc store.Doc, key string) time.Time { return schema.Date(store.Text(doc, key)).Time() }

// checkPeriod refuses an end_date before the start_date.
func checkPeriod(doc store.Doc) {
	start, end := timeOf(doc, "start_date"), timeOf(doc, "end_date")
	if !start.IsZero() && !end.IsZero() && end.Before(start) {
		panic(wrong("end_date", "%s is before start_date %s", doc["end_date"], doc["start_date"]))
	}
}

// dated converts the value of a key of a document or of a filter to the platform's form if it is a date.
func (t *resource) dated(key string, value any) any {
	switch v := value.(type) {
	case string:
		if d := schema.Date(v).Time(); !d.IsZero() {
			if f := client.RecordTypeOf(t.manager).Field(key); f != nil && f.Type == "date" {
				return date(d)
			}
		}
	case []any:
		for i := range v {
			if inner, ok := v[i].(store.Doc); ok { // of $and and $or
				t.setDates(inner)
			} else {
				v[i] = t.dated(key, v[i])
			}
		}
	case store.Doc: // operators
		for operator := range v {
			v[operator] = t.dated(key, v[operator])
		}
	}
	return value
}

// setDates converts the dates of a filter.
func (t *resource) setDates(filter store.Doc) {
	for key := range filter {
		filter[key] = t.dated(key, filter[key])
	}
}
