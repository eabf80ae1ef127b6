package platform

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"transect/client/schema"
	"transect/platform/internal/store"
)

// resource is one kind of document. The declared operations of its manager are served by the standard
// handlers (handlers.go) and this table; other operations have their own handler.
type resource struct {
	name    string // key of one identifier in a body
	plural  string // key of a list of identifiers, and the collection's name
	manager string // whose operations it serves
	limit   int64  // page size of searches that neither give nor declare one; 50 when 0

	// rules check values beyond their declared type, by key.
	rules    fields
	refs     []ref
	defaults store.Doc
	derived  []string // keys that follow from others and cannot be given
	ignored  []string // keys that may be given and are not stored
	fixed    []string // keys that cannot change after creation
	unique   []string // no two documents share the values of all these keys
	// complete checks a document as a whole and sets the derived keys. given is the request.
	complete func(r *Request, given, doc store.Doc)
	// make creates and stores a document; build and create are used when it is nil.
	make func(r *Request, given store.Doc) store.Doc
	// show adds fields to a response that are not stored in the document.
	show func(r *Request, doc store.Doc) store.Doc
	// deletable refuses a deletion for reasons that refs cannot express.
	deletable func(r *Request, doc store.Doc)
	// rewrite changes a search's filter, for keys of this resource alone.
	rewrite func(r *Request, filter store.Doc) store.Doc

	creations [oldest + 1]*operation // the declared creation of one document, by revision
}

// The states of components, ingestions, tiles, previews, estimations and products.
const (
	statusPending   = "pending"
	statusRunning   = "running"
	statusCompleted = "completed"
	statusAvailable = "available"
	statusFailed    = "failed"
	statusRejected  = "rejected"
	statusCancelled = "cancelled"
)

// reserved lists the keys that the platform writes itself.
var reserved = []string{
	"_id", "id", "created", "creation_date", "creation_user", "modification_date", "modification_user",
	"deletion_date", "deletion_user", deletedWith,
}

// build makes a new document from a request, without storing it.
func (t *resource) build(r *Request, given store.Doc) store.Doc {
	if creation := t.creations[r.revision]; creation != nil {
		check(creation.Check(given))
	}
	doc := store.Doc{}
	maps.Copy(doc, t.defaults)
	t.fill(r, given, doc)
	return doc
}

// fill checks the keys in a request and sets them in a document. Keys that no declaration names are stored
// unchanged.
func (t *resource) fill(r *Request, given, doc store.Doc) {
	created := doc["_id"] != nil
	creation := t.creations[r.revision]
	accepted := store.Doc{}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		value := given[key]
		switch {
		case key == t.name && (created || creation != nil && creation.arg(key) == nil), slices.Contains(t.ignored, key):
			continue
		case slices.Contains(reserved, key):
			panic(wrong(key, "is set by the platform"))
		case slices.Contains(t.derived, key):
			panic(wrong(key, "follows from other keys and cannot be set"))
		case value == nil && created && creation.requires(key):
			panic(wrong(key, "cannot be removed"))
		case value == nil:
			if created {
				delete(doc, key)
			}
			continue
		}
		if rule := schema.Find(t.rules, key); rule != nil {
			check(rule.CheckJSON(key, value))
		}
		if created && slices.Contains(t.fixed, key) && !reflect.DeepEqual(value, doc[key]) {
			panic(wrong(key, "cannot be changed"))
		}
		if _, text := value.(string); text {
			value = t.dated(key, value)
		}
		doc[key], accepted[key] = value, value
	}
	referred := r.resolve(t.refs, accepted)
	if t.complete != nil {
		t.complete(r, given, doc)
	}
	checkCompanies(doc, referred)
	t.checkUnique(r, doc)
}

// requires reports whether every document has a key.
func (o *operation) requires(key string) bool {
	if o == nil {
		return false
	}
	p := o.arg(key)
	return p != nil && p.Required
}

// checkUnique refuses a document that exists already.
func (t *resource) checkUnique(r *Request, doc store.Doc) {
	if t.unique == nil {
		return
	}
	filter := store.Doc{"_id": store.Doc{"$ne": doc["_id"]}}
	var values []string
	for _, key := range t.unique {
		filter[key] = doc[key]
		if doc[key] != nil {
			values = append(values, fmt.Sprintf("%s %v", key, doc[key]))
		}
	}
	if same := r.first(t, filter); same != nil {
		panic(conflict("%s with %s exists already: %s", schema.Article(t.name), strings.Join(values, ", "), same["_id"]))
	}
}

// owned sets the owner of a new resource, by default the platform's company.
func owned(r *Request, _, doc store.Doc) {
	if doc["company"] == nil {
		doc["company"] = r.p.secrets.Company
	}
}

// wrong returns a failure about the argument under a key.
func wrong(key, format string, values ...any) *failure {
	f := invalid(key+": "+format, values...)
	f.Details = store.Doc{"key": key}
	return f
}

// inElement runs f for an element of a list, and adds its index to a failure.
func inElement(list string, i int, f func()) {
	err := recovered(f)
	at := fmt.Sprintf("%s[%d].", list, i)
	switch e := err.(type) {
	case *schema.JSONError:
		e.Key = at + e.Key
	case *failure:
		if e.status == http.StatusBadRequest || e.status == http.StatusNotFound {
			e.Message = at + e.Message
		}
		if details, ok := e.Details.(store.Doc); ok && details["key"] != nil {
			details["key"] = at + store.Text(details, "key")
		}
	}
	check(err)
}
