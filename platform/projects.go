package platform

import (
	"slices"

	"transect/platform/store"
)

var projects = kind{name: "project", plural: "projects", firstPage: 1, limit: 100, rewrite: expandProjectSearch}

func projectRoutes() []route {
	remove := write("project-manager/projects/{project}", deleteProject)
	remove.method = "DELETE"
	return []route{
		write("project-manager/projects", createProject),
		remove,
		read("project-manager/describe-project", projects.describe),
		read("project-manager/describe-projects", projects.describeMany),
		read("project-manager/search-projects", projects.search),
		write("project-manager/projects/update/{project}", updateProject),
		write("project-manager/update-project-name", projects.setText("name")),
		write("project-manager/update-project-geometry", projects.setGeometry("geometry")),
		write("project-manager/update-project-bbox", projects.setGeometry("real_bbox")),
		write("project-manager/update-project-location", projects.setter(setLocation)),
		write("project-manager/update-project-srs", projects.setter(setSRS)),
		write("project-manager/update-project-units", projects.setter(setUnits)),
		write("project-manager/update-project-local-coords", projects.setter(setLocalCoordinates)),
		write("project-manager/compute-project-bbox", projects.setter(computeProjectBox)),
	}
}

var projectStatuses = []string{"pending", "available", "failed", "maintenance"}

func createProject(r *Request) (any, error) {
	a := r.args()
	name, company := a.text("name"), a.id("company")
	a.optGeometry("geometry")
	a.boolean("addProjectToUsers")
	if a.err != nil {
		return nil, a.err
	}
	if _, err := r.need(companies, company, "company"); err != nil {
		return nil, err
	}
	doc, err := r.extras("addProjectToUsers", "companyId", "missions", "user", "status")
	if err != nil {
		return nil, err
	}
	doc["name"] = name
	doc["companyId"] = company // the service has both names for it
	doc["missions"] = []any{}
	doc["status"] = "available"
	doc["user"] = r.caller.user
	doc["created"] = date(r.now())
	return store.Doc{"project": doc}, r.create(projects, doc)
}

// deleteProject hides a project with all that is in it.
func deleteProject(r *Request) (any, error) {
	id := r.path("project")
	doc, err := r.get(projects, id)
	if err != nil {
		return nil, err
	}
	for _, k := range []kind{missions, flights, datasets, annotations} {
		if err := r.deleteWhere(k, store.Doc{"project": id}); err != nil {
			return nil, err
		}
	}
	return nil, r.softDelete(projects, doc)
}

// deleteWhere hides all documents that pass a filter.
func (r *Request) deleteWhere(k kind, filter store.Doc) error {
	docs, err := r.tx.All(k.plural, filter)
	if err != nil {
		return err
	}
	for _, doc := range docs {
		if err := r.softDelete(k, doc); err != nil {
			return err
		}
	}
	return nil
}

// updateProject sets the status of the project that the route names.
func updateProject(r *Request) (any, error) {
	a := r.args()
	status := a.oneOf("status", projectStatuses...)
	if given := a.optID("project"); given != "" && given != r.path("project") {
		a.wrong("project", "is not the project of the route")
	}
	if a.err != nil {
		return nil, a.err
	}
	doc, err := r.get(projects, r.path("project"))
	if err != nil {
		return nil, err
	}
	doc["status"] = status
	return store.Doc{"project": doc}, r.save(projects, doc)
}

func setLocation(_ *Request, a *args, doc store.Doc) error {
	if a.has("location") {
		location := a.list("location")
		if err := checkPosition(location); err != nil {
			a.wrong("location", "%v", err)
		}
		doc["location"] = location
	}
	if a.has("fixed") {
		doc["fixed"] = a.boolean("fixed")
	}
	return nil
}

func setSRS(_ *Request, a *args, doc store.Doc) error {
	for _, key := range []string{"horizontal_srs_wkt", "vertical_srs_wkt"} {
		if a.has(key) {
			doc[key] = a.optText(key)
		}
	}
	return nil
}

var unitKinds = []string{"distances", "surfaces", "volumes", "altitude", "gsd", "weight", "slope"}

func setUnits(_ *Request, a *args, doc store.Doc) error {
	units := a.object("units")
	inner := within(units, "units")
	for key := range units {
		if !slices.Contains(unitKinds, key) {
			inner.wrong(key, "is none of the kinds of units: %v", unitKinds)
		}
		inner.text(key)
	}
	if a.err == nil {
		a.err = inner.err
	}
	doc["units"] = units
	return nil
}

func setLocalCoordinates(r *Request, a *args, doc store.Doc) error {
	id := a.id("local_coords_dataset")
	if a.err != nil {
		return nil // told by the caller
	}
	if _, err := r.need(datasets, id, "local_coords_dataset"); err != nil {
		return err
	}
	doc["local_coords_dataset"] = id
	return nil
}

// expandProjectSearch turns the key "search" into one over name, place name
// and tags.
func expandProjectSearch(filter store.Doc) (store.Doc, error) {
	value, ok := filter["search"]
	if !ok {
		return filter, nil
	}
	if operators, ok := value.(map[string]any); ok {
		if len(operators) != 1 || operators["$match"] == nil {
			return nil, invalid("filter.search: takes text, or {\"$match\": text}")
		}
		value = operators["$match"]
	}
	if _, ok := value.(string); !ok {
		return nil, invalid("filter.search: takes text, or {\"$match\": text}")
	}
	rest := store.Doc{}
	for key, v := range filter {
		if key != "search" {
			rest[key] = v
		}
	}
	match := store.Doc{"$match": value}
	return store.Doc{"$and": []any{rest, store.Doc{"$or": []any{
		store.Doc{"name": match}, store.Doc{"place_name": match}, store.Doc{"tags": match},
	}}}}, nil
}
