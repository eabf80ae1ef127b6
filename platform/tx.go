package platform

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"runtime"
	"runtime/debug"

	"transect/platform/store"
)

// Handlers and jobs do not return errors: as inside text/template, a failure is
// a panic with an error, which undoes the transaction and is an error again
// where the work began (recovered). No such panic leaves the package.

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

// recovered runs f and returns the error it panicked with. A defect of the
// program becomes a defectError.
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

// defectError is a panic that nobody meant: a sentence for users, the stack for
// the log.
type defectError struct {
	cause any
	stack []byte
}

func (e *defectError) Error() string { return "internal error of the local platform; see its log" }

// LogValue is what the log shows.
func (e *defectError) LogValue() slog.Value {
	return slog.StringValue(fmt.Sprintf("panic: %v\n%s", e.cause, e.stack))
}

// logDefect logs err when it is a defect.
func (p *Platform) logDefect(err error, attributes ...any) {
	if defect, ok := errors.AsType[*defectError](err); ok {
		p.log.Error("a job panicked", append(attributes, "error", defect)...)
	}
}

// tx is a transaction whose failures are panics.
type tx struct{ *store.Tx }

func (p *Platform) read(ctx context.Context, f func(tx)) error {
	return p.store.Read(ctx, func(t *store.Tx) error { return recovered(func() { f(tx{t}) }) })
}

func (p *Platform) write(ctx context.Context, f func(tx)) error {
	return p.store.Write(ctx, func(t *store.Tx) error { return recovered(func() { f(tx{t}) }) })
}

// find returns a document, deleted or not; nil when there is none.
func (t tx) find(of *resource, id string) store.Doc {
	doc, err := t.Get(of.plural, id)
	if !errors.Is(err, store.ErrNotFound) {
		check(err)
	}
	return doc
}

// load returns a document that must be there, deleted or not.
func (t tx) load(of *resource, id string) store.Doc { return must(t.Get(of.plural, id)) }

// all returns every document that passes a filter.
func (t tx) all(of *resource, filter store.Doc) []store.Doc {
	return must(t.All(of.plural, store.Query{Filter: filter}))
}

// first returns the first document that passes a filter, or nil.
func (t tx) first(of *resource, filter store.Doc) store.Doc {
	for _, doc := range must(t.All(of.plural, store.Query{Filter: filter, Limit: 1})) {
		return doc
	}
	return nil
}

func (t tx) insert(of *resource, doc store.Doc)  { check(t.Insert(of.plural, doc)) }
func (t tx) replace(of *resource, doc store.Doc) { check(t.Replace(of.plural, doc)) }
func (t tx) remove(of *resource, id string)      { check(t.Remove(of.plural, id)) }
func (t tx) exec(query string, args ...any)      { check(t.Exec(query, args...)) }

// rows gives the rows of a query one by one.
func (t tx) rows(query string, args ...any) iter.Seq[*sql.Rows] {
	return func(yield func(*sql.Rows) bool) {
		rows := must(t.Query(query, args...))
		defer rows.Close()
		for rows.Next() && yield(rows) {
		}
		check(rows.Err())
	}
}

// found reports whether there was a row to scan.
func found(err error) bool {
	if errors.Is(err, sql.ErrNoRows) {
		return false
	}
	check(err)
	return true
}
