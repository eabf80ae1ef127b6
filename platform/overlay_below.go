package platform

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tidwall/gjson"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/schema"
	"transect/platform/internal/store"
)

// beneath reads the platform below an overlay and caches what is known about it.
type beneath struct {
	tripper      http.RoundTripper // of a client
	reads        map[string]access // by collection
	describeUser *operation
	base         string

	mu      sync.Mutex
	held    map[string]map[string]bool // ids in memory, by collection: new, changed and copied
	copied  map[string]bool            // what was copied already
	numbers map[string]int             // counters of new ids, by collection
	totals  map[string]int             // of searches for what is held
	undo    []func()                   // of the open transaction

	streams sync.Map // of searches, see search

	revision atomic.Int32 // of the client

	asking sync.Mutex
	user   string    // of the caller, "" until requested
	of     store.Doc // the user's document
}

// access holds the operations that read a collection.
type access struct{ describe, search *operation }

// accesses returns the operations that read each collection.
func accesses(routes []route) map[string]access {
	all := map[string]access{}
	for _, rt := range routes {
		if rt.op == nil || services[rt.op.Manager].resource == nil || rt.op.Effect != declare.Read {
			continue
		}
		t := services[rt.op.Manager].resource
		a := all[t.plural]
		switch {
		case rt.op.Shape == declare.ShapePage && rt.op.arg("filter") != nil && a.search == nil:
			a.search = rt.op
		case rt.op.arg(t.name) != nil && rt.op.Name == "describe" && rt.op.List() == "":
			a.describe = rt.op
		}
		all[t.plural] = a
	}
	return all
}

// send sends a request to the platform below. An error response becomes a failure of the same status.
func (u *beneath) send(ctx context.Context, op *operation, args store.Doc) []byte {
	args = maps.Clone(args)
	path := op.Path
	for key, v := range args {
		if marked := "{" + key + "}"; strings.Contains(path, marked) {
			path = strings.ReplaceAll(path, marked, url.PathEscape(v.(string)))
			delete(args, key)
		}
	}
	var body io.Reader
	query := ""
	if op.Method == http.MethodGet {
		values := url.Values{}
		for key, v := range args {
			if text, ok := v.(string); ok {
				values.Set(key, text)
			} else {
				values.Set(key, string(must(json.Marshal(v))))
			}
		}
		query = "?" + values.Encode()
	} else {
		body = bytes.NewReader(must(json.Marshal(args)))
	}
	req := must(http.NewRequestWithContext(ownRequest{ctx}, op.Method, u.base+path+query, body))
	req.Header.Set("Content-Type", "application/json")
	answer, err := u.tripper.RoundTrip(req)
	if refused, ok := errors.AsType[*fault.ResponseError](err); ok {
		f := fail(refused.Status, refused.Code, "%s", refused.Message)
		if f.again = fault.TransientStatus(refused.Status); f.again {
			f.status = http.StatusServiceUnavailable
		}
		panic(f)
	} else if err != nil {
		f := fail(http.StatusNotImplemented, "BelowUnreachable", "the platform cannot be asked: %v", fault.Reason(err))
		if f.again = fault.Transient(err); f.again {
			f.status = http.StatusServiceUnavailable
		}
		panic(f)
	}
	defer answer.Body.Close()
	content := must(io.ReadAll(answer.Body))
	if op.ResultKey != "" {
		content = []byte(gjson.GetBytes(content, op.ResultKey).Raw)
	}
	return content
}

const belowPage = 500 // records per request

// ownRequest is the context of a request that the overlay makes itself. It hides the values of the request
// being served, which control what is passed on.
type ownRequest struct{ context.Context }

func (ownRequest) Value(any) any { return nil }

// caller returns the user of the platform below.
func (u *beneath) caller(ctx context.Context) caller {
	u.asking.Lock()
	defer u.asking.Unlock()
	if u.user == "" {
		err := recovered(func() { u.of = must(store.Decode(u.send(ctx, u.describeUser, store.Doc{}))) })
		if f, ok := err.(*failure); !ok || f.again || f.status == http.StatusUnauthorized {
			check(err)
		}
		u.user = cmp.Or(store.Text(u.of, "_id"), "plan")
	}
	return caller{user: u.user}
}

// company returns the company of the user below.
func (u *beneath) company() string {
	if id := store.Text(u.of, "company"); id != "" {
		return id
	}
	if all := textsOf(u.of["companies"]); len(all) > 0 {
		return all[0]
	}
	return ""
}

