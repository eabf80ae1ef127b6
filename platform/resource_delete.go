package platform

import (
	"slices"

	"transect/platform/store"
)

// use says that documents of a kind refer to a resource under a key, and what
// becomes of them when it is deleted.
type use struct {
	by   kind
	key  string
	then reaction
}

type reaction int

const (
	refuse  reaction = iota // it cannot be deleted
	letGo                   // the reference is taken out of them
	cascade                 // they are deleted too
)

// delete marks a document as deleted, if its uses allow it.
func (t resource) delete(r *Request, id string) error {
	doc, err := r.get(t.kind, id)
	if err != nil {
		return err
	}
	for _, u := range t.uses {
		if err := r.release(t.kind, id, u); err != nil {
			return err
		}
	}
	return r.softDelete(t.kind, doc)
}

// release does what one kind of reference wants before a document is deleted.
func (r *Request) release(k kind, id string, u use) error {
	docs, err := r.tx.All(u.by.plural, store.Doc{u.key: id})
	if err != nil {
		return err
	}
	for _, doc := range docs {
		switch u.then {
		case refuse:
			return conflict("%s %s is in use by %s %s", k.name, id, u.by.name, doc["_id"])
		case letGo:
			if list, ok := doc[u.key].([]any); ok {
				doc[u.key] = slices.DeleteFunc(list, func(v any) bool { return v == any(id) })
			} else {
				delete(doc, u.key)
			}
			err = r.save(u.by, doc)
		case cascade:
			err = r.softDelete(u.by, doc)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
