package platform

import (
	"errors"

	"transect/platform/store"
)

// argsAt reads the arguments of a body that is an element of a list, or of the
// whole body when at is "".
func argsAt(body store.Doc, at string) *args {
	if at == "" {
		return &args{doc: body}
	}
	return within(body, at)
}

// owner reads which company something new belongs to: that of the platform's
// user when none is given.
func (r *Request) owner(a *args) (string, error) {
	company := a.optID("company")
	if a.err != nil {
		return "", a.err
	}
	if company == "" {
		return r.p.secrets.Company, nil
	}
	_, err := r.need(companies, company, a.at+"company")
	return company, err
}

// needOf returns a document that an argument refers to and that must be a company's.
func (r *Request) needOf(company string, k kind, id, key string) (store.Doc, error) {
	doc, err := r.need(k, id, key)
	if err == nil && store.Text(doc, "company") != company {
		err = invalid("%s: %s %s is not of company %s", key, k.name, id, company)
	}
	return doc, err
}

func (r *Request) needAllOf(company string, k kind, ids []string, key string) error {
	for _, id := range ids {
		if _, err := r.needOf(company, k, id, key); err != nil {
			return err
		}
	}
	return nil
}

// named finds what a company has under a name, or nil.
func (r *Request) named(k kind, company, name string) (store.Doc, error) {
	found, err := r.tx.All(k.plural, store.Doc{"name": name, "company": company})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

// needFree refuses a name that something else of the company has already.
func (r *Request) needFree(k kind, company, name, except string) error {
	doc, err := r.named(k, company, name)
	if err == nil && doc != nil && doc["_id"] != any(except) {
		err = conflict("name: company %s has a %s %q already", company, k.name, name)
	}
	return err
}

// eachOf runs f for the elements of a list of objects: all or, after an error,
// none of them are kept.
func (r *Request) eachOf(key string, f func(body store.Doc, at string) (store.Doc, error)) (any, error) {
	a := r.args()
	list := a.list(key)
	if a.err != nil {
		return nil, a.err
	}
	docs := make([]store.Doc, len(list))
	for i, v := range list {
		at := key + "[" + itoa(i) + "]"
		body, ok := v.(map[string]any)
		if !ok {
			return nil, invalid("%s: must be an object", at)
		}
		var err error
		if docs[i], err = f(body, at); err != nil {
			return nil, err
		}
	}
	return docs, nil
}

// one and many are handlers that do the same to the document under the kind's
// name, or to each of those under its plural, at most limit of them.
func (k kind) one(do func(*Request, string) error) handler {
	return func(r *Request) (any, error) {
		a := r.args()
		id := a.id(k.name)
		if a.err != nil {
			return nil, a.err
		}
		return nil, do(r, id)
	}
}

func (k kind) many(limit int, do func(*Request, string) error) handler {
	return func(r *Request) (any, error) {
		a := r.args()
		ids := a.ids(k.plural, limit)
		if a.err != nil {
			return nil, a.err
		}
		for _, id := range ids {
			if err := do(r, id); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
}

// getDeleted returns a document whether it is deleted or not.
func (r *Request) getDeleted(k kind, id string) (store.Doc, error) {
	doc, err := r.tx.Get(k.plural, id)
	if errors.Is(err, store.ErrNotFound) {
		err = notFound(k.name, id)
	}
	return doc, err
}

// revive takes the mark of deletion from a document, if it has one.
func (r *Request) revive(k kind, doc store.Doc) error {
	if doc["deletion_date"] == nil {
		return nil
	}
	delete(doc, "deletion_date")
	delete(doc, "deletion_user")
	return r.save(k, doc)
}

// needAlive refuses to restore what belongs to something that is still deleted.
func (r *Request) needAlive(k kind, doc store.Doc) error {
	id := store.Text(doc, k.name)
	if id == "" {
		return nil
	}
	_, err := r.get(k, id)
	var f *failure
	if errors.As(err, &f) {
		return conflict("%s cannot be restored: its %s %s is deleted", doc["_id"], k.name, id)
	}
	return err
}
