package platform

import (
	"maps"
	"slices"

	"transect/platform/store"
)

// Datasets are files, images, rasters, meshes, point clouds and vectors of a
// company; mostly of one of its projects.
var datasets = &resource{name: "dataset", plural: "datasets"}

var datasetTypes = []string{"file", "image", "mesh", "pcl", "raster", "vector"}

func serveDatasets() {
	datasets.refs = []ref{{"company", companies, leave}, {"project", projects, cascade},
		{"mission", missions, cascade}, {"flight", flights, leave}}
	datasets.rules = fields{{Name: "type", Type: "string", Choices: datasetTypes}, {Name: "source", Type: "object"},
		{Name: "ingestion", Type: "object"}, {Name: "categories", Type: "[]word"}}
	datasets.defaults = store.Doc{"categories": []any{}, "properties": store.Doc{}, "hidden": false, "published": false}
	datasets.derived = []string{"tiles"}
	datasets.complete = completeDataset
	serve("datasets", datasets, map[string]endpoint{
		"add-dataset-categories":    do(datasets.changing(addCategories)),
		"delete-dataset-categories": do(datasets.changing(deleteCategories)),
		"update-dataset-properties": do(datasets.changing(updateProperties)),
		"delete-dataset-properties": do(datasets.changing(deleteProperties)),
	})
}

// completeDataset sets what a new dataset is without further word, what it
// belongs to, and the state of its components.
func completeDataset(r *Request, given, doc store.Doc) {
	if doc["_id"] != nil {
		return
	}
	for _, key := range []string{"type", "components"} {
		if given[key] == nil {
			panic(wrong(key, "is required"))
		}
	}
	components := newComponents(store.Text(doc, "type"), given["components"])
	r.setOwners(doc)
	r.needCollections(components, store.Text(doc, "company"))
	doc["components"] = components
	if store.Lookup(doc, "source.name") == nil {
		store.Set(doc, "source.name", "data-manager")
	}
	// Only files are waited for: a collection's features live elsewhere.
	status := statusCompleted
	for _, c := range components {
		if c.(store.Doc)["status"] == statusPending {
			status = statusPending
		}
	}
	parameters := store.Lookup(doc, "ingestion.parameters")
	doc["ingestion"] = store.Doc{"status": status}
	if parameters != nil {
		store.Set(doc, "ingestion.parameters", parameters)
	}
}

// setOwners fills in what a dataset belongs to by what it is said to belong
// to: its flight has a mission, that a project, and that a company.
func (r *Request) setOwners(doc store.Doc) {
	if doc["company"] == nil && doc["project"] == nil {
		panic(wrong("project", "is required, or company"))
	}
	for _, step := range []struct {
		t     *resource
		owner string
	}{{flights, "mission"}, {missions, "project"}, {projects, "company"}} {
		id := store.Text(doc, step.t.name)
		if id == "" {
			continue
		}
		parent := r.need(step.t, id, step.t.name)
		owner := store.Text(parent, step.owner)
		if given := doc[step.owner]; given != nil && given != any(owner) {
			panic(wrong(step.owner, "%s is not the %s of %s %s", given, step.owner, step.t.name, id))
		}
		doc[step.owner] = owner
	}
}

func addCategories(r *Request, doc store.Doc) {
	doc["categories"] = union(doc["categories"], r.texts("categories"))
}

func deleteCategories(r *Request, doc store.Doc) {
	doc["categories"] = without(doc["categories"], r.texts("categories"))
}

// updateProperties sets the properties given and leaves the others.
func updateProperties(r *Request, doc store.Doc) {
	properties := store.Doc{}
	maps.Copy(properties, objectOf(doc, "properties"))
	maps.Copy(properties, r.object("properties"))
	doc["properties"] = properties
}

func deleteProperties(r *Request, doc store.Doc) {
	for _, key := range r.texts("properties") {
		delete(objectOf(doc, "properties"), key)
	}
}

// union appends those texts to a list that it does not have.
func union(v any, texts []string) []any {
	list, _ := v.([]any)
	list = append([]any{}, list...)
	has := setOf(list)
	for _, text := range texts {
		if !has[text] {
			has[text] = true
			list = append(list, text)
		}
	}
	return list
}

// without removes texts from a list.
func without(v any, texts []string) []any {
	list, _ := v.([]any)
	gone := map[any]bool{}
	for _, text := range texts {
		gone[text] = true
	}
	return slices.DeleteFunc(append([]any{}, list...), func(v any) bool {
		text, ok := v.(string)
		return ok && gone[text]
	})
}

// setOf is the set of the texts in a list.
func setOf(list []any) map[any]bool {
	set := make(map[any]bool, len(list))
	for _, v := range list {
		if text, ok := v.(string); ok {
			set[text] = true
		}
	}
	return set
}

// addAttachments attaches datasets of the same company. What is attached
// already stays, so that the request can be repeated.
func addAttachments(r *Request, doc store.Doc) {
	checkCompanies(doc, r.resolve([]ref{{"attachments", datasets, leave}}, r.body))
	doc["attachments"] = union(doc["attachments"], r.texts("attachments"))
}

// removeAttachments detaches datasets, also those that were deleted since.
func removeAttachments(r *Request, doc store.Doc) {
	doc["attachments"] = without(doc["attachments"], r.texts("attachments"))
}
