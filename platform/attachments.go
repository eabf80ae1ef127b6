package platform

import (
	"slices"

	"transect/platform/store"
)

// idOrIDs reads an identifier or a list of identifiers.
func (a *args) idOrIDs(key string) []string {
	if _, ok := a.doc[key].(string); ok {
		return []string{a.id(key)}
	}
	return a.ids(key, maxDescribed)
}

// optIDs reads an optional list of identifiers.
func (a *args) optIDs(key string) []string {
	if !a.has(key) {
		return nil
	}
	return a.ids(key, maxDescribed)
}

// attachments reads the datasets attached to a new resource of a company.
func (r *Request) attachments(a *args, company string) ([]any, error) {
	ids := a.optIDs("attachments")
	if a.err != nil {
		return nil, a.err
	}
	return union(nil, ids), r.needAllOf(company, datasets, ids, a.at+"attachments")
}

// union appends the texts that a list does not have.
func union(v any, texts []string) []any {
	list, _ := v.([]any)
	if list == nil {
		list = []any{}
	}
	for _, text := range texts {
		if !slices.Contains(list, any(text)) {
			list = append(list, text)
		}
	}
	return list
}

// addAttachments attaches datasets of the same company. Repeating it does no harm.
func addAttachments(r *Request, a *args, doc store.Doc) error {
	ids := a.idOrIDs("attachments")
	if a.err != nil {
		return nil // reported by the caller
	}
	if err := r.needAllOf(store.Text(doc, "company"), datasets, ids, "attachments"); err != nil {
		return err
	}
	doc["attachments"] = union(doc["attachments"], ids)
	return nil
}

// removeAttachments detaches datasets, deleted ones too.
func removeAttachments(_ *Request, a *args, doc store.Doc) error {
	gone := a.idOrIDs("attachments")
	list, _ := doc["attachments"].([]any)
	doc["attachments"] = slices.DeleteFunc(list, func(v any) bool {
		s, ok := v.(string)
		return ok && slices.Contains(gone, s)
	})
	return nil
}
