package platform

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"transect/platform/api"
	"transect/platform/store"
)

// resource is one kind of document. The declared operations of its manager are
// served by the standard handlers (handlers.go) and this table; operations
// that mean more have a handler of their own.
type resource struct {
	name   string // key of one identifier in a body
	plural string // key of a list of identifiers, and the collection's name
	limit  int64  // page size of searches that neither give nor declare one; 50 when 0

	// rules check values beyond their declared type, by key.
	rules    map[string]rule
	refs     []ref
	defaults store.Doc
	derived  []string // keys that follow from others and cannot be given
	ignored  []string // keys that may be given and are not stored
	fixed    []string // keys that cannot change after creation
	unique   []string // no two documents share the values of all these keys
	// complete checks a document as a whole and sets the derived keys. given is
	// what the request says.
	complete func(r *Request, given, doc store.Doc) error
	// deletable refuses a deletion for reasons that refs cannot tell.
	deletable func(r *Request, doc store.Doc) error
	// rewrite changes a search's filter, for keys of this resource alone.
	rewrite func(filter store.Doc) (store.Doc, error)

	creation *api.Operation // the declared creation of one document
}

// reserved are the keys that the platform writes itself.
var reserved = []string{
	"_id", "id", "created", "creation_date", "creation_user", "modification_date", "modification_user",
	"deletion_date", "deletion_user", deletedWith,
}

// build makes a new document of what a request gives. It is not stored yet.
func (t *resource) build(r *Request, given store.Doc) (store.Doc, error) {
	if t.creation != nil {
		if err := t.creation.Check(given); err != nil {
			return nil, err
		}
	}
	doc := maps.Clone(t.defaults)
	if doc == nil {
		doc = store.Doc{}
	}
	return doc, t.fill(r, given, doc)
}

// fill checks the keys that a request gives and sets them in a document. Keys
// that no declaration names are stored unchanged.
func (t *resource) fill(r *Request, given, doc store.Doc) error {
	created := doc["_id"] != nil
	for _, key := range slices.Sorted(maps.Keys(given)) {
		value := given[key]
		switch {
		case key == t.name && (created || t.creation.Param(key) == nil), slices.Contains(t.ignored, key):
			continue
		case slices.Contains(reserved, key):
			return wrong(key, "is set by the platform")
		case slices.Contains(t.derived, key):
			return wrong(key, "follows from other keys and cannot be set")
		case value == nil && created && t.requires(key):
			return wrong(key, "cannot be removed")
		case value == nil:
			if created {
				delete(doc, key)
			}
			continue
		}
		if check := t.rules[key]; check != nil {
			if err := check(key, value); err != nil {
				return err
			}
		}
		if created && slices.Contains(t.fixed, key) && !reflect.DeepEqual(value, doc[key]) {
			return wrong(key, "cannot be changed")
		}
		doc[key] = value
	}
	referred, err := t.resolve(r, given)
	if err == nil && t.complete != nil {
		err = t.complete(r, given, doc)
	}
	if err == nil {
		err = checkCompanies(doc, referred)
	}
	if err == nil {
		err = t.checkUnique(r, doc)
	}
	return err
}

// requires tells whether no document can be without a key.
func (t *resource) requires(key string) bool {
	if t.creation == nil {
		return false
	}
	p := t.creation.Param(key)
	return p != nil && p.Required
}

// checkUnique refuses a document that exists already.
func (t *resource) checkUnique(r *Request, doc store.Doc) error {
	if t.unique == nil {
		return nil
	}
	filter := store.Doc{"_id": store.Doc{"$ne": doc["_id"]}}
	var values []string
	for _, key := range t.unique {
		filter[key] = doc[key]
		if doc[key] != nil {
			values = append(values, fmt.Sprintf("%s %v", key, doc[key]))
		}
	}
	same, err := r.tx.All(t.plural, filter)
	if err == nil && len(same) > 0 {
		return conflict("a %s with %s exists already: %s", t.name, strings.Join(values, ", "), same[0]["_id"])
	}
	return err
}

// owned is the complete function of resources that belong to the platform's
// company unless another one is given.
func owned(r *Request, _, doc store.Doc) error {
	if doc["company"] == nil {
		doc["company"] = r.p.secrets.Company
	}
	return nil
}

// wrong is the failure of a request whose argument under a key cannot be right.
func wrong(key, format string, values ...any) *failure {
	f := invalid(key+": "+format, values...)
	f.Details = store.Doc{"key": key}
	return f
}

// inElement names the element of a list that a failure is about.
func inElement(err error, list string, i int) error {
	at := fmt.Sprintf("%s[%d].", list, i)
	switch e := err.(type) {
	case *api.Error:
		return &api.Error{Key: at + e.Key, Message: e.Message}
	case *failure:
		copied := *e
		if e.status == http.StatusBadRequest || e.status == http.StatusNotFound {
			copied.Message = at + e.Message
		}
		if details, ok := e.Details.(store.Doc); ok && details["key"] != nil {
			copied.Details = store.Doc{"key": at + store.Text(details, "key")}
		}
		return &copied
	}
	return err
}
