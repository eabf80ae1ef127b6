package platform

import (
	"maps"
	"slices"

	"transect/platform/store"
)

// Projects hold missions, and with them flights, datasets and annotations.
var projects = &resource{name: "project", plural: "projects", limit: 100}

func serveProjects() {
	projects.refs = []ref{{"company", companies, leave}, {"local_coords_dataset", datasets, leave}, {"missions", missions, unlink}}
	projects.ignored = []string{"addProjectToUsers", "companyId", "missions", "user"}
	projects.rules = map[string]rule{"location": position, "units": checkUnits}
	projects.defaults = store.Doc{"status": "available", "missions": []any{}}
	projects.rewrite = expandProjectSearch
	projects.complete = func(r *Request, _, doc store.Doc) error {
		if doc["_id"] == nil {
			doc["companyId"] = doc["company"] // the service has both names for it
			doc["user"], doc["created"] = r.caller.user, date(r.now())
			doc["status"] = "available"
		}
		return nil
	}
	serve("projects", projects, map[string]endpoint{
		"compute-project-bbox": do(projects.changing(computeBox)),
	})
}

var unitKinds = []string{"distances", "surfaces", "volumes", "altitude", "gsd", "weight", "slope"}

func checkUnits(key string, v any) error {
	for _, kind := range slices.Sorted(maps.Keys(v.(map[string]any))) {
		if !slices.Contains(unitKinds, kind) {
			return wrong(key+"."+kind, "must be one of the kinds of units %v", unitKinds)
		}
	}
	return every(word)(key, v)
}

// expandProjectSearch turns the key "search" into one over name, place name
// and tags.
func expandProjectSearch(filter store.Doc) (store.Doc, error) {
	value, ok := filter["search"]
	if !ok {
		return filter, nil
	}
	if operators, ok := value.(map[string]any); ok && len(operators) == 1 {
		value = operators["$match"]
	}
	if _, ok := value.(string); !ok {
		return nil, wrong("filter.search", "must be text, or {\"$match\": text}")
	}
	others := maps.Clone(filter)
	delete(others, "search")
	match := store.Doc{"$match": value}
	return store.Doc{"$and": []any{others, store.Doc{"$or": []any{
		store.Doc{"name": match}, store.Doc{"place_name": match}, store.Doc{"tags": match},
	}}}}, nil
}
