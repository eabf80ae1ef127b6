package platform

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"transect/client/declare"
	"transect/client/schema"
	"transect/platform/internal/store"
)

// searches reports whether a route is the standard search of its resource.
func (u *beneath) searches(rt *route) bool {
	if rt.op == nil || rt.op.Shape != declare.ShapePage {
		return false
	}
	t := services[rt.op.Manager].resource
	return t != nil && u.reads[t.plural].search == rt.op
}

// search returns a page that merges the records below, without held ones, with the held records, in the
// requested order.
func (o *Overlay) search(p *Platform, rt *route, req *http.Request, body []byte) (*http.Response, error) {
	t := services[rt.op.Manager].resource
	revision := revisionOf(req)
	op := rt.op.in(revision)
	if op == nil {
		return o.below.RoundTrip(req)
	}
	r := &Request{p: p, http: req, op: op, revision: revision, body: store.Doc{}, raw: body}
	var q store.Query
	var local []json.RawMessage
	err := recovered(func() {
		if len(body) > 0 {
			r.body = must(store.Decode(body))
		}
		q = t.query(r)
		check(p.store.Read(req.Context(), func(s *store.Tx) error {
			page, err := s.Search(t.plural, store.Query{Filter: q.Filter, Sort: q.Sort})
			local = page.Results
			return err
		}))
	})
	held := o.under.real(t.plural)
	if err != nil || len(local) == 0 && len(held) == 0 {
		return o.below.RoundTrip(req) // which reports what is wrong with it
	}
	m := &merge{ctx: req.Context(), o: o, op: op, q: q, local: local, held: held}
	var answer store.Page
	if err := recovered(func() { answer = m.page() }); err != nil {
		return refusal(req, p.failed(r, err))
	}
	return answerJSON(req, http.StatusOK, answer)
}

