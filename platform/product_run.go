package platform

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"

	"transect/platform/internal/analytic"
	"transect/platform/internal/blob"
	"transect/platform/internal/store"
)

// addLog stores a log line. Its time is later than the previous line's, because
// clients use it as a cursor.
func (p *Platform) addLog(t tx, product, level, message string, fields map[string]any) {
	record := store.Doc{}
	maps.Copy(record, fields)
	record["level"], record["message"] = level, message
	t.exec(`INSERT INTO logs (product, time, record) VALUES (?1,
		max(?2, 1 + coalesce((SELECT max(time) FROM logs WHERE product = ?1), 0)), ?3)`,
		product, p.options.Now().UnixMicro(), string(must(json.Marshal(record))))
}

// runProduct runs an ordered analytic. A product whose process died starts over.
func (p *Platform) runProduct(ctx context.Context, j job) {
	doc := p.beginProduct(ctx, j)
	program, ok := analytic.Find(store.Text(doc, "analytic_name"), store.Text(doc, "analytic_version"))
	var deliverables []analytic.Deliverable
	result := j.exhausted("it")
	switch {
	case result != nil:
	case !ok || !p.isBuiltIn(ctx, store.Text(doc, "analytic")):
		result = errors.Join(analytic.ErrRejected,
			errors.New("the local platform runs no containers, only its own analytics"))
	default:
		result = recovered(func() { deliverables = must(program.Run(ctx, p.orderOf(ctx, j, doc))) })
		p.logDefect(result, "product", j.id)
	}
	check(context.Cause(ctx))
	if errors.Is(result, errLost) {
		panic(result)
	}
	p.endProduct(ctx, j, doc, deliverables, result)
}

// isBuiltIn reports whether an analytic is one of the platform's own, and not
// one of the same name created after it was deleted.
func (p *Platform) isBuiltIn(ctx context.Context, id string) (builtIn bool) {
	check(p.read(ctx, func(t tx) {
		doc := t.find(analytics, id)
		image := localImage + store.Text(doc, "name") + ":" + store.Text(doc, "version")
		builtIn = store.Text(doc, "algorithm.docker_image") == image
	}))
	return builtIn
}

func (p *Platform) beginProduct(ctx context.Context, j job) (doc store.Doc) {
	check(p.write(ctx, func(t tx) {
		t.need(j)
		doc = t.load(products, j.id)
		message := "started"
		if doc["status"] != any(statusPending) {
			message = "started again: the process that ran it ended"
		}
		doc["status"] = statusRunning
		doc["start_date"] = date(p.options.Now())
		p.addLog(t, j.id, "info", message, nil)
		t.replace(products, doc)
	}))
	return doc
}

// orderOf returns the order that a program runs with.
func (p *Platform) orderOf(ctx context.Context, j job, doc store.Doc) *analytic.Order {
	return &analytic.Order{
		Inputs: objectOf(doc, "inputs"), Parameters: objectOf(doc, "parameters"),
		Wanted: func(name string) bool {
			_, ok := objectOf(doc, "deliverables")[name]
			return ok
		},
		Images: func(ctx context.Context, mission string) ([]analytic.Image, error) {
			return p.imagesOf(ctx, store.Doc{"mission": mission, "type": "image", "ingestion.status": statusCompleted})
		},
		Log: func(level, message string, fields map[string]any) error {
			return p.write(ctx, func(t tx) {
				t.need(j)
				p.addLog(t, j.id, level, message, fields)
			})
		},
	}
}

// imagesOf lists the image datasets that match a filter and have a file.
func (p *Platform) imagesOf(ctx context.Context, filter store.Doc) (images []analytic.Image, err error) {
	err = p.read(ctx, func(t tx) {
		for _, doc := range t.all(datasets, filter) {
			id := store.Text(doc, "_id")
			if s, ok := t.bytesOf(id, "image"); ok {
				images = append(images, analytic.Image{
					Dataset: id, Name: store.Text(doc, "name"), Filename: s.filename, Size: s.size, Checksum: s.checksum,
					Open: func() (*os.File, error) { return p.blobs.Open(s.blob) },
				})
			}
		}
	})
	return images, err
}

// endProduct stores the status and all deliverables of a product in one
// transaction.
func (p *Platform) endProduct(ctx context.Context, j job, doc store.Doc, results []analytic.Deliverable, result error) {
	var blobs []blob.Blob
	for _, d := range results {
		for _, f := range d.Files {
			b, err := p.blobs.Put(blob.NewID(), bytes.NewReader(f.Content), "")
			p.checkKept(err, blobs...)
			blobs = append(blobs, b)
		}
	}
	p.checkKept(p.write(ctx, func(t tx) {
		t.finish(j)
		current := t.load(products, j.id)
		deliverables, outputs, files := objectOf(current, "deliverables"), []any{}, blobs
		for _, d := range results {
			id := p.keepDeliverable(t, doc, d, files[:len(d.Files)])
			files = files[len(d.Files):]
			deliverables[d.Name] = id
			outputs = append(outputs, id)
		}
		level, message := "info", "available"
		current["status"], current["outputs"] = statusAvailable, outputs
		if result != nil {
			level, message = "error", result.Error()
			current["status"], current["error"] = statusFailed, store.Doc{"message": message}
			if errors.Is(result, analytic.ErrRejected) {
				current["status"] = statusRejected
			}
		}
		current["end_date"] = date(p.options.Now())
		p.addLog(t, j.id, level, message, map[string]any{"status": current["status"]})
		t.replace(products, current)
	}), blobs...)
}

// keepDeliverable creates the dataset of a deliverable, with its files.
func (p *Platform) keepDeliverable(t tx, product store.Doc, d analytic.Deliverable, blobs []blob.Blob) string {
	id := p.newID(datasets)
	properties := store.Doc{}
	maps.Copy(properties, d.Properties)
	properties["product"], properties["deliverable"] = product["_id"], d.Name
	properties["analytic"], properties["analytic_version"] = product["analytic_name"], product["analytic_version"]
	components := []any{}
	var size int64
	for i, f := range d.Files {
		components = append(components, t.keepBytes(id, f.Component, f.Filename, blobs[i]))
		size += blobs[i].Size
	}
	doc := store.Doc{
		"_id": id, "name": d.Title, "type": d.Type, "company": product["company"],
		"categories": []any{}, "hidden": false, "published": false, "size": size,
		"properties": properties, "components": components,
		"source":        store.Doc{"name": "analytics", "product": product["_id"]},
		"ingestion":     store.Doc{"status": statusCompleted},
		"creation_date": date(p.options.Now()), "creation_user": product["creation_user"],
	}
	for _, key := range []string{"project", "mission"} {
		if product[key] != nil {
			doc[key] = product[key]
		}
	}
	if d.Geometry != nil {
		doc["geometry"] = d.Geometry
	}
	t.insert(datasets, doc)
	return id
}
