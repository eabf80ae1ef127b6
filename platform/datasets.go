package platform

import (
	"slices"

	"transect/platform/store"
)

var datasets = kind{name: "dataset", plural: "datasets", firstPage: 0, limit: 50}

func datasetRoutes() []route {
	return []route{
		write("data-manager/create-dataset", createDataset),
		write("data-manager/create-datasets", createDatasets),
		read("data-manager/describe-dataset", datasets.describe),
		read("data-manager/describe-datasets", datasets.describeMany),
		read("data-manager/search-datasets", datasets.search),
		write("data-manager/rename-dataset", datasets.setText("name")),
		write("data-manager/add-dataset-categories", datasets.setter(addCategories)),
		write("data-manager/delete-dataset-categories", datasets.setter(deleteCategories)),
		write("data-manager/update-dataset-properties", datasets.setter(updateProperties)),
		write("data-manager/delete-dataset-properties", datasets.setter(deleteProperties)),
		write("data-manager/delete-datasets", datasets.deleteMany),
		write("data-manager/restore-datasets", datasets.restoreMany),
	}
}

var datasetTypes = []string{"file", "image", "mesh", "pcl", "raster", "vector"}

// The states of an ingestion.
const (
	ingestionPending   = "pending"
	ingestionRunning   = "running"
	ingestionCompleted = "completed"
	ingestionFailed    = "failed"
)

func createDataset(r *Request) (any, error) {
	return r.createDataset(r.body, "")
}

// createDatasets makes all or none of a list.
func createDatasets(r *Request) (any, error) {
	a := r.args()
	list := a.list("datasets")
	if a.err != nil {
		return nil, a.err
	}
	docs := make([]store.Doc, len(list))
	for i, v := range list {
		at := "datasets[" + itoa(i) + "]"
		body, ok := v.(map[string]any)
		if !ok {
			return nil, invalid("%s: must be an object", at)
		}
		var err error
		if docs[i], err = r.createDataset(body, at); err != nil {
			return nil, err
		}
	}
	return docs, nil
}

func (r *Request) createDataset(body store.Doc, at string) (store.Doc, error) {
	a := &args{doc: body}
	if at != "" {
		a = within(body, at)
	}
	a.text("name")
	kind := a.oneOf("type", datasetTypes...)
	a.boolean("hidden")
	a.boolean("published")
	a.optGeometry("geometry")
	a.optObject("properties")
	a.optObject("source")
	a.optObject("ingestion")
	components := a.components(kind)
	if a.has("categories") {
		a.texts("categories")
	}
	doc, err := extras(body)
	if err != nil {
		return nil, err
	}
	if err := r.place(a, doc); err != nil {
		return nil, err
	}
	if a.err != nil {
		return nil, a.err
	}
	if err := r.needCollections(components, store.Text(doc, "company"), a.at); err != nil {
		return nil, err
	}
	doc["components"] = components
	defaults := store.Doc{"categories": []any{}, "properties": store.Doc{}, "hidden": false, "published": false}
	for key, value := range defaults {
		if doc[key] == nil {
			doc[key] = value
		}
	}
	if store.Lookup(doc, "source.name") == nil {
		store.Set(doc, "source.name", "data-manager")
	}
	// Only files are waited for: a collection's features live elsewhere.
	status := ingestionCompleted
	for _, c := range components {
		if c.(store.Doc)["status"] == componentPending {
			status = ingestionPending
		}
	}
	parameters := store.Lookup(doc, "ingestion.parameters")
	doc["ingestion"] = store.Doc{"status": status}
	if parameters != nil {
		store.Set(doc, "ingestion.parameters", parameters)
	}
	return doc, r.create(datasets, doc)
}

// place checks what the dataset is said to belong to, and fills in what follows
// from it.
func (r *Request) place(a *args, doc store.Doc) error {
	company, project := a.optID("company"), a.optID("project")
	mission, flight := a.optID("mission"), a.optID("flight")
	if a.err == nil && company == "" && project == "" {
		a.wrong("project", "is required, or company")
	}
	if a.err != nil {
		return a.err
	}
	inherit := func(key, value string) {
		if given := store.Text(doc, key); given == "" {
			doc[key] = value
		} else if given != value {
			a.wrong(key, "%s does not fit: the others belong to %s %s", given, key, value)
		}
	}
	if flight != "" {
		parent, err := r.need(flights, flight, a.at+"flight")
		if err != nil {
			return err
		}
		inherit("mission", store.Text(parent, "mission"))
		mission = store.Text(doc, "mission")
	}
	if mission != "" {
		parent, err := r.need(missions, mission, a.at+"mission")
		if err != nil {
			return err
		}
		inherit("project", store.Text(parent, "project"))
		project = store.Text(doc, "project")
	}
	if project != "" {
		parent, err := r.need(projects, project, a.at+"project")
		if err != nil {
			return err
		}
		inherit("company", store.Text(parent, "company"))
	} else if _, err := r.need(companies, company, a.at+"company"); err != nil {
		return err
	}
	return a.err
}

func addCategories(_ *Request, a *args, doc store.Doc) error {
	list, _ := doc["categories"].([]any)
	for _, category := range a.texts("categories") {
		if !slices.Contains(list, any(category)) {
			list = append(list, category)
		}
	}
	doc["categories"] = list
	return nil
}

func deleteCategories(_ *Request, a *args, doc store.Doc) error {
	gone := a.texts("categories")
	list, _ := doc["categories"].([]any)
	doc["categories"] = slices.DeleteFunc(list, func(v any) bool {
		s, ok := v.(string)
		return ok && slices.Contains(gone, s)
	})
	return nil
}

// updateProperties sets the properties given and leaves the others.
func updateProperties(_ *Request, a *args, doc store.Doc) error {
	properties, _ := doc["properties"].(map[string]any)
	if properties == nil {
		properties = store.Doc{}
	}
	for key, value := range a.object("properties") {
		properties[key] = value
	}
	doc["properties"] = properties
	return nil
}

func deleteProperties(_ *Request, a *args, doc store.Doc) error {
	properties, _ := doc["properties"].(map[string]any)
	for _, key := range a.texts("properties") {
		delete(properties, key)
	}
	return nil
}
