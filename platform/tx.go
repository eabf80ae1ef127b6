package platform

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"

	"transect/client/schema"
	"transect/client/transport/httpserve"
	"transect/platform/internal/blob"
	"transect/platform/internal/store"
)

// Handlers and jobs do not return errors: as inside text/template, a failure is a panic with an error, which
// rolls back the transaction and becomes an error again where the work began (recovered). No such panic
// leaves the package.

// check panics with err unless it is nil.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

// must returns v, or panics with err.
func must[T any](v T, err error) T {
	check(err)
	return v
}

// recovered runs f and returns the error it panicked with. A bug in the program becomes a defectError.
func recovered(f func()) (err error) {
	defer func() {
		v := recover()
		failed, isError := v.(error)
		_, isDefect := v.(runtime.Error)
		switch {
		case v == nil:
		case isError && !isDefect:
			err = failed
		default:
			err = &defectError{v, debug.Stack()}
		}
	}()
	f()
	return nil
}

// defectError is an unexpected panic: a sentence for users, the stack for the log.
type defectError struct {
	cause any
	stack []byte
}

func (e *defectError) Error() string { return "internal error of the local platform; see its log" }

// LogValue returns the panic and its stack.
func (e *defectError) LogValue() slog.Value {
	return slog.StringValue(fmt.Sprintf("panic: %v\n%s", e.cause, e.stack))
}

// logDefect logs err when it is a defectError.
func (p *Platform) logDefect(err error, attributes ...any) {
	if defect, ok := errors.AsType[*defectError](err); ok {
		p.log.Error("a job panicked", append(attributes, "error", defect)...)
	}
}

// tx is a transaction whose failures are panics.
type tx struct {
	*store.Tx
	under *beneath        // of an overlay, else nil
	ctx   context.Context // of requests to the platform below
}

func (p *Platform) read(ctx context.Context, f func(tx)) error {
	if p.options.under != nil { // documents that are read may have to be copied
		return p.write(ctx, f)
	}
	return p.store.Read(ctx, func(t *store.Tx) error { return recovered(func() { f(tx{Tx: t}) }) })
}

func (p *Platform) write(ctx context.Context, f func(tx)) error {
	return p.store.Write(ctx, func(t *store.Tx) error {
		err := recovered(func() { f(tx{t, p.options.under, ctx}) })
		p.options.under.settle(err == nil)
		return err
	})
}

// checkKept is check for a write that refers to new blobs: on failure they are removed.
func (p *Platform) checkKept(err error, blobs ...blob.Blob) {
	if err != nil {
		for _, b := range blobs {
			p.blobs.Remove(b.ID)
		}
	}
	check(err)
}

// find returns a document, deleted or not; nil when there is none.
func (t tx) find(of *resource, id string) store.Doc {
	doc, err := t.Get(of.plural, id)
	if errors.Is(err, store.ErrNotFound) {
		return t.copyOne(of, id)
	}
	check(err)
	return doc
}

// load returns a document, deleted or not, that must exist.
func (t tx) load(of *resource, id string) store.Doc {
	if doc := t.find(of, id); doc != nil {
		return doc
	}
	panic(store.ErrNotFound)
}

// all returns every document that matches a filter.
func (t tx) all(of *resource, filter store.Doc) []store.Doc {
	return must(t.All(of.plural, store.Query{Filter: filter}))
}

// first returns the first document that matches a filter, or nil.
func (t tx) first(of *resource, filter store.Doc) store.Doc {
	for _, doc := range must(t.All(of.plural, store.Query{Filter: filter, Limit: 1})) {
		return doc
	}
	return nil
}

func (t tx) insert(of *resource, doc store.Doc) {
	check(t.Insert(of.plural, doc))
	t.under.hold(of.plural, store.Text(doc, "_id"))
}
func (t tx) replace(of *resource, doc store.Doc) { check(t.Replace(of.plural, doc)) }
func (t tx) remove(of *resource, id string)      { check(t.Remove(of.plural, id)) }
func (t tx) exec(query string, args ...any)      { check(t.Exec(query, args...)) }

// rows iterates over the rows of a query.
func (t tx) rows(query string, args ...any) iter.Seq[*sql.Rows] {
	return func(yield func(*sql.Rows) bool) {
		rows := must(t.Query(query, args...))
		defer rows.Close()
		for rows.Next() && yield(rows) {
		}
		check(rows.Err())
	}
}

// found reports whether there was a row to scan; other errors panic.
func found(err error) bool {
	if errors.Is(err, sql.ErrNoRows) {
		return false
	}
	check(err)
	return true
}

// failure is an error response in the platform's shape.
type failure struct {
	status  int
	Service string `json:"service"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Details any    `json:"details,omitempty"`
	again   bool   // nothing was done: the request may be repeated
}

func (f *failure) Error() string { return f.Message }

func fail(status int, code, format string, args ...any) *failure {
	return &failure{status: status, Code: code, Message: fmt.Sprintf(format, args...)}
}

// invalid returns the failure of a request that is wrong in itself.
func invalid(format string, args ...any) *failure {
	return fail(http.StatusBadRequest, "InvalidRequest", format, args...)
}

func notFound(what string, ids ...string) *failure {
	f := fail(http.StatusNotFound, "ResourceNotFound", "%s %s does not exist", what, strings.Join(ids, ", "))
	f.Details = map[string]any{what: ids}
	return f
}

func conflict(format string, args ...any) *failure {
	return fail(http.StatusConflict, "Conflict", format, args...)
}

func forbidden(format string, args ...any) *failure {
	return fail(http.StatusForbidden, "Forbidden", format, args...)
}

func unauthorized(code, format string, args ...any) *failure {
	return fail(http.StatusUnauthorized, code, format, args...)
}

// failed turns any error of a handler into a response. An error that is not the request's fault is the
// platform's own: its text goes only to the log.
func (p *Platform) failed(r *Request, err error) *failure {
	var f *failure
	var argument *schema.JSONError
	var query *store.QueryError
	var digest *blob.ChecksumError
	var tooLong *http.MaxBytesError
	var unread *bodyError
	switch {
	case errors.As(err, &f):
		copied := *f
		f = &copied
	case errors.As(err, &argument):
		f = wrong(argument.Key, "%s", argument.Message)
	case errors.As(err, &query):
		f = wrong(query.Key, "%s", query.Message)
	case errors.As(err, &digest):
		f = fail(http.StatusBadRequest, "BadDigest", "%s", digest)
	case errors.As(err, &tooLong):
		f = fail(http.StatusRequestEntityTooLarge, "RequestTooLarge", "the request's body is longer than %d bytes",
			tooLong.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		f = fail(http.StatusRequestTimeout, "RequestTimeout",
			"no byte of the request's body came for a minute, or less than %d bytes a second", httpserve.MinRate)
	case r.http.Context().Err() != nil || errors.Is(err, context.Canceled):
		f = fail(http.StatusServiceUnavailable, "RequestCancelled", "the request was given up or the platform is closing")
	case errors.As(err, &unread):
		f = invalid("the request's body cannot be read: %v", unread)
	case store.IsFull(err) || errors.Is(err, syscall.ENOSPC):
		f = fail(http.StatusInsufficientStorage, "DiskFull",
			"the disk of the platform's folder %s is full: free some space on it and send the request again", p.options.Dir)
	default:
		p.log.Error("request failed", "method", r.http.Method, "path", r.http.URL.Path, "error", err)
		f = fail(http.StatusInternalServerError, "InternalError", "the platform failed; its log says why")
	}
	f.Service = r.service
	return f
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"code":"InternalError","message":"the answer cannot be written as JSON"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body)
}