// hold records that a document is in memory.
func (u *beneath) hold(collection, id string) {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.held[collection] == nil {
		u.held[collection] = map[string]bool{}
	}
	if !u.held[collection][id] {
		u.undo = append(u.undo, func() { delete(u.held[collection], id) })
	}
	u.held[collection][id] = true
}

// settle ends the (single) open transaction and drops what a failed one copied.
func (u *beneath) settle(committed bool) {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, undo := range u.undo {
		if !committed {
			undo()
		}
	}
	u.undo = nil
}

// once reports whether something is requested for the first time.
func (u *beneath) once(what string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	first := !u.copied[what]
	if first {
		u.undo = append(u.undo, func() { delete(u.copied, what) })
	}
	u.copied[what] = true
	return first
}

// copyOne copies a document from below; nil if there is none.
func (t tx) copyOne(of *resource, id string) store.Doc {
	u := t.under
	if u == nil || schema.IsPlannedID(id) || !u.once(of.plural+" "+id) {
		return nil
	}
	doc := u.fetch(t.ctx, of, id)
	if doc["_id"] != any(id) {
		return nil
	}
	t.insert(of, doc)
	return doc
}

// fetch reads a document from below, deleted or not; nil if there is none.
func (u *beneath) fetch(ctx context.Context, of *resource, id string) (doc store.Doc) {
	a := u.reads[of.plural]
	refused := func(f func()) bool {
		err := recovered(f)
		if f, ok := err.(*failure); ok && (f.status == http.StatusNotFound || f.status == http.StatusBadRequest) {
			return true
		}
		check(err)
		return false
	}
	if a.describe != nil && !refused(func() {
		doc = must(store.Decode(u.send(ctx, a.describe,
			store.Doc{of.name: id})))
	}) {
		return doc
	}
	if a.search == nil {
		return nil
	}
	filter := store.Doc{"_id": store.Doc{"$eq": id}}
	if a.describe != nil {
		filter["deletion_date"] = store.Doc{"$ne": nil}
	}
	refused(func() {
		content := u.send(ctx, a.search, store.Doc{"filter": filter, "limit": 1})
		if raw := gjson.GetBytes(content, "results.0").Raw; raw != "" {
			doc = must(store.Decode([]byte(raw)))
		}
	})
	return doc
}

// copyAll copies the documents that match a filter from below, stopping when there are enough; 0 means all.
func (t tx) copyAll(collection string, filter store.Doc, most int) {
	u := t.under
	if u == nil {
		return
	}
	a := u.reads[collection]
	search := a.search.in(int(u.revision.Load()))
	if search == nil || mentionsPlanned(filter) {
		return
	}
	text := string(must(json.Marshal(filter)))
	if !u.once(collection + " " + text) {
		return
	}
	for page := search.FirstPage; ; page++ {
		args := store.Doc{"limit": belowPage, "page": page}
		if len(filter) > 0 {
			args["filter"] = filter
		}
		n := 0
		gjson.GetBytes(u.send(t.ctx, search, args), "results").ForEach(func(_, record gjson.Result) bool {
			n++
			t.copied(collection, must(store.Decode([]byte(record.Raw))))
			return true
		})
		if n < belowPage || most > 0 && n >= most {
			return
		}
	}
}

// copied stores a document from below, unless it is in memory already.
func (t tx) copied(collection string, doc store.Doc) {
	id := store.Text(doc, "_id")
	t.under.mu.Lock()
	held := t.under.held[collection][id]
	t.under.mu.Unlock()
	if !held {
		check(t.Tx.Insert(collection, doc))
		t.under.hold(collection, id)
	}
}

// mentionsPlanned reports whether a filter contains a planned id, which does not exist below.
func mentionsPlanned(v any) bool {
	switch v := v.(type) {
	case string:
		return schema.IsPlannedID(v)
	case []any:
		for _, one := range v {
			if !mentionsPlanned(one) {
				return false
			}
		}
		return len(v) > 0
	case map[string]any:
		for key, one := range v {
			if key != "$nin" && key != "$ne" && key != "$or" && mentionsPlanned(one) {
				return true
			}
		}
	}
	return false
}

// Search and All include documents below.
func (t tx) Search(collection string, q store.Query) (store.Page, error) {
	t.copyAll(collection, q.Filter, 0)
	return t.Tx.Search(collection, q)
}

// All returns all documents that match a query, including the ones below.
func (t tx) All(collection string, q store.Query) ([]store.Doc, error) {
	t.copyAll(collection, q.Filter, q.Limit)
	return t.Tx.All(collection, q)
}
