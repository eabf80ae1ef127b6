package platform

import (
	"bufio"
	"cmp"
	"encoding/json"
	"net/http"

	"transect/platform/store"
)

// exportPage is how many features are read at once.
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
			Filter: store.Doc{"collection": id, "_id": store.Doc{"$gt": last}}, Limit: exportPage, NoTotal: true,
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
