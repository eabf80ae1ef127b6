package platform

import (
	"maps"
	"slices"
	"strings"

	"transect/client/declare"
	"transect/platform/api"
	"transect/platform/store"
)

// handler answers one operation. What it returns is the answer's JSON; nil is
// an empty object.
type handler func(*Request) (any, error)

// standard finds the handler that an operation's declaration asks for, or
// returns false. Creations and updates keep keys that no declaration names.
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
