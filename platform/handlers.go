package platform

import (
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"transect/client/declare"
	"transect/platform/api"
	"transect/platform/store"
)

// handler answers one operation. What it returns is the answer's JSON; nil is
// an empty object.
type handler func(*Request) (any, error)

// standard finds the handler that an operation's declaration asks for, or
// returns false. Creations and updates store keys that no declaration names.
func (t *resource) standard(op *api.Operation) (endpoint, bool) {
	many := op.List() != ""
	each := func(do func(*Request, *resource, string) error) handler {
		return func(r *Request) (any, error) {
			ids := []string{r.text(t.name)}
			if many {
				ids = r.texts(op.List())
			}
			for _, id := range ids {
				if err := do(r, t, id); err != nil {
					return nil, err
				}
			}
			return nil, nil
		}
	}
	switch {
	case op.Shape == declare.ShapePage:
		return do(t.search), true
	case op.Effect == declare.Read && many:
		return do(t.describeMany), true
	case op.Effect == declare.Read && op.Param(t.name) != nil:
		return do(t.describe), true
	case op.Effect == declare.Create && op.Param(t.plural) != nil && op.Param(t.plural).Type == "[]object":
		return do(t.createMany), true
	case op.Creates(t.name):
		return do(t.createOne, "*"), true
	case op.Effect == declare.Delete:
		return do(each(deleteOne)), true
	case op.Name == "restore":
		return do(each((*Request).restore)), true
	case op.Name == "update":
		return do(t.change, "*"), true
	case op.Effect == declare.Set && op.Param(t.name) != nil:
		return do(t.change), true
	}
	return endpoint{}, false
}

// createOne makes a document of the body.
func (t *resource) createOne(r *Request) (any, error) {
	doc, err := t.build(r, r.body)
	if err != nil {
		return nil, err
	}
	return doc, r.create(t, doc)
}

// createMany makes all or none of the documents in a list.
func (t *resource) createMany(r *Request) (any, error) {
	list, _ := r.body[t.plural].([]any)
	docs := make([]store.Doc, len(list))
	for i, v := range list {
		doc, err := t.build(r, v.(map[string]any))
		if err == nil {
			err = r.create(t, doc)
		}
		if err != nil {
			return nil, inElement(err, t.plural, i)
		}
		docs[i] = doc
	}
	return docs, nil
}

// describe answers with one document.
func (t *resource) describe(r *Request) (any, error) {
	fields, err := r.fields()
	if err != nil {
		return nil, err
	}
	doc, err := r.get(t, r.text(t.name))
	return fields.Apply(doc), err
}

// describeMany answers with a list of documents.
func (t *resource) describeMany(r *Request) (any, error) {
	key := r.op.List()
	var fields store.Projection
	var err error
	if key != "fields" { // the fields of trials are resources
		if fields, err = r.fields(); err != nil {
			return nil, err
		}
	}
	docs, err := r.getAll(t, r.texts(key))
	for i := range docs {
		docs[i] = fields.Apply(docs[i])
	}
	return docs, err
}

// change sets the declared keys of one document that the body gives, and
// answers with the document.
func (t *resource) change(r *Request) (any, error) {
	return t.modify(r, func(doc store.Doc) error { return t.fill(r, r.body, doc) })
}

// changing is the handler of an operation that changes one document in a way
// of its own.
func (t *resource) changing(do func(r *Request, doc store.Doc) error) handler {
	return func(r *Request) (any, error) {
		return t.modify(r, func(doc store.Doc) error { return do(r, doc) })
	}
}

func (t *resource) modify(r *Request, do func(doc store.Doc) error) (any, error) {
	doc, err := r.get(t, r.text(t.name))
	if err != nil {
		return nil, err
	}
	if err := do(doc); err != nil {
		return nil, err
	}
	return doc, r.save(t, doc)
}

func deleteOne(r *Request, t *resource, id string) error {
	doc, err := r.get(t, id)
	if err != nil {
		return err
	}
	return r.delete(t, doc)
}

// endpoint is how an operation is answered.
type endpoint struct {
	handle handler
	// stream takes the place of handle where bodies are not JSON: it reads and
	// writes them itself, and opens transactions only for as long as needed.
	stream streamer
	keys   []string // keys beyond the declared ones that a request may have; "*" for any
}

