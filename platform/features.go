package platform

import (
	"bufio"
	"cmp"
	"encoding/json"
	"maps"
	"net/http"

	"github.com/tidwall/gjson"

	"transect/client/schema"
	"transect/platform/internal/store"
)

// Features are geometries with properties, usually in a collection.
var (
	features    = &resource{name: "feature", plural: "features"}
	collections = &resource{name: "collection", plural: "collections"}
)

func serveFeatures() {
	features.refs = []ref{{"company", companies, leave}, {"collection", collections, cascade},
		{"attachments", datasets, leave}}
	features.defaults = store.Doc{"attachments": []any{}, "properties": store.Doc{}}
	features.complete = completeFeature
	serve("features", features, map[string]endpoint{
		"delete-feature-permanently":  do(removePermanently(features)),
		"delete-features-permanently": do(removePermanently(features)),
		"add-attachments":             features.adding("attachments"),
		"remove-attachments":          features.removing("attachments"),
		"update-feature-properties":   do(features.changing(updateProperties)),
		"delete-feature-properties":   do(features.changing(deleteProperties)),
		"update-features-properties":  do(changeFeatures(updateProperties, "object"), "*"),
		"delete-features-properties":  do(changeFeatures(deleteProperties, "[]word"), "*"),
	})

	collections.refs = []ref{{"company", companies, leave}}
	collections.ignored = []string{"features"}
	collections.defaults = store.Doc{"properties": store.Doc{}}
	collections.complete = owned
	collections.make, collections.show = makeCollection, withFeatures
	serve("collections", collections, map[string]endpoint{
		"delete-collection-permanently":  do(removePermanently(collections)),
		"delete-collections-permanently": do(removePermanently(collections)),
		"export-collection":              {stream: exportCollection},
	})
}

// completeFeature sets a feature's company to its collection's, which a given one must equal.
func completeFeature(r *Request, given, doc store.Doc) {
	doc["attachments"] = union(nil, textsOf(doc["attachments"]))
	if id := store.Text(doc, "collection"); id != "" {
		collection := r.get(collections, id)
		if doc["company"] != nil && doc["company"] != collection["company"] {
			panic(wrong("collection", "%s is not of company %s", id, doc["company"]))
		}
		doc["company"] = collection["company"]
	}
	owned(r, given, doc)
}

// removePermanently returns a handler that deletes features irrevocably, or collections with all their
// features unless a dataset shows them.
func removePermanently(t *resource) handler {
	return func(r *Request) any {
		for _, id := range r.idsOf(t) {
			if t == collections {
				r.emptyCollection(id)
			}
			if r.find(t, id) == nil {
				panic(notFound(t.name, id))
			}
			r.remove(t, id)
		}
		return nil
	}
}

// emptyCollection removes all features of a collection, including deleted ones.
func (r *Request) emptyCollection(id string) {
	if shown := r.first(datasets, store.Doc{"type": "vector", "components.collection.id": id}); shown != nil {
		panic(conflict("collection %s is shown by vector dataset %s; delete the dataset first", id, shown["_id"]))
	}
	anyState := []any{store.Doc{"deletion_date": nil}, store.Doc{"deletion_date": store.Doc{"$ne": nil}}}
	for _, feature := range r.all(features, store.Doc{"collection": id, "$or": anyState}) {
		r.remove(features, store.Text(feature, "_id"))
	}
}

// changeFeatures returns the handler of a change whose body maps feature identifiers to properties. All or
// none are changed; the response keeps the order of the body.
func changeFeatures(change func(*Request, store.Doc), properties schema.Type) handler {
	return func(r *Request) any {
		docs, given := []any{}, r.body
		gjson.ParseBytes(r.raw).ForEach(func(key, _ gjson.Result) bool {
			id := key.Str
			if !schema.IsID(id) {
				panic(invalid("%q is not an identifier of 24 hexadecimal digits", id))
			}
			if given[id] == nil {
				panic(wrong(id+".properties", "is required"))
			}
			checkAs(properties, id+".properties", given[id])
			r.body = store.Doc{"feature": id, "properties": given[id]}
			docs = append(docs, features.changing(change)(r))
			return true
		})
		return docs
	}
}

// makeCollection creates a collection and puts the given features into it.
func makeCollection(r *Request, given store.Doc) store.Doc {
	doc := collections.build(r, given)
	r.create(collections, doc)
	found := r.resolve([]ref{{"features", features, leave}}, given)
	checkCompanies(doc, found)
	for _, ref := range found {
		if other := ref.doc["collection"]; other != nil {
			panic(conflict("features: feature %s is in collection %s already", ref.doc["_id"], other))
		}
		ref.doc["collection"] = doc["_id"]
		r.save(features, ref.doc)
	}
	return withFeatures(r, doc)
}

// withFeatures adds the identifiers of a collection's features to it. They are not stored in the collection,
// which would have to be rewritten for each of them.
func withFeatures(r *Request, doc store.Doc) store.Doc {
	doc = maps.Clone(doc)
	ids := []any{}
	for _, feature := range must(r.All(features.plural, store.Query{
		Filter: store.Doc{"collection": doc["_id"]}, Fields: store.Projection{Include: []string{}},
	})) {
		ids = append(ids, feature["_id"])
	}
	doc["features"] = ids
	return doc
}

// exportPage is the number of features read at once.
const exportPage = 1000

// exportCollection sends a collection as a GeoJSON FeatureCollection (RFC 7946).
func exportCollection(w http.ResponseWriter, r *Request) {
	id := r.text("collection")
	if format := r.text("format"); format != "" && format != "geojson" {
		panic(wrong("format", "must be geojson, not %q", format))
	}
	var doc store.Doc
	var docs []store.Doc
	next := func() { // a transaction for each page: a slow reader must not hold one open
		last := ""
		if docs != nil {
			last = store.Text(docs[len(docs)-1], "_id")
		}
		docs = must(r.All(features.plural, store.Query{
			Filter: store.Doc{"collection": id, "_id": store.Doc{"$gt": last}}, Limit: exportPage,
		}))
	}
	r.read(func() {
		doc = r.get(collections, id)
		next()
	})
	w.Header().Set("Content-Type", "application/geo+json")
	w.Header().Set("Content-Disposition", disposition(cmp.Or(store.Text(doc, "name"), id)+".geojson"))
	out := bufio.NewWriterSize(w, 64<<10)
	out.WriteString(`{"type":"FeatureCollection"`)
	if name := store.Text(doc, "name"); name != "" {
		out.WriteString(`,"name":` + string(must(json.Marshal(name))))
	}
	out.WriteString(`,"features":[`)
	for separator := ""; len(docs) > 0; {
		for _, feature := range docs {
			out.WriteString(separator)
			out.Write(must(json.Marshal(store.Doc{
				"type": "Feature", "id": feature["_id"], "geometry": feature["geometry"], "properties": feature["properties"],
			})))
			separator = ","
		}
		if len(docs) < exportPage {
			break
		}
		r.read(next)
	}
	out.WriteString("]}")
	check(out.Flush())
}
