package platform

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"transect/platform/store"
)

// resource is a kind whose documents are read by a table of properties, with
// the handlers that follow from the table.
type resource struct {
	kind
	properties []property
	derived    []string // properties that follow from others and cannot be given
	unique     []string // no two documents share the values of all of these
	// complete checks properties against each other and sets the derived ones.
	complete func(r *Request, a *args, doc store.Doc) error
	uses     []use
}

// property is one key of a document.
type property struct {
	key       string
	rule      rule
	when      occasion
	otherwise any // in a new document that is given none; no rule checks it
}

// occasion says when a property has to be given.
type occasion int

const (
	optional occasion = iota
	always            // whenever the document is created or updated
	atFirst           // when it is created
	once              // when it is created; it can never be changed
)

// act is what is done with a document.
type act int

const (
	creating act = iota
	updating
	setting // some properties alone
)

// routes are those that every resource has. thing is its name in them.
func (t resource) routes(root, thing string, more ...route) []route {
	return append([]route{
		write(root+"create-"+thing, t.createOne),
		write(root+"delete-"+thing, t.one(t.delete)),
		read(root+"describe-"+thing, t.describe),
		read(root+"describe-"+thing+"s", t.describeMany),
		read(root+"search-"+thing+"s", t.search),
	}, more...)
}

// createOne makes a document of the body.
func (t resource) createOne(r *Request) (any, error) {
	doc, err := t.build(r, r.args())
	if err != nil {
		return nil, err
	}
	return doc, r.create(t.kind, doc)
}

// update is a handler that changes what is given of one document.
func (t resource) update() handler {
	return t.setter(func(r *Request, a *args, doc store.Doc) error { return t.fill(r, a, doc, updating) })
}

// set is a handler that changes one property of a document.
func (t resource) set(key string) handler {
	return t.setter(func(r *Request, a *args, doc store.Doc) error {
		a.need(key)
		return t.fill(r, a, doc, setting)
	})
}

// build reads a new document, which is not kept yet.
func (t resource) build(r *Request, a *args) (store.Doc, error) {
	doc := store.Doc{}
	return doc, t.fill(r, a, doc, creating)
}

// fill reads what is given into a document. Keys that are no properties are
// kept as they are.
func (t resource) fill(r *Request, a *args, doc store.Doc, doing act) error {
	known := []string{t.name}
	for _, p := range t.properties {
		known = append(known, p.key)
	}
	more, err := extras(a.doc, known...)
	if err != nil {
		return err
	}
	for _, key := range t.derived {
		if _, given := more[key]; given {
			a.wrong(key, "follows from other properties and cannot be set")
		}
	}
	maps.Copy(doc, more)
	f := &form{args: a, r: r, referred: new([]reference)}
	f.read(t.properties, doc, doing)
	if a.err != nil {
		return a.err
	}
	if t.complete != nil {
		if err := t.complete(r, a, doc); err != nil {
			return err
		}
		if a.err != nil {
			return a.err
		}
	}
	if err := f.checkCompanies(doc); err != nil {
		return err
	}
	return t.checkUnique(r, doc)
}

// read reads properties into a document, or into an object inside one.
func (f *form) read(properties []property, doc store.Doc, doing act) {
	for _, p := range properties {
		_, given := f.doc[p.key]
		switch {
		case f.has(p.key):
			value := p.rule(f, p.key)
			if p.when == once && doing != creating && !reflect.DeepEqual(value, doc[p.key]) {
				f.wrong(p.key, "cannot be changed")
			}
			doc[p.key] = value
		case p.when == always && doing != setting || p.when != optional && doing == creating:
			f.need(p.key)
		case doing == creating:
			delete(doc, p.key)
			if p.otherwise != nil {
				doc[p.key] = p.otherwise
			}
		case given && p.when != optional:
			f.wrong(p.key, "cannot be taken away")
		case given:
			delete(doc, p.key)
		}
	}
}

// checkUnique refuses what is there already.
func (t resource) checkUnique(r *Request, doc store.Doc) error {
	if t.unique == nil {
		return nil
	}
	filter := store.Doc{"_id": store.Doc{"$ne": doc["_id"]}}
	var told []string
	for _, key := range t.unique {
		filter[key] = doc[key]
		if doc[key] != nil {
			told = append(told, fmt.Sprintf("%s %v", key, doc[key]))
		}
	}
	same, err := r.tx.All(t.plural, filter)
	if err == nil && len(same) > 0 {
		return conflict("a %s with %s exists already: %s", t.name, strings.Join(told, ", "), same[0]["_id"])
	}
	return err
}

// describeUnder is describeMany for a list of identifiers under another key
// than the collection's name. Where that key is the one of the wanted fields,
// all fields are answered.
func (k kind) describeUnder(key string) handler {
	return func(r *Request) (any, error) {
		a := r.args()
		ids := a.ids(key, maxDescribed)
		var fields store.Projection
		if key != "fields" {
			fields = a.fields()
		}
		if a.err != nil {
			return nil, a.err
		}
		docs, err := r.getAll(k, ids)
		for i := range docs {
			docs[i] = fields.Apply(docs[i])
		}
		return docs, err
	}
}

// replaced returns routes with another handler at one path.
func replaced(routes []route, path string, h handler) []route {
	i := slices.IndexFunc(routes, func(rt route) bool { return rt.path == path })
	routes[i].handle = h
	return routes
}
