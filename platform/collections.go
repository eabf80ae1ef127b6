package platform

import (
	"errors"

	"transect/platform/store"
)

var collections = kind{name: "collection", plural: "collections"}

// maxCollections is how many collections are described at once: each comes
// with the identifiers of all its features.
const maxCollections = 10

// deletedWith is the key under which a feature remembers the collection whose
// deletion hid it, and whose restoration brings it back.
const deletedWith = "deleted_with"

func collectionRoutes() []route {
	return []route{
		write(featureRoot+"create-collection", createCollection),
		write(featureRoot+"create-collections", createCollections),
		read(featureRoot+"describe-collection", describeCollection),
		read(featureRoot+"describe-collections", describeCollections),
		write(featureRoot+"delete-collection", collections.one(deleteCollection)),
		write(featureRoot+"delete-collections", collections.many(maxDeleted, deleteCollection)),
		write(featureRoot+"delete-collection-permanently", collections.one(removeCollection)),
		write(featureRoot+"delete-collections-permanently", collections.many(maxDeleted, removeCollection)),
		write(featureRoot+"restore-collection", collections.one(restoreCollection)),
		write(featureRoot+"restore-collections", collections.many(maxRestored, restoreCollection)),
		{method: "POST", path: featureRoot + "export-collection", stream: exportCollection},
	}
}

func createCollection(r *Request) (any, error) { return r.createCollection(r.body, "") }

// createCollections makes all or none of a list.
func createCollections(r *Request) (any, error) {
	return r.eachOf("collections", r.createCollection)
}

// createCollection makes a collection and puts the features named into it.
func (r *Request) createCollection(body store.Doc, at string) (store.Doc, error) {
	a := argsAt(body, at)
	a.optText("name")
	properties := a.optObject("properties")
	a.optObject("schema")
	var ids []string
	if a.has("features") {
		ids = a.ids("features", maxRestored)
	}
	company, err := r.owner(a)
	if err != nil {
		return nil, err
	}
	doc, err := extras(body, "features")
	if err != nil {
		return nil, err
	}
	doc["company"], doc["properties"] = company, orEmpty(properties)
	if err := r.create(collections, doc); err != nil {
		return nil, err
	}
	for _, id := range ids {
		if err := r.collect(doc, id, a.at+"features"); err != nil {
			return nil, err
		}
	}
	return r.withFeatures(doc)
}

// collect puts a feature that is in no other collection into one.
func (r *Request) collect(collection store.Doc, id, key string) error {
	feature, err := r.needOf(store.Text(collection, "company"), features, id, key)
	if err != nil {
		return err
	}
	switch feature["collection"] {
	case nil:
	case collection["_id"]:
		return nil
	default:
		return conflict("%s: feature %s is in collection %s already", key, id, feature["collection"])
	}
	feature["collection"] = collection["_id"]
	return r.save(features, feature)
}

// withFeatures adds the identifiers of a collection's features to it. They are
// not kept in the collection, which would have to be written with each of them.
func (r *Request) withFeatures(doc store.Doc) (store.Doc, error) {
	page, err := r.tx.Search(features.plural, store.Query{
		Filter: store.Doc{"collection": doc["_id"]}, Limit: -1, NoTotal: true, Fields: store.Projection{Include: []string{}},
	})
	if err != nil {
		return nil, err
	}
	ids := make([]any, len(page.Results))
	for i, raw := range page.Results {
		feature, err := store.Decode(raw)
		if err != nil {
			return nil, err
		}
		ids[i] = feature["_id"]
	}
	doc["features"] = ids
	return doc, nil
}

func describeCollection(r *Request) (any, error) {
	a := r.args()
	id, fields := a.id("collection"), a.fields()
	if a.err != nil {
		return nil, a.err
	}
	doc, err := r.get(collections, id)
	if err != nil {
		return nil, err
	}
	doc, err = r.withFeatures(doc)
	return fields.Apply(doc), err
}

func describeCollections(r *Request) (any, error) {
	a := r.args()
	ids, fields := a.ids("collections", maxCollections), a.fields()
	if a.err != nil {
		return nil, a.err
	}
	docs, err := r.getAll(collections, ids)
	for i := 0; err == nil && i < len(docs); i++ {
		docs[i], err = r.withFeatures(docs[i])
		docs[i] = fields.Apply(docs[i])
	}
	return docs, err
}

// deleteCollection hides a collection with the features in it.
func deleteCollection(r *Request, id string) error {
	doc, err := r.get(collections, id)
	if err != nil {
		return err
	}
	docs, err := r.tx.All(features.plural, store.Doc{"collection": id})
	if err != nil {
		return err
	}
	for _, feature := range docs {
		feature[deletedWith] = id
		if err := r.softDelete(features, feature); err != nil {
			return err
		}
	}
	return r.softDelete(collections, doc)
}

// restoreCollection brings a collection back with the features that its
// deletion hid. Those deleted before on their own stay deleted.
func restoreCollection(r *Request, id string) error {
	doc, err := r.getDeleted(collections, id)
	if err != nil {
		return err
	}
	if err := r.revive(collections, doc); err != nil {
		return err
	}
	docs, err := r.tx.All(features.plural, store.Doc{
		"collection": id, deletedWith: id, "deletion_date": store.Doc{"$ne": nil},
	})
	if err != nil {
		return err
	}
	for _, feature := range docs {
		delete(feature, deletedWith)
		if err := r.revive(features, feature); err != nil {
			return err
		}
	}
	return nil
}

// removeCollection deletes a collection for good, with all features in it,
// deleted ones too. It is refused while a dataset shows the collection.
func removeCollection(r *Request, id string) error {
	shown, err := r.tx.Search(datasets.plural, store.Query{
		Filter: store.Doc{"type": "vector", "components.collection.id": id}, Limit: 1, NoTotal: true,
	})
	if err != nil {
		return err
	}
	if len(shown.Results) > 0 {
		return conflict("collection %s is what a vector dataset shows; delete the dataset first", id)
	}
	err = r.tx.Remove(collections.plural, id)
	if errors.Is(err, store.ErrNotFound) {
		return notFound(collections.name, id)
	}
	if err != nil {
		return err
	}
	anyState := []any{store.Doc{"deletion_date": nil}, store.Doc{"deletion_date": store.Doc{"$ne": nil}}}
	docs, err := r.tx.All(features.plural, store.Doc{"collection": id, "$or": anyState})
	if err != nil {
		return err
	}
	for _, feature := range docs {
		if err := r.tx.Remove(features.plural, store.Text(feature, "_id")); err != nil {
			return err
		}
	}
	return nil
}

// needCollections checks the collections that a new dataset of a company is to
// show, and the datasets they are said to come from.
func (r *Request) needCollections(components []any, company, at string) error {
	for _, v := range components {
		component, _ := v.(map[string]any)
		id := store.Text(component, "collection.id")
		if id == "" {
			continue
		}
		if _, err := r.needOf(company, collections, id, at+"components.collection.id"); err != nil {
			return err
		}
		origin, _ := component["origin"].(map[string]any)
		if origin == nil {
			continue
		}
		a := within(origin, at+"components.origin")
		dataset := a.id("id")
		if a.err != nil {
			return a.err
		}
		if _, err := r.needOf(company, datasets, dataset, at+"components.origin.id"); err != nil {
			return err
		}
	}
	return nil
}
