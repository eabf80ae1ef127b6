package platform

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"transect/platform/internal/store"
)

// Datasets are files, images, rasters, meshes, point clouds and vectors of a company, usually in one of its
// projects.
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
		"add-dataset-categories":    datasets.adding("categories"),
		"delete-dataset-categories": datasets.removing("categories"),
		"update-dataset-properties": do(datasets.changing(updateProperties)),
		"delete-dataset-properties": do(datasets.changing(deleteProperties)),
	})
}

// completeDataset sets the defaults and owners of a new dataset, and the state of its components.
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
	// Only files are pending: a collection's features are stored elsewhere.
	status := statusPending
	if allCompleted(doc) {
		status = statusCompleted
	}
	parameters := store.Lookup(doc, "ingestion.parameters")
	doc["ingestion"] = store.Doc{"status": status}
	if parameters != nil {
		store.Set(doc, "ingestion.parameters", parameters)
	}
}

// setOwners fills in the owners implied by the given ones: a flight has a mission, a mission has a project,
// and a project has a company.
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

// adding returns the endpoint of an operation that adds texts, or datasets of the same company, to a list.
// Existing entries are not duplicated, so that the request can be repeated.
func (t *resource) adding(key string) endpoint {
	return do(t.changing(func(r *Request, doc store.Doc) {
		if key == "attachments" {
			checkCompanies(doc, r.resolve([]ref{{key, datasets, leave}}, r.body))
		}
		doc[key] = union(doc[key], r.texts(key))
	}))
}

// removing returns the endpoint of an operation that removes from such a list, including datasets deleted
// since.
func (t *resource) removing(key string) endpoint {
	return do(t.changing(func(r *Request, doc store.Doc) { doc[key] = without(doc[key], r.texts(key)) }))
}

// updateProperties sets the given properties and leaves the others.
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

// union appends the texts that a list does not contain.
func union(v any, texts []string) []any {
	list, _ := v.([]any)
	list = append([]any{}, list...)
	has := setOf(textsOf(list))
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
	gone := setOf(texts)
	return slices.DeleteFunc(append([]any{}, list...), func(v any) bool {
		text, ok := v.(string)
		return ok && gone[text]
	})
}

func setOf(texts []string) map[string]bool {
	set := make(map[string]bool, len(texts))
	for _, text := range texts {
		set[text] = true
	}
	return set
}

const (
	sweepEvery = 15 * time.Minute
	sweepAge   = 30 * time.Minute // younger files may belong to a request in progress
	sweepBatch = 200              // deleted datasets in one transaction

	// DefaultKeepDeleted is how long deleted datasets can be restored.
	DefaultKeepDeleted = 7 * 24 * time.Hour
)

// sweep frees disk space: it removes datasets deleted too long ago to be restored, unreferenced blobs, and
// parts of interrupted uploads. The process that runs the jobs calls it periodically.
func (p *Platform) sweep(ctx context.Context, now time.Time) {
	err := errors.Join(p.purge(ctx), p.write(ctx, func(t tx) { t.forgetKeys(p.options.Now()) }),
		p.blobs.Sweep(now.Add(-sweepAge)), p.removeUnused(ctx, now.Add(-sweepAge)))
	if err != nil && ctx.Err() == nil {
		p.log.Error("cannot free disk space", "error", err)
	}
}

// purge removes the datasets that were deleted too long ago to be restored.
func (p *Platform) purge(ctx context.Context) error {
	before := date(p.options.Now().Add(-p.options.KeepDeleted))
	for {
		var gone []store.Doc
		err := p.write(ctx, func(t tx) {
			gone = must(t.All(datasets.plural, store.Query{Filter: store.Doc{"deletion_date": store.Doc{"$lt": before}},
				Limit: sweepBatch}))
			for _, doc := range gone {
				id := store.Text(doc, "_id")
				t.exec("DELETE FROM parts WHERE upload IN (SELECT id FROM uploads WHERE dataset = ?)", id)
				t.exec("DELETE FROM uploads WHERE dataset = ?", id)
				t.exec("DELETE FROM components WHERE dataset = ?", id)
				t.exec("DELETE FROM jobs WHERE id = ?", id)
				t.remove(datasets, id)
			}
		})
		if err != nil || len(gone) < sweepBatch {
			return err
		}
	}
}

// removeUnused removes unreferenced blobs, except while jobs run that create several blobs before they refer
// to them.
func (p *Platform) removeUnused(ctx context.Context, before time.Time) error {
	idle := p.blobs.Idle(before)
	if len(idle) == 0 {
		return nil
	}
	busy, used := false, map[string]bool{}
	err := p.read(ctx, func(t tx) {
		check(t.QueryRow("SELECT EXISTS (SELECT 1 FROM "+wantedJobs+" WHERE kind NOT IN (?, ?))", ingestionJob,
			previewJob).Scan(&busy))
		for row := range t.rows("SELECT blob FROM components UNION SELECT blob FROM parts UNION SELECT id FROM uploads") {
			var id string
			check(row.Scan(&id))
			used[id] = true
		}
	})
	if err != nil || busy {
		return err
	}
	for _, id := range idle {
		if !used[id] {
			err = errors.Join(err, p.blobs.Remove(id))
		}
	}
	return err
}