// real returns the held ids of a collection that exist below, sorted.
func (u *beneath) real(collection string) (ids []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for id := range u.held[collection] {
		if !strings.HasPrefix(id, "plan-") {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// findsRemarks reports whether a route returns all tags or comments of something: there is no other way to
// read them.
func (rt *route) findsRemarks() bool {
	return rt.op != nil && rt.op.Effect == declare.Read && (rt.op.Manager == "tags" || rt.op.Manager == "comments")
}

// remarks copies the tags or comments that a search finds below, and answers it.
func (o *Overlay) remarks(p *Platform, rt *route, req *http.Request) (*http.Response, error) {
	if schema.IsPlannedID(req.URL.Query().Get("project_id")) {
		return o.inside(p, req)
	}
	answer, err := o.below.RoundTrip(req)
	if err != nil || answer.StatusCode >= http.StatusBadRequest {
		return answer, err
	}
	defer answer.Body.Close()
	if err := recovered(func() {
		t, docs := services[rt.op.Manager].resource, parseRemarks(must(io.ReadAll(answer.Body)),
			req.URL.Query().Get("project_id"))
		check(p.write(req.Context(), func(tx tx) {
			for _, doc := range docs {
				if o.under.once(t.plural + " " + store.Text(doc, "_id")) {
					tx.insert(t, doc)
				}
			}
		}))
	}); err != nil {
		return nil, err
	}
	return o.inside(p, req)
}

// merge merges two sorted lists into pages: the records below, and the held ones.
type merge struct {
	ctx   context.Context
	o     *Overlay
	op    *operation
	q     store.Query
	local []json.RawMessage
	held  []string
}

// page returns the requested page.
func (m *merge) page() (page store.Page) {
	s := m.stream()
	s.mu.Lock()
	defer s.mu.Unlock()
	page.Results = []json.RawMessage{}
	end := m.q.Offset + m.q.Limit
	local := m.local
	at := 0
	for i := 0; at < end; at++ {
		for i < s.loaded(m, i) && slices.Contains(m.held, gjson.GetBytes(s.records[i], "_id").Str) {
			i++
		}
		var next json.RawMessage
		switch below := i < s.loaded(m, i); {
		case below && (len(local) == 0 || m.compare(s.records[i], local[0]) <= 0):
			next = s.records[i]
			i++
		case len(local) > 0:
			next, local = local[0], local[1:]
		}
		if next == nil {
			break
		}
		if at >= m.q.Offset {
			page.Results = append(page.Results, m.projected(next))
		}
	}
	page.Total = s.total - m.heldBelow() + len(m.local)
	return page
}

// stream holds what a search finds below, read as far as needed.
type stream struct {
	mu      sync.Mutex
	records []json.RawMessage
	total   int
	pages   int
	whole   bool
}

func (m *merge) stream() *stream {
	key := fmt.Sprint(m.op.Path, " ", string(must(json.Marshal([]any{m.q.Filter, m.q.Sort}))))
	s, _ := m.o.under.streams.LoadOrStore(key, &stream{})
	return s.(*stream)
}

// loaded returns the number of records read, at least i+1 if so many exist.
func (s *stream) loaded(m *merge, i int) int {
	for i >= len(s.records) && !s.whole {
		if mentionsPlanned(m.q.Filter) {
			s.whole = true
			break
		}
		size := min(max(m.q.Limit, 50), belowPage)
		if s.pages > 0 {
			size = len(s.records) / s.pages // the same for all pages
		}
		content := m.below(m.q.Filter, size, s.pages)
		n := 0
		gjson.GetBytes(content, "results").ForEach(func(_, record gjson.Result) bool {
			s.records = append(s.records, json.RawMessage(record.Raw))
			n++
			return true
		})
		s.total = max(int(gjson.GetBytes(content, "total").Int()), len(s.records))
		s.pages++
		s.whole = n < size
	}
	return len(s.records)
}

// below requests a page of whole records.
func (m *merge) below(filter store.Doc, size, page int) []byte {
	args := store.Doc{"limit": size, "page": m.op.FirstPage + page}
	if len(filter) > 0 {
		args["filter"] = filter
	}
	for _, key := range m.q.Sort {
		direction := 1
		if key.Descending {
			direction = -1
		}
		sorted, _ := args["sort"].(json.RawMessage)
		pair := fmt.Appendf(nil, "%s:%d", must(json.Marshal(key.Key)), direction)
		if sorted != nil {
			pair = slices.Concat(bytes.TrimSuffix(sorted, []byte("}")), []byte(","), pair)
		} else {
			pair = slices.Concat([]byte("{"), pair)
		}
		args["sort"] = json.RawMessage(append(pair, '}'))
	}
	return m.o.under.send(m.ctx, m.op, args)
}

// heldBelow counts the held records that the search would find below.
func (m *merge) heldBelow() (n int) {
	u := m.o.under
	if mentionsPlanned(m.q.Filter) {
		return 0
	}
	for ids := range slices.Chunk(m.held, belowPage) {
		list := make([]any, len(ids))
		for i, id := range ids {
			list[i] = id
		}
		filter := store.Doc{"_id": store.Doc{"$in": list}}
		if len(m.q.Filter) > 0 {
			filter = store.Doc{"$and": []any{m.q.Filter, filter}}
		}
		key := m.op.Path + string(must(json.Marshal(filter)))
		u.mu.Lock()
		total, ok := u.totals[key]
		u.mu.Unlock()
		if !ok {
			total = int(gjson.GetBytes(m.below(filter, 1, 0), "total").Int())
			u.mu.Lock()
			u.totals[key] = total
			u.mu.Unlock()
		}
		n += total
	}
	return n
}

// compare orders two records like the search.
func (m *merge) compare(a, b json.RawMessage) int {
	for _, key := range m.q.Sort {
		order := compareValues(gjson.GetBytes(a, key.Key), gjson.GetBytes(b, key.Key))
		if key.Descending {
			order = -order
		}
		if order != 0 {
			return order
		}
	}
	return cmp.Compare(gjson.GetBytes(a, "_id").Str, gjson.GetBytes(b, "_id").Str)
}

// compareValues orders values like the store: null, numbers, texts.
func compareValues(a, b gjson.Result) int {
	rank := func(v gjson.Result) int {
		switch v.Type {
		case gjson.Null:
			return 0
		case gjson.Number, gjson.True, gjson.False:
			return 1
		}
		return 2
	}
	if order := cmp.Compare(rank(a), rank(b)); order != 0 {
		return order
	}
	if rank(a) == 1 {
		return cmp.Compare(a.Float(), b.Float())
	}
	return cmp.Compare(a.String(), b.String())
}

// projected returns a record with the requested fields.
func (m *merge) projected(record json.RawMessage) json.RawMessage {
	if m.q.Fields.Include == nil && m.q.Fields.Exclude == nil {
		return record
	}
	return must(json.Marshal(m.q.Fields.Apply(must(store.Decode(record)))))
}
