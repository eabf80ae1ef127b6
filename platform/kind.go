package platform

import (
	"errors"
	"net/http"

	"transect/platform/store"
)

// kind is one kind of resource, with the handlers that all kinds share.
type kind struct {
	name      string // key of one identifier in a body
	plural    string // key of a list of identifiers, and the collection's name
	firstPage int
	limit     int // of a search that gives none
	// rewrite changes a filter before it is run, for keys of this kind alone.
	rewrite func(store.Doc) (store.Doc, error)
	// unsorted kinds refuse a sort.
	unsorted bool
}

// Longest lists of identifiers in one request.
const (
	maxDescribed = 1000
	maxDeleted   = 100
	maxRestored  = 100_000
)

// create adds what every document has, and keeps it.
func (r *Request) create(k kind, doc store.Doc) error {
	now := date(r.now())
	doc["_id"] = r.p.ids.Next(r.now())
	doc["creation_date"] = now
	doc["creation_user"] = r.caller.user
	return r.tx.Insert(k.plural, doc)
}

// save keeps a changed document.
func (r *Request) save(k kind, doc store.Doc) error {
	doc["modification_date"] = date(r.now())
	doc["modification_user"] = r.caller.user
	return r.tx.Replace(k.plural, doc)
}

// get returns a document that is there and not deleted.
func (r *Request) get(k kind, id string) (store.Doc, error) {
	doc, err := r.tx.Get(k.plural, id)
	if errors.Is(err, store.ErrNotFound) || err == nil && doc["deletion_date"] != nil {
		return nil, notFound(k.name, id)
	}
	return doc, err
}

// getAll returns documents in the order of their identifiers in the list, or
// names those that are not there.
func (r *Request) getAll(k kind, ids []string) ([]store.Doc, error) {
	docs := make([]store.Doc, 0, len(ids))
	var missing []string
	for _, id := range ids {
		doc, err := r.get(k, id)
		var f *failure
		switch {
		case errors.As(err, &f):
			missing = append(missing, id)
		case err != nil:
			return nil, err
		default:
			docs = append(docs, doc)
		}
	}
	if missing != nil {
		return nil, notFound(k.name, missing...)
	}
	return docs, nil
}

// describe answers with one document.
func (k kind) describe(r *Request) (any, error) {
	a := r.args()
	id, fields := a.id(k.name), a.fields()
	if a.err != nil {
		return nil, a.err
	}
	doc, err := r.get(k, id)
	return fields.Apply(doc), err
}

// describeMany answers with a list of documents.
func (k kind) describeMany(r *Request) (any, error) {
	a := r.args()
	ids, fields := a.ids(k.plural, maxDescribed), a.fields()
	if a.err != nil {
		return nil, a.err
	}
	docs, err := r.getAll(k, ids)
	for i := range docs {
		docs[i] = fields.Apply(docs[i])
	}
	return docs, err
}

// deleteMany marks documents as deleted; they can be restored.
func (k kind) deleteMany(r *Request) (any, error) {
	a := r.args()
	ids := a.ids(k.plural, maxDeleted)
	if a.err != nil {
		return nil, a.err
	}
	docs, err := r.getAll(k, ids)
	if err != nil {
		return nil, err
	}
	for _, doc := range docs {
		if err := r.softDelete(k, doc); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func (r *Request) softDelete(k kind, doc store.Doc) error {
	doc["deletion_date"] = date(r.now())
	doc["deletion_user"] = r.caller.user
	return r.tx.Replace(k.plural, doc)
}

// restoreMany takes the mark away. A document that has none stays as it is, so
// that repeating the request does no harm.
func (k kind) restoreMany(r *Request) (any, error) {
	a := r.args()
	ids := a.ids(k.plural, maxRestored)
	if a.err != nil {
		return nil, a.err
	}
	for _, id := range ids {
		doc, err := r.getDeleted(k, id)
		if err != nil {
			return nil, err
		}
		if err := r.revive(k, doc); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// setter is a handler that changes one document with its arguments and answers
// with the document.
func (k kind) setter(change func(r *Request, a *args, doc store.Doc) error) handler {
	return func(r *Request) (any, error) {
		a := r.args()
		id := a.id(k.name)
		if a.err != nil {
			return nil, a.err
		}
		doc, err := r.get(k, id)
		if err != nil {
			return nil, err
		}
		if err := change(r, a, doc); err != nil {
			return nil, err
		}
		if a.err != nil {
			return nil, a.err
		}
		return doc, r.save(k, doc)
	}
}

// setText, setGeometry and setDate are setters of one key.
func (k kind) setText(key string) handler {
	return k.setter(func(_ *Request, a *args, doc store.Doc) error {
		doc[key] = a.text(key)
		return nil
	})
}

func (k kind) setGeometry(key string) handler {
	return k.setter(func(_ *Request, a *args, doc store.Doc) error {
		doc[key] = a.geometry(key)
		return nil
	})
}

func (k kind) setDate(key string) handler {
	return k.setter(func(_ *Request, a *args, doc store.Doc) error {
		doc[key] = a.date(key)
		return nil
	})
}

// reserved are the keys that the platform writes itself.
var reserved = []string{
	"_id", "id", "created", "creation_date", "creation_user", "modification_date", "modification_user",
	"deletion_date", "deletion_user",
}

// extras returns a copy of the body without the keys named: what a client gave
// beyond the arguments of the operation is kept in the document.
func (r *Request) extras(without ...string) (store.Doc, error) {
	return extras(r.body, without...)
}

func extras(body store.Doc, without ...string) (store.Doc, error) {
	doc := store.Doc{}
	for key, value := range body {
		doc[key] = value
	}
	for _, key := range without {
		delete(doc, key)
	}
	for _, key := range reserved {
		if _, ok := doc[key]; ok {
			return nil, invalid("%s: is set by the platform", key)
		}
	}
	return doc, nil
}

// need returns a document that an argument refers to.
func (r *Request) need(k kind, id, key string) (store.Doc, error) {
	doc, err := r.get(k, id)
	var f *failure
	if errors.As(err, &f) && f.status == http.StatusNotFound {
		f.Message = key + ": " + f.Message
	}
	return doc, err
}
