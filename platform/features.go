package platform

import (
	"errors"

	"github.com/tidwall/gjson"

	"transect/platform/store"
)

var features = kind{name: "feature", plural: "features", firstPage: 1, limit: 50}

// featureRoot is where the routes of features and their collections lie.
const featureRoot = "map-service/features/"

func featureRoutes() []route {
	return []route{
		write(featureRoot+"create-feature", createFeature),
		write(featureRoot+"create-features", createFeatures),
		read(featureRoot+"describe-feature", features.describe),
		read(featureRoot+"describe-features", features.describeMany),
		read(featureRoot+"search-features", features.search),
		write(featureRoot+"delete-feature", features.one(deleteFeature)),
		write(featureRoot+"delete-features", features.deleteMany),
		write(featureRoot+"delete-feature-permanently", features.one(removeFeature)),
		write(featureRoot+"delete-features-permanently", features.many(maxDeleted, removeFeature)),
		write(featureRoot+"restore-feature", features.one(restoreFeature)),
		write(featureRoot+"restore-features", features.many(maxRestored, restoreFeature)),
		write(featureRoot+"add-attachments", features.setter(addAttachments)),
		write(featureRoot+"remove-attachments", features.setter(removeAttachments)),
		write(featureRoot+"set-feature-geometry", features.setGeometry("geometry")),
		write(featureRoot+"update-feature-properties", features.setter(updateProperties)),
		write(featureRoot+"update-features-properties", changeFeatures(updateProperties)),
		write(featureRoot+"delete-feature-properties", features.setter(deleteProperties)),
		write(featureRoot+"delete-features-properties", changeFeatures(deleteProperties)),
	}
}

func createFeature(r *Request) (any, error) { return r.createFeature(r.body, "") }

// createFeatures makes all or none of a list.
func createFeatures(r *Request) (any, error) { return r.eachOf("features", r.createFeature) }

func (r *Request) createFeature(body store.Doc, at string) (store.Doc, error) {
	a := argsAt(body, at)
	a.optGeometry("geometry")
	properties, collection := a.optObject("properties"), a.optID("collection")
	company, err := r.owner(a)
	if err != nil {
		return nil, err
	}
	if collection != "" {
		parent, err := r.need(collections, collection, a.at+"collection")
		if err != nil {
			return nil, err
		}
		if given := a.optID("company"); given != "" && given != store.Text(parent, "company") {
			return nil, invalid("%scollection: %s is not of company %s", a.at, collection, given)
		}
		company = store.Text(parent, "company")
	}
	attachments, err := r.attachments(a, company)
	if err != nil {
		return nil, err
	}
	doc, err := extras(body, deletedWith)
	if err != nil {
		return nil, err
	}
	doc["company"], doc["attachments"], doc["properties"] = company, attachments, orEmpty(properties)
	return doc, r.create(features, doc)
}

func deleteFeature(r *Request, id string) error {
	doc, err := r.get(features, id)
	if err != nil {
		return err
	}
	return r.softDelete(features, doc)
}

// removeFeature deletes a feature for good, also one that could be restored.
func removeFeature(r *Request, id string) error {
	err := r.tx.Remove(features.plural, id)
	if errors.Is(err, store.ErrNotFound) {
		return notFound(features.name, id)
	}
	return err
}

// restoreFeature takes the mark of deletion away, unless the collection is
// still deleted.
func restoreFeature(r *Request, id string) error {
	doc, err := r.getDeleted(features, id)
	if err != nil {
		return err
	}
	if err := r.needAlive(collections, doc); err != nil {
		return err
	}
	delete(doc, deletedWith)
	return r.revive(features, doc)
}

// changeFeatures is the handler of a change whose body gives the properties of
// each feature under its identifier. All or none are changed; the answer has
// them in the order of the body.
func changeFeatures(change func(*Request, *args, store.Doc) error) handler {
	return func(r *Request) (any, error) {
		docs := []store.Doc{}
		var failed error
		gjson.ParseBytes(r.raw).ForEach(func(key, _ gjson.Result) bool {
			var doc store.Doc
			doc, failed = r.changeFeature(key.Str, change)
			docs = append(docs, doc)
			return failed == nil
		})
		if failed != nil {
			return nil, failed
		}
		return docs, nil
	}
}

func (r *Request) changeFeature(id string, change func(*Request, *args, store.Doc) error) (store.Doc, error) {
	if !store.IsID(id) {
		return nil, invalid("%q is not an identifier of 24 hexadecimal digits", id)
	}
	doc, err := r.get(features, id)
	if err != nil {
		return nil, err
	}
	a := within(store.Doc{"properties": r.body[id]}, id)
	if err := change(r, a, doc); err != nil {
		return nil, err
	}
	if a.err != nil {
		return nil, a.err
	}
	return doc, r.save(features, doc)
}