// do answers with a handler's result.
func do(h handler, keys ...string) endpoint { return endpoint{handle: h, keys: keys} }

// service is how the operations of a declared manager are answered: by the
// endpoint under their name or the last part of their path, and by the
// resource's standard handlers otherwise.
type service struct {
	resource  *resource
	endpoints map[string]endpoint
}

// endpoint finds how to answer an operation, or returns false.
func (s service) endpoint(op *api.Operation) (endpoint, bool) {
	for _, name := range []string{op.Path[strings.LastIndexByte(op.Path, '/')+1:], op.Name} {
		if e, ok := s.endpoints[name]; ok {
			return e, true
		}
	}
	if s.resource == nil {
		return endpoint{}, false
	}
	if op.Effect == declare.Create || op.Effect == declare.Set {
		op.Override(slices.Collect(maps.Keys(s.resource.rules)))
	}
	return s.resource.standard(op)
}

var (
	services  = map[string]service{} // by the name of the declared manager
	resources []*resource
)

// serve registers how a manager's operations are answered.
func serve(manager string, t *resource, endpoints map[string]endpoint) {
	services[manager] = service{t, endpoints}
	if t != nil {
		resources = append(resources, t)
	}
}

// maxLimit is how many documents one page may have.
const maxLimit = 10_000

// search answers with a page of documents.
func (t *resource) search(r *Request) (any, error) {
	q, err := t.query(r)
	if err != nil {
		return nil, err
	}
	return r.tx.Search(t.plural, q)
}

// query reads the arguments of a search.
func (t *resource) query(r *Request) (q store.Query, err error) {
	if q.Limit, q.Offset, err = t.paging(r, r.op.FirstPage); err != nil {
		return q, err
	}
	if q.Fields, err = r.fields(); err != nil {
		return q, err
	}
	if q.Sort, err = r.sort(); err != nil {
		return q, err
	}
	q.Filter = r.object("filter")
	if t.rewrite != nil && q.Filter != nil {
		q.Filter, err = t.rewrite(q.Filter)
	}
	return q, err
}

// paging reads limit and page.
func (t *resource) paging(r *Request, first int64) (limit, offset int, err error) {
	size := t.limit
	if declared := r.op.Limit(); declared > 0 {
		size = declared
	} else if size == 0 {
		size = 50
	}
	if size, err = r.integer("limit", size, 1, maxLimit); err != nil {
		return 0, 0, err
	}
	page, err := r.integer("page", first, first, 1<<31)
	return int(size), int((page - first) * size), err
}

// sort reads the keys to order by from the text of the body, where their order
// is still known.
func (r *Request) sort() (keys []store.SortKey, err error) {
	given := gjson.GetBytes(r.raw, "sort")
	if given.Type == gjson.Null {
		return nil, nil
	}
	if !given.IsObject() {
		return nil, wrong("sort", "must be an object such as {\"name\": 1}")
	}
	given.ForEach(func(key, direction gjson.Result) bool {
		if direction.Type != gjson.Number || direction.Num != 1 && direction.Num != -1 {
			err = wrong("sort."+key.Str, "must be 1 (ascending) or -1 (descending)")
			return false
		}
		keys = append(keys, store.SortKey{Key: key.Str, Descending: direction.Num < 0})
		return true
	})
	return keys, err
}

// fields reads which keys of documents are wanted.
func (r *Request) fields() (p store.Projection, err error) {
	given := r.object("fields")
	for key, value := range given {
		if key != "include" && key != "exclude" {
			return p, wrong("fields."+key, "is not known; fields takes include or exclude")
		}
		if err := list(word)("fields."+key, value); err != nil {
			return p, err
		}
	}
	if given["include"] != nil {
		p.Include = append([]string{}, textsOf(given["include"])...)
	}
	if given["exclude"] != nil {
		p.Exclude = append([]string{}, textsOf(given["exclude"])...)
	}
	if p.Include != nil && p.Exclude != nil {
		return p, wrong("fields.exclude", "cannot be given together with include")
	}
	return p, nil
}
