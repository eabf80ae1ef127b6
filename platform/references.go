package platform

import (
	"errors"
	"net/http"
	"slices"

	"transect/platform/store"
)

// ref says that documents refer to others under a key, by one identifier or a
// list of them. What is referred to must exist and fit the document's company.
type ref struct {
	key  string // dotted
	to   *resource
	then reaction
}

// reaction is what becomes of a document when what it refers to is deleted.
type reaction int

const (
	leave   reaction = iota // nothing: the reference stays
	refuse                  // the deletion is refused
	unlink                  // the reference is removed
	cascade                 // the document is deleted too, and restored with the other
)

// deletedWith is the key that holds, in a document deleted by a cascade, the
// identifier of the document whose deletion caused it.
const deletedWith = "deleted_with"

// referred is a document that a request refers to.
type referred struct {
	ref
	doc store.Doc
}

// resolve finds the documents that what is given refers to.
func (t *resource) resolve(r *Request, given store.Doc) ([]referred, error) {
	var all []referred
	for _, ref := range t.refs {
		if slices.Contains(t.ignored, ref.key) {
			continue
		}
		ids, err := idsOf(ref.key, store.Lookup(given, ref.key))
		if err != nil {
			return nil, err
		}
		docs, err := r.needAll(ref.to, ids, ref.key)
		if err != nil {
			return nil, err
		}
		for _, doc := range docs {
			all = append(all, referred{ref, doc})
		}
	}
	return all, nil
}

// idsOf reads one identifier or a list of them.
func idsOf(key string, v any) ([]string, error) {
	list, isList := v.([]any)
	if v != nil && !isList {
		list = []any{v}
	}
	ids := make([]string, len(list))
	for i, v := range list {
		id, ok := v.(string)
		if !ok || !store.IsID(id) {
			return nil, wrong(key, "must be an identifier of 24 hexadecimal digits")
		}
		ids[i] = id
	}
	return ids, nil
}

// distinct accepts a list of identifiers, none of them twice.
func distinct(key string, v any) error {
	if _, isList := v.([]any); !isList {
		return wrong(key, "must be a list of identifiers")
	}
	ids, err := idsOf(key, v)
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			return wrong(key, "%s is listed twice", id)
		}
	}
	return err
}

// checkCompanies refuses references to documents of other companies.
func checkCompanies(doc store.Doc, all []referred) error {
	own := companiesOf(doc)
	for _, ref := range all {
		theirs := companiesOf(ref.doc)
		shared := slices.ContainsFunc(theirs, func(id any) bool { return slices.Contains(own, id) })
		if len(own) > 0 && len(theirs) > 0 && !shared {
			return wrong(ref.key, "%s %s is of another company", ref.to.name, ref.doc["_id"])
		}
	}
	return nil
}

// companiesOf lists the companies that a document says it belongs to.
func companiesOf(doc store.Doc) []any {
	list, _ := doc["companies"].([]any)
	if company := doc["company"]; company != nil {
		list = append(slices.Clone(list), company)
	}
	return list
}

// get returns a document that exists and is not deleted.
func (r *Request) get(t *resource, id string) (store.Doc, error) {
	doc, err := r.tx.Get(t.plural, id)
	if errors.Is(err, store.ErrNotFound) || err == nil && doc["deletion_date"] != nil {
		return nil, notFound(t.name, id)
	}
	return doc, err
}

// getAll returns documents in the order of their identifiers in the list, or
// names those that do not exist.
func (r *Request) getAll(t *resource, ids []string) ([]store.Doc, error) {
	docs := make([]store.Doc, 0, len(ids))
	var missing []string
	for _, id := range ids {
		doc, err := r.get(t, id)
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
		return nil, notFound(t.name, missing...)
	}
	return docs, nil
}

// need returns a document that an argument refers to.
func (r *Request) need(t *resource, id, key string) (store.Doc, error) {
	docs, err := r.needAll(t, []string{id}, key)
	if err != nil {
		return nil, err
	}
	return docs[0], nil
}

