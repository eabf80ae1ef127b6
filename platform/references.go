package platform

import (
	"slices"

	"transect/client/schema"
	"transect/platform/internal/store"
)

// ref declares that documents refer to others under a key, by one identifier or a list. Referenced documents
// must exist and fit the document's company.
type ref struct {
	key  string // dotted
	to   *resource
	then reaction
}

// reaction is the effect on a document when a document it refers to is deleted.
type reaction int

const (
	leave   reaction = iota // nothing: the reference stays
	refuse                  // the deletion is refused
	unlink                  // the reference is removed
	cascade                 // the document is deleted too, and restored with the other
)

// deletedWith is the key that holds, in a document deleted by a cascade, the identifier of the document whose
// deletion caused it.
const deletedWith = "deleted_with"

// referred is a document that a request refers to.
type referred struct {
	ref
	doc store.Doc
}

// resolve returns the documents that given refers to.
func (r *Request) resolve(refs []ref, given store.Doc) []referred {
	var all []referred
	for _, ref := range refs {
		for _, doc := range r.needAll(ref.to, idsOf(ref.key, store.Lookup(given, ref.key)), ref.key) {
			all = append(all, referred{ref, doc})
		}
	}
	return all
}

// idsOf reads one identifier or a list of them.
func idsOf(key string, v any) []string {
	list, isList := v.([]any)
	if v != nil && !isList {
		list = []any{v}
	}
	ids := make([]string, len(list))
	for i, v := range list {
		checkAs("id", key, v)
		ids[i] = v.(string)
	}
	return ids
}

// distinct returns fields that are lists of distinct identifiers.
func distinct(keys ...string) (list fields) {
	for _, key := range keys {
		list = append(list, schema.Param{Name: key, Type: "[]id", Distinct: true})
	}
	return list
}

// checkCompanies refuses references to documents of other companies.
func checkCompanies(doc store.Doc, all []referred) {
	own := companiesOf(doc)
	for _, ref := range all {
		theirs := companiesOf(ref.doc)
		shared := slices.ContainsFunc(theirs, func(id any) bool { return slices.Contains(own, id) })
		if len(own) > 0 && len(theirs) > 0 && !shared {
			panic(wrong(ref.key, "%s %s is of another company", ref.to.name, ref.doc["_id"]))
		}
	}
}

// companiesOf lists the companies that a document belongs to.
func companiesOf(doc store.Doc) []any {
	list := listOf(doc, "companies")
	if company := doc["company"]; company != nil {
		list = append(slices.Clone(list), company)
	}
	return list
}

// get returns a document that exists and is not deleted.
func (r *Request) get(t *resource, id string) store.Doc {
	return r.getAll(t, []string{id})[0]
}

// getAll returns documents in the order of their identifiers in the list, or
// names those that do not exist.
func (r *Request) getAll(t *resource, ids []string) []store.Doc {
	docs := make([]store.Doc, len(ids))
	var missing []string
	for i, id := range ids {
		if docs[i] = r.find(t, id); docs[i] == nil || docs[i]["deletion_date"] != nil {
			missing = append(missing, id)
		}
	}
	if missing != nil {
		panic(notFound(t.name, missing...))
	}
	return docs
}

// need returns a document that an argument refers to.
func (r *Request) need(t *resource, id, key string) store.Doc {
	return r.needAll(t, []string{id}, key)[0]
}

func (r *Request) needAll(t *resource, ids []string, key string) (docs []store.Doc) {
	err := recovered(func() { docs = r.getAll(t, ids) })
	if f, ok := err.(*failure); ok {
		f.Message = key + ": " + f.Message
	}
	check(err)
	return docs
}

// create sets the fields common to all documents and stores the document.
func (r *Request) create(t *resource, doc store.Doc) {
	doc["_id"] = r.p.newID(t)
	doc["creation_date"] = date(r.now())
	doc["creation_user"] = r.caller.user
	r.insert(t, doc)
}

// save stores a changed document.
func (r *Request) save(t *resource, doc store.Doc) {
	doc["modification_date"] = date(r.now())
	doc["modification_user"] = r.caller.user
	r.replace(t, doc)
}

// softDelete marks a document as deleted; it can be restored.
func (r *Request) softDelete(t *resource, doc store.Doc) {
	doc["deletion_date"] = date(r.now())
	doc["deletion_user"] = r.caller.user
	r.replace(t, doc)
}

// delete soft-deletes a document and applies the reaction of every reference
// to it: refuse, unlink or cascade.
func (r *Request) delete(t *resource, doc store.Doc) {
	if t.deletable != nil {
		t.deletable(r, doc)
	}
	id := doc["_id"]
	for _, by := range resources {
		for _, ref := range by.refs {
			if ref.to != t || ref.then == leave {
				continue
			}
			for _, user := range r.all(by, store.Doc{ref.key: id}) {
				switch ref.then {
				case refuse:
					panic(conflict("%s %s is in use by %s %s", t.name, id, by.name, user["_id"]))
				case unlink:
					if list, ok := user[ref.key].([]any); ok {
						user[ref.key] = slices.DeleteFunc(list, func(v any) bool { return v == id })
					} else {
						delete(user, ref.key)
					}
					r.save(by, user)
				case cascade:
					user[deletedWith] = id
					r.softDelete(by, user)
				}
			}
		}
	}
	r.softDelete(t, doc)
}

// restore makes a soft-deleted document, and the documents deleted with it, visible again. It leaves a
// document that is not deleted unchanged, so that the request can be repeated.
func (r *Request) restore(t *resource, id string) {
	doc := r.find(t, id)
	if doc == nil {
		panic(notFound(t.name, id))
	}
	for _, ref := range t.refs {
		parent := store.Text(doc, ref.key)
		if ref.then != cascade || parent == "" {
			continue
		}
		if parent := r.find(ref.to, parent); parent == nil || parent["deletion_date"] != nil {
			panic(conflict("%s cannot be restored: its %s %s is deleted", id, ref.to.name, store.Text(doc, ref.key)))
		}
	}
	if doc["deletion_date"] == nil {
		return
	}
	r.revive(t, doc)
	for _, by := range resources {
		for _, ref := range by.refs {
			if ref.to != t || ref.then != cascade {
				continue
			}
			for _, child := range r.all(by, store.Doc{ref.key: id, deletedWith: id, "deletion_date": store.Doc{"$ne": nil}}) {
				r.revive(by, child)
			}
		}
	}
}

func (r *Request) revive(t *resource, doc store.Doc) {
	delete(doc, "deletion_date")
	delete(doc, "deletion_user")
	delete(doc, deletedWith)
	r.save(t, doc)
}
