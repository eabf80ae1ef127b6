package platform

import (
	"errors"
	"maps"

	"github.com/tidwall/gjson"

	"transect/platform/store"
)

// Features are geometries with properties, mostly of a collection.
var (
	features    = &resource{name: "feature", plural: "features"}
	collections = &resource{name: "collection", plural: "collections"}
)

func serveFeatures() {
	features.refs = []ref{{"company", companies, leave}, {"collection", collections, cascade}, {"attachments", datasets, leave}}
	features.rules = map[string]rule{"properties": object(nil)}
	features.defaults = store.Doc{"attachments": []any{}}
	features.complete = completeFeature
	serve("features", features, map[string]endpoint{
		"delete-feature-permanently":  do(removePermanently(features)),
		"delete-features-permanently": do(removePermanently(features)),
		"add-attachments":             do(features.changing(addAttachments)),
		"remove-attachments":          do(features.changing(removeAttachments)),
		"update-feature-properties":   do(features.changing(updateProperties)),
		"delete-feature-properties":   do(features.changing(deleteProperties)),
		"update-features-properties":  do(changeFeatures(updateProperties, object(nil)), "*"),
		"delete-features-properties":  do(changeFeatures(deleteProperties, list(word)), "*"),
	})

	collections.refs = []ref{{"company", companies, leave}}
	collections.ignored = []string{"features"}
	collections.complete = func(r *Request, given, doc store.Doc) error {
		if doc["properties"] == nil {
			doc["properties"] = store.Doc{}
		}
		return owned(r, given, doc)
	}
	serve("collections", collections, map[string]endpoint{
		"create-collection":              do(func(r *Request) (any, error) { return r.createCollection(r.body) }, "*"),
		"create-collections":             do(createCollections),
		"describe-collection":            do(describeCollections),
		"describe-collections":           do(describeCollections),
		"delete-collection-permanently":  do(removePermanently(collections)),
		"delete-collections-permanently": do(removePermanently(collections)),
		"export-collection":              {stream: exportCollection},
	})
}

// completeFeature gives a feature the company of its collection, which is the
// one given if any is.
func completeFeature(r *Request, given, doc store.Doc) error {
	if doc["properties"] == nil {
		doc["properties"] = store.Doc{}
	}
	doc["attachments"] = union(nil, textsOf(doc["attachments"]))
	if id := store.Text(doc, "collection"); id != "" {
		collection, err := r.get(collections, id)
		if err != nil {
			return err
		}
		if doc["company"] != nil && doc["company"] != collection["company"] {
			return wrong("collection", "%s is not of company %s", id, doc["company"])
		}
		doc["company"] = collection["company"]
	}
	return owned(r, given, doc)
}

// removePermanently deletes features without the possibility to restore them,
// or collections with all their features unless a dataset shows them.
func removePermanently(t *resource) handler {
	return func(r *Request) (any, error) {
		ids := []string{r.text(t.name)}
		if key := r.op.List(); key != "" {
			ids = r.texts(key)
		}
		for _, id := range ids {
			if t == collections {
				if err := r.emptyCollection(id); err != nil {
					return nil, err
				}
			}
			err := r.tx.Remove(t.plural, id)
			if errors.Is(err, store.ErrNotFound) {
				err = notFound(t.name, id)
			}
			if err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
}

// emptyCollection removes all features of a collection, deleted ones too.
func (r *Request) emptyCollection(id string) error {
	shown, err := r.first(datasets, store.Doc{"type": "vector", "components.collection.id": id})
	if err != nil {
		return err
	}
	if shown != nil {
		return conflict("collection %s is shown by vector dataset %s; delete the dataset first", id, shown["_id"])
	}
	anyState := []any{store.Doc{"deletion_date": nil}, store.Doc{"deletion_date": store.Doc{"$ne": nil}}}
	docs, err := r.tx.All(features.plural, store.Doc{"collection": id, "$or": anyState})
	for i := 0; err == nil && i < len(docs); i++ {
		err = r.tx.Remove(features.plural, store.Text(docs[i], "_id"))
	}
	return err
}

// changeFeatures is the handler of a change whose body gives the properties of
// each feature under its identifier. All or none are changed; the answer has
// them in the order of the body.
func changeFeatures(change func(*Request, store.Doc) error, check rule) handler {
	return func(r *Request) (any, error) {
		docs := []store.Doc{}
		var failed error
		given := r.body
		gjson.ParseBytes(r.raw).ForEach(func(key, _ gjson.Result) bool {
			id := key.Str
			var doc store.Doc
			switch properties := given[id]; {
			case !store.IsID(id):
				failed = invalid("%q is not an identifier of 24 hexadecimal digits", id)
			case properties == nil:
				failed = wrong(id+".properties", "is required")
			default:
				if failed = check(id+".properties", properties); failed != nil {
					break
				}
				r.body = store.Doc{"feature": id, "properties": properties}
				_, failed = features.modify(r, func(stored store.Doc) error {
					doc = stored
					return change(r, stored)
				})
			}
			docs = append(docs, doc)
			return failed == nil
		})
		if failed != nil {
			return nil, failed
		}
		return docs, nil
	}
}

// createCollections makes all or none of a list.
func createCollections(r *Request) (any, error) {
	list, _ := r.body["collections"].([]any)
	docs := make([]store.Doc, len(list))
	for i, v := range list {
		var err error
		if docs[i], err = r.createCollection(v.(map[string]any)); err != nil {
			return nil, inElement(err, "collections", i)
		}
	}
	return docs, nil
}

// createCollection makes a collection and puts the features named into it.
func (r *Request) createCollection(given store.Doc) (store.Doc, error) {
	doc, err := collections.build(r, given)
	if err != nil {
		return nil, err
	}
	if err := r.create(collections, doc); err != nil {
		return nil, err
	}
	chosen := &resource{refs: []ref{{"features", features, leave}}}
	found, err := chosen.resolve(r, given)
	if err == nil {
		err = checkCompanies(doc, found)
	}
	for i := 0; err == nil && i < len(found); i++ {
		feature := found[i].doc
		if other := feature["collection"]; other != nil {
			return nil, conflict("features: feature %s is in collection %s already", feature["_id"], other)
		}
		feature["collection"] = doc["_id"]
		err = r.save(features, feature)
	}
	if err != nil {
		return nil, err
	}
	return r.withFeatures(doc)
}

// withFeatures adds the identifiers of a collection's features to it. They are
// not stored in the collection, which would have to be written with each of them.
func (r *Request) withFeatures(doc store.Doc) (store.Doc, error) {
	page, err := r.tx.Search(features.plural, store.Query{
		Filter: store.Doc{"collection": doc["_id"]}, Limit: -1, NoTotal: true, Fields: store.Projection{Include: []string{}},
	})
	if err != nil {
		return nil, err
	}
	ids := make([]any, len(page.Results))
	for i, raw := range page.Results {
		ids[i] = gjson.GetBytes(raw, "_id").Str
	}
	doc = maps.Clone(doc)
	doc["features"] = ids
	return doc, nil
}

// describeCollections answers with one collection or a list of them, each with
// its features.
func describeCollections(r *Request) (any, error) {
	fields, err := r.fields()
	if err != nil {
		return nil, err
	}
	docs, err := r.getAll(collections, append(r.texts("collections"), r.texts("collection")...))
	for i := 0; err == nil && i < len(docs); i++ {
		docs[i], err = r.withFeatures(docs[i])
		docs[i] = fields.Apply(docs[i])
	}
	if err == nil && r.op.List() == "" {
		return docs[0], nil
	}
	return docs, err
}