func (r *Request) needAll(t *resource, ids []string, key string) ([]store.Doc, error) {
	docs, err := r.getAll(t, ids)
	var f *failure
	if errors.As(err, &f) && f.status == http.StatusNotFound {
		f.Message = key + ": " + f.Message
	}
	return docs, err
}

// first finds the first document that passes a filter, or nil.
func (r *Request) first(t *resource, filter store.Doc) (store.Doc, error) {
	page, err := r.tx.Search(t.plural, store.Query{Filter: filter, Limit: 1, NoTotal: true})
	if err != nil || len(page.Results) == 0 {
		return nil, err
	}
	return store.Decode(page.Results[0])
}

// create adds what every document has, and stores it.
func (r *Request) create(t *resource, doc store.Doc) error {
	doc["_id"] = r.p.ids.Next(r.now())
	doc["creation_date"] = date(r.now())
	doc["creation_user"] = r.caller.user
	return r.tx.Insert(t.plural, doc)
}

// save stores a changed document.
func (r *Request) save(t *resource, doc store.Doc) error {
	doc["modification_date"] = date(r.now())
	doc["modification_user"] = r.caller.user
	return r.tx.Replace(t.plural, doc)
}

// softDelete marks a document as deleted; it can be restored.
func (r *Request) softDelete(t *resource, doc store.Doc) error {
	doc["deletion_date"] = date(r.now())
	doc["deletion_user"] = r.caller.user
	return r.tx.Replace(t.plural, doc)
}

// delete soft-deletes a document and applies the reaction of every reference
// to it: refuse, unlink or cascade.
func (r *Request) delete(t *resource, doc store.Doc) error {
	if t.deletable != nil {
		if err := t.deletable(r, doc); err != nil {
			return err
		}
	}
	id := doc["_id"]
	for _, by := range resources {
		for _, ref := range by.refs {
			if ref.to != t || ref.then == leave {
				continue
			}
			docs, err := r.tx.All(by.plural, store.Doc{ref.key: id})
			if err != nil {
				return err
			}
			for _, user := range docs {
				switch ref.then {
				case refuse:
					return conflict("%s %s is in use by %s %s", t.name, id, by.name, user["_id"])
				case unlink:
					if list, ok := user[ref.key].([]any); ok {
						user[ref.key] = slices.DeleteFunc(list, func(v any) bool { return v == id })
					} else {
						delete(user, ref.key)
					}
					err = r.save(by, user)
				case cascade:
					user[deletedWith] = id
					err = r.softDelete(by, user)
				}
				if err != nil {
					return err
				}
			}
		}
	}
	return r.softDelete(t, doc)
}

// restore makes a soft-deleted document, and those deleted with it, visible
// again. It changes nothing in a document that is not deleted, so that the
// request can be repeated.
func (r *Request) restore(t *resource, id string) error {
	doc, err := r.tx.Get(t.plural, id)
	if errors.Is(err, store.ErrNotFound) {
		return notFound(t.name, id)
	}
	if err != nil {
		return err
	}
	for _, ref := range t.refs {
		parent := store.Text(doc, ref.key)
		if ref.then != cascade || parent == "" {
			continue
		}
		_, err := r.get(ref.to, parent)
		var f *failure
		if errors.As(err, &f) {
			return conflict("%s cannot be restored: its %s %s is deleted", id, ref.to.name, parent)
		}
		if err != nil {
			return err
		}
	}
	if doc["deletion_date"] == nil {
		return nil
	}
	if err := r.revive(t, doc); err != nil {
		return err
	}
	for _, by := range resources {
		for _, ref := range by.refs {
			if ref.to != t || ref.then != cascade {
				continue
			}
			docs, err := r.tx.All(by.plural, store.Doc{
				ref.key: id, deletedWith: id, "deletion_date": store.Doc{"$ne": nil},
			})
			if err != nil {
				return err
			}
			for _, child := range docs {
				if err := r.revive(by, child); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (r *Request) revive(t *resource, doc store.Doc) error {
	delete(doc, "deletion_date")
	delete(doc, "deletion_user")
	delete(doc, deletedWith)
	return r.save(t, doc)
}
