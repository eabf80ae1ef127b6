package platform

import (
	"maps"
	"slices"

	"github.com/paulmach/orb"
	"github.com/tidwall/gjson"

	"transect/platform/internal/store"
)

// Projects hold missions, and with them flights, datasets and annotations.
var projects = &resource{name: "project", plural: "projects", limit: 100}

func serveProjects() {
	projects.refs = []ref{{"company", companies, leave}, {"local_coords_dataset", datasets, leave},
		{"missions", missions, unlink}}
	projects.ignored = []string{"addProjectToUsers", "companyId", "missions", "user"}
	projects.rules = fields{{Name: "location", Type: "position"}, {Name: "units", Type: "{}word"}}
	projects.defaults = store.Doc{"status": "available", "missions": []any{}}
	projects.rewrite = expandProjectSearch
	projects.complete = func(r *Request, given, doc store.Doc) {
		checkUnits(objectOf(given, "units"))
		if doc["_id"] == nil {
			doc["companyId"] = doc["company"] // the service uses both names
			doc["user"], doc["created"] = r.caller.user, date(r.now())
			doc["status"] = "available"
		}
	}
	serve("projects", projects, map[string]endpoint{
		"compute-project-bbox": do(projects.changing(computeBox)),
	})
}

var unitKinds = []string{"distances", "surfaces", "volumes", "altitude", "gsd", "weight", "slope"}

func checkUnits(units store.Doc) {
	for _, kind := range slices.Sorted(maps.Keys(units)) {
		if !slices.Contains(unitKinds, kind) {
			panic(wrong("units."+kind, "must be one of the kinds of units %v", unitKinds))
		}
	}
}

// expandProjectSearch turns the key "search" into one over name, place name
// and tags.
func expandProjectSearch(r *Request, filter store.Doc) store.Doc {
	value, ok := filter["search"]
	if !ok {
		return filter
	}
	if operators, ok := value.(map[string]any); ok && len(operators) == 1 {
		value = operators["$match"]
	}
	if _, ok := value.(string); !ok {
		panic(wrong("filter.search", "must be text, or {\"$match\": text}"))
	}
	others := maps.Clone(filter)
	delete(others, "search")
	match, tagged := store.Doc{"$match": value}, []any{}
	for _, tag := range r.all(tags, store.Doc{"text": match, "target.type": "project"}) {
		tagged = append(tagged, tag["project"])
	}
	return store.Doc{"$and": []any{others, store.Doc{"$or": []any{
		store.Doc{"name": match}, store.Doc{"place_name": match}, store.Doc{"tags": match},
		store.Doc{"_id": store.Doc{"$in": tagged}},
	}}}}
}

// computeBox sets the bounding box of the datasets of a mission or a project. Without datasets it uses the
// missions, or the document's own geometry. The location of a project follows it unless it is fixed.
func computeBox(r *Request, doc store.Doc) {
	of, filter := missions, store.Doc{"mission": doc["_id"]}
	if doc["project"] == nil {
		of, filter = projects, store.Doc{"project": doc["_id"]}
	}
	around := r.around(datasets, filter, "geometry")
	if around.IsEmpty() && of == projects {
		around = r.around(missions, filter, "real_bbox", "geometry")
	}
	if around.IsEmpty() {
		around = r.around(of, store.Doc{"_id": doc["_id"]}, "geometry")
	}
	doc["real_bbox"] = nil
	if !around.IsEmpty() {
		doc["real_bbox"] = store.Doc{"type": "Polygon", "coordinates": around.ToPolygon()}
		if of == projects && doc["fixed"] != true {
			doc["location"] = around.Center()
		}
	}
}

// around returns the bounding box of the geometries under some keys of documents.
func (r *Request) around(t *resource, filter store.Doc, keys ...string) orb.Bound {
	bound := orb.Bound{Min: orb.Point{1, 1}, Max: orb.Point{-1, -1}} // an empty one
	query := store.Query{Filter: filter, Fields: store.Projection{Include: keys}}
	for _, doc := range must(r.Search(t.plural, query)).Results {
		for _, key := range keys {
			bound = extended(bound, gjson.GetBytes(doc, key))
		}
	}
	return bound
}

// extended returns a bounding box extended by a geometry, or by nested lists of positions.
func extended(bound orb.Bound, v gjson.Result) orb.Bound {
	list := v.Array()
	switch {
	case v.IsObject():
		list = []gjson.Result{v.Get("coordinates"), v.Get("geometries")}
	case len(list) >= 2 && list[0].Type == gjson.Number:
		return bound.Union(orb.Point{list[0].Num, list[1].Num}.Bound())
	}
	for _, inner := range list {
		if inner.IsArray() || inner.IsObject() {
			bound = extended(bound, inner)
		}
	}
	return bound
}
