package platform

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"transect/client/declare"
	"transect/client/schema"
	"transect/platform/internal/store"
)

// handler handles one operation and returns the response's JSON value; nil is an empty object. It fails by a
// panic (see check).
type handler func(*Request) any

// standard returns the endpoint for an operation's declaration, or false. Creations and updates store keys
// that no declaration names.
func (t *resource) standard(op *operation) (endpoint, bool) {
	many := op.List() != ""
	each := func(do func(*Request, *resource, string)) handler {
		return func(r *Request) any {
			for _, id := range r.idsOf(t) {
				do(r, t, id)
			}
			return nil
		}
	}
	switch {
	case op.Shape == declare.ShapePage:
		return do(t.search), true
	case op.Effect == declare.Read && many:
		return do(t.describeMany), true
	case op.Effect == declare.Read && op.arg(t.name) != nil:
		return do(t.describe), true
	case op.Effect == declare.Create && op.arg(t.plural) != nil && op.arg(t.plural).Type == "[]object":
		return do(t.createMany), true
	case op.Creates(t.name):
		return do(t.createOne, "*"), true
	case op.Effect == declare.Delete:
		return do(each(func(r *Request, t *resource, id string) { r.delete(t, r.get(t, id)) })), true
	case op.Name == "restore":
		return do(each((*Request).restore)), true
	case op.Name == "update":
		return do(t.change, "*"), true
	case op.Effect == declare.Set && op.arg(t.name) != nil:
		return do(t.changing(func(r *Request, doc store.Doc) { t.fill(r, op.Declared(r.body), doc) })), true
	}
	return endpoint{}, false
}

// idsOf returns the ids of the documents that a request is about.
func (r *Request) idsOf(t *resource) []string {
	if key := r.op.List(); key != "" {
		return r.texts(key)
	}
	return []string{r.text(t.name)}
}

// createOne creates a document from the body.
func (t *resource) createOne(r *Request) any {
	return t.created(r, r.body)
}

func (t *resource) created(r *Request, given store.Doc) store.Doc {
	if t.make != nil {
		return t.make(r, given)
	}
	doc := t.build(r, given)
	r.create(t, doc)
	return doc
}

// createMany creates all or none of the documents in a list.
func (t *resource) createMany(r *Request) any {
	list := listOf(r.body, t.plural)
	docs := make([]store.Doc, len(list))
	for i, v := range list {
		inElement(t.plural, i, func() { docs[i] = t.created(r, v.(map[string]any)) })
	}
	return docs
}

// describe returns one document.
func (t *resource) describe(r *Request) any {
	fields := r.fields()
	return t.shown(r, fields, r.get(t, r.text(t.name)))
}

func (t *resource) shown(r *Request, fields store.Projection, doc store.Doc) store.Doc {
	if t.show != nil {
		doc = t.show(r, doc)
	}
	return fields.Apply(doc)
}

// describeMany returns a list of documents.
func (t *resource) describeMany(r *Request) any {
	key := r.op.List()
	var fields store.Projection
	if key != "fields" { // the fields of trials are resources
		fields = r.fields()
	}
	docs := r.getAll(t, r.texts(key))
	for i := range docs {
		docs[i] = t.shown(r, fields, docs[i])
	}
	return docs
}

// change sets the declared keys in the body on one document and returns the document.
func (t *resource) change(r *Request) any {
	return t.changing(func(r *Request, doc store.Doc) { t.fill(r, r.body, doc) })(r)
}

// changing returns the handler of an operation that changes one document with do.
func (t *resource) changing(do func(r *Request, doc store.Doc)) handler {
	return func(r *Request) any {
		doc := r.get(t, r.text(t.name))
		do(r, doc)
		r.save(t, doc)
		return doc
	}
}

// endpoint defines how an operation is handled.
type endpoint struct {
	handle handler
	// stream replaces handle where bodies are not JSON: it reads and writes them itself, and opens
	// transactions only for as long as needed.
	stream streamer
	keys   []string // keys beyond the declared ones that a request may have; "*" for any
}

// do returns an endpoint that sends a handler's result.
func do(h handler, keys ...string) endpoint { return endpoint{handle: h, keys: keys} }

// service defines how the operations of a declared manager are handled: by the endpoint under their name or
// the last part of their path, otherwise by the resource's standard handlers.
type service struct {
	resource  *resource
	endpoints map[string]endpoint
}

// endpoint returns an operation's endpoint, or false.
func (s service) endpoint(op *operation) (endpoint, bool) {
	for _, name := range []string{op.Path[strings.LastIndexByte(op.Path, '/')+1:], op.Name} {
		if e, ok := s.endpoints[name]; ok {
			return e, true
		}
	}
	if s.resource == nil {
		return endpoint{}, false
	}
	if op.Effect == declare.Create || op.Effect == declare.Set {
		op.Override(schema.Names(s.resource.rules))
	}
	return s.resource.standard(op)
}

var (
	services  = map[string]service{} // by the name of the declared manager
	resources []*resource
)

// serve registers the endpoints of a manager's operations.
func serve(manager string, t *resource, endpoints map[string]endpoint) {
	services[manager] = service{t, endpoints}
	if t != nil {
		t.manager = manager
		resources = append(resources, t)
	}
}

// maxLimit is the largest page size, in documents.
const maxLimit = 10_000

// search returns a page of documents.
func (t *resource) search(r *Request) any { return must(r.Search(t.plural, t.query(r))) }

// query reads the arguments of a search.
func (t *resource) query(r *Request) (q store.Query) {
	q.Limit, q.Offset = t.paging(r, int64(r.op.FirstPage))
	q.Fields, q.Sort, q.Filter = r.fields(), r.sort(), r.object("filter")
	if t.rewrite != nil && q.Filter != nil {
		q.Filter = t.rewrite(r, q.Filter)
	}
	t.setDates(q.Filter)
	return q
}

// paging reads limit and page.
func (t *resource) paging(r *Request, first int64) (limit, offset int) {
	size := r.integer("limit", cmp.Or(r.op.Limit(), t.limit, 50), 1, maxLimit)
	page := r.integer("page", first, first, 1<<31)
	return int(size), int((page - first) * size)
}

// sort reads the sort keys from the text of the body, which preserves their order.
func (r *Request) sort() (keys []store.SortKey) {
	given := gjson.GetBytes(r.raw, "sort")
	if given.Type != gjson.Null && !given.IsObject() {
		panic(wrong("sort", "must be an object such as {\"name\": 1}"))
	}
	given.ForEach(func(key, direction gjson.Result) bool {
		if direction.Type != gjson.Number || direction.Num != 1 && direction.Num != -1 {
			panic(wrong("sort."+key.Str, "must be 1 (ascending) or -1 (descending)"))
		}
		keys = append(keys, store.SortKey{Key: key.Str, Descending: direction.Num < 0})
		return true
	})
	return keys
}

// fields reads the projection of a request.
func (r *Request) fields() (p store.Projection) {
	given := r.object("fields")
	for key, value := range given {
		if key != "include" && key != "exclude" {
			panic(wrong("fields."+key, "is not known; fields takes include or exclude"))
		}
		checkAs("[]word", "fields."+key, value)
	}
	if given["include"] != nil {
		p.Include = append([]string{}, textsOf(given["include"])...)
	}
	if given["exclude"] != nil {
		p.Exclude = append([]string{}, textsOf(given["exclude"])...)
	}
	if p.Include != nil && p.Exclude != nil {
		panic(wrong("fields.exclude", "cannot be given together with include"))
	}
	return p
}
