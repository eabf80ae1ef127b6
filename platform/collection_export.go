package platform

import (
	"bufio"
	"encoding/json"
	"net/http"

	"transect/platform/store"
)

// exportPage is how many features are read at once.
const exportPage = 1000

// exportCollection sends a collection as a GeoJSON FeatureCollection (RFC 7946).
func exportCollection(w http.ResponseWriter, r *Request) error {
	id, format := r.text("collection"), r.text("format")
	if format != "" && format != "geojson" {
		return wrong("format", "must be geojson, not %q", format)
	}
	var doc store.Doc
	var docs []store.Doc
	if err := r.read(func() (err error) {
		if doc, err = r.get(collections, id); err == nil {
			docs, err = r.featuresAfter(id, "")
		}
		return err
	}); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/geo+json")
	w.Header().Set("Content-Disposition", disposition(exportName(doc)))
	out := bufio.NewWriterSize(w, 64<<10)
	out.WriteString(`{"type":"FeatureCollection"`)
	if name := store.Text(doc, "name"); name != "" {
		text, err := json.Marshal(name)
		if err != nil {
			return err
		}
		out.WriteString(`,"name":` + string(text))
	}
	out.WriteString(`,"features":[`)
	for separator := ""; len(docs) > 0; {
		for _, feature := range docs {
			text, err := json.Marshal(asGeoJSON(feature))
			if err != nil {
				return err
			}
			out.WriteString(separator)
			out.Write(text)
			separator = ","
		}
		if len(docs) < exportPage {
			break
		}
		// A transaction for each page: a slow reader must not hold one open.
		last := store.Text(docs[len(docs)-1], "_id")
		if err := r.read(func() (err error) {
			docs, err = r.featuresAfter(id, last)
			return err
		}); err != nil {
			return err
		}
	}
	out.WriteString("]}")
	return out.Flush()
}

// featuresAfter returns the next features of a collection, in the order of
// their identifiers.
func (r *Request) featuresAfter(collection, last string) ([]store.Doc, error) {
	page, err := r.tx.Search(features.plural, store.Query{
		Filter: store.Doc{"collection": collection, "_id": store.Doc{"$gt": last}}, Limit: exportPage, NoTotal: true,
	})
	if err != nil {
		return nil, err
	}
	docs := make([]store.Doc, len(page.Results))
	for i, raw := range page.Results {
		if docs[i], err = store.Decode(raw); err != nil {
			return nil, err
		}
	}
	return docs, nil
}

func asGeoJSON(feature store.Doc) store.Doc {
	return store.Doc{
		"type": "Feature", "id": feature["_id"], "geometry": feature["geometry"], "properties": feature["properties"],
	}
}

func exportName(collection store.Doc) string {
	name := store.Text(collection, "name")
	if name == "" {
		name = store.Text(collection, "_id")
	}
	return name + ".geojson"
}
