package platform

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"

	"transect/platform/analytic"
	"transect/platform/blob"
	"transect/platform/store"
)

// addLog stores a log line. Its time is later than that of the line before,
// because clients use it as a cursor.
func (p *Platform) addLog(tx *store.Tx, product, level, message string, fields map[string]any) error {
	record := store.Doc{}
	maps.Copy(record, fields)
	record["level"], record["message"] = level, message
	text, err := json.Marshal(record)
	if err != nil {
		return err
	}
	return tx.Exec(`INSERT INTO logs (product, time, record) VALUES (?1,
		max(?2, 1 + coalesce((SELECT max(time) FROM logs WHERE product = ?1), 0)), ?3)`,
		product, p.options.Now().UnixMicro(), string(text))
}

// runProduct runs an ordered analytic. A product whose process died starts over.
func (p *Platform) runProduct(ctx context.Context, j job) error {
	doc, err := p.beginProduct(ctx, j)
	if err != nil {
		return err
	}
	program, ok := analytic.Find(store.Text(doc, "analytic_name"), store.Text(doc, "analytic_version"))
	var made []analytic.Deliverable
	var result error
	switch {
	case j.attempt > maxAttempts:
		result = fmt.Errorf("it failed %d times without a result", maxAttempts)
	case !ok || !p.isBuiltIn(ctx, store.Text(doc, "analytic")):
		result = errors.Join(analytic.ErrRejected, errors.New("the local platform runs no containers, only its own analytics"))
	default:
		result = recovered(func() (err error) {
			made, err = program.Run(ctx, p.orderOf(ctx, j, doc))
			return err
		})
		p.logPanic(result, "product", j.id)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(result, errLost) {
		return result
	}
	return p.endProduct(ctx, j, doc, made, result)
}

// isBuiltIn reports whether an analytic is one of the platform's own, and not
// one of the same name created after it was deleted.
func (p *Platform) isBuiltIn(ctx context.Context, id string) (builtIn bool) {
	p.store.Read(ctx, func(tx *store.Tx) error {
		doc, err := tx.Get(analytics.plural, id)
		image := localImage + store.Text(doc, "name") + ":" + store.Text(doc, "version")
		builtIn = err == nil && store.Text(doc, "algorithm.docker_image") == image
		return err
	})
	return builtIn
}

func (p *Platform) beginProduct(ctx context.Context, j job) (doc store.Doc, err error) {
	err = p.store.Write(ctx, func(tx *store.Tx) error {
		if err := checkJob(tx, j); err != nil {
			return err
		}
		if doc, err = tx.Get(products.plural, j.id); err != nil {
			return err
		}
		message := "started"
		if doc["status"] != any(productPending) {
			message = "started again: the process that ran it ended"
		}
		doc["status"] = productRunning
		doc["start_date"] = date(p.options.Now())
		if err := p.addLog(tx, j.id, "info", message, nil); err != nil {
			return err
		}
		return tx.Replace(products.plural, doc)
	})
	return doc, err
}

// orderOf returns what a program may use.
func (p *Platform) orderOf(ctx context.Context, j job, doc store.Doc) *analytic.Order {
	inputs, _ := doc["inputs"].(map[string]any)
	parameters, _ := doc["parameters"].(map[string]any)
	return &analytic.Order{
		Inputs: inputs, Parameters: parameters,
		Wanted: func(name string) bool {
			wanted, _ := doc["deliverables"].(map[string]any)
			_, ok := wanted[name]
			return ok
		},
		Images: func(ctx context.Context, mission string) ([]analytic.Image, error) {
			return p.imagesOf(ctx, store.Doc{"mission": mission, "type": "image", "ingestion.status": ingestionCompleted})
		},
		Log: func(level, message string, fields map[string]any) error {
			return p.store.Write(ctx, func(tx *store.Tx) error {
				if err := checkJob(tx, j); err != nil {
					return err
				}
				return p.addLog(tx, j.id, level, message, fields)
			})
		},
	}
}

// imagesOf lists the image datasets that a filter matches and that have a file.
func (p *Platform) imagesOf(ctx context.Context, filter store.Doc) (images []analytic.Image, err error) {
	err = p.store.Read(ctx, func(tx *store.Tx) error {
		docs, err := tx.All(datasets.plural, filter)
		for _, doc := range docs {
			id := store.Text(doc, "_id")
			s, err := bytesOf(tx, id, "image")
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
			if err != nil {
				return err
			}
			images = append(images, analytic.Image{
				Dataset: id, Name: store.Text(doc, "name"), Filename: s.filename, Size: s.size, Checksum: s.checksum,
				Open: func() (io.ReadSeekCloser, error) { return p.blobs.Open(s.blob) },
			})
		}
		return err
	})
	return images, err
}

func (p *Platform) removeBlobs(blobs []blob.Blob) {
	for _, b := range blobs {
		p.blobs.Remove(b.ID)
	}
}

// endProduct stores the status and all deliverables of a product in one
// transaction.
func (p *Platform) endProduct(ctx context.Context, j job, doc store.Doc, made []analytic.Deliverable, result error) (err error) {
	var kept []blob.Blob
	defer func() {
		if err != nil {
			p.removeBlobs(kept)
		}
	}()
	for _, d := range made {
		for _, f := range d.Files {
			b, err := p.blobs.Put(blob.NewID(), bytes.NewReader(f.Content), "")
			if err != nil {
				return err
			}
			kept = append(kept, b)
		}
	}
	return p.store.Write(ctx, func(tx *store.Tx) error {
		if err := finishJob(tx, j); err != nil {
			return err
		}
		current, err := tx.Get(products.plural, j.id)
		if err != nil {
			return err
		}
		blobs := kept
		deliverables, _ := current["deliverables"].(map[string]any)
		outputs := []any{}
		for _, d := range made {
			id, err := p.keepDeliverable(tx, doc, d, blobs[:len(d.Files)])
			if err != nil {
				return err
			}
			blobs = blobs[len(d.Files):]
			deliverables[d.Name] = id
			outputs = append(outputs, id)
		}
		level, message := "info", "available"
		current["status"], current["outputs"] = productAvailable, outputs
		if result != nil {
			level, message = "error", result.Error()
			current["status"], current["error"] = productFailed, store.Doc{"message": message}
			if errors.Is(result, analytic.ErrRejected) {
				current["status"] = productRejected
			}
		}
		current["end_date"] = date(p.options.Now())
		if err := p.addLog(tx, j.id, level, message, map[string]any{"status": current["status"]}); err != nil {
			return err
		}
		return tx.Replace(products.plural, current)
	})
}

// keepDeliverable creates the dataset of a deliverable, with its files.
func (p *Platform) keepDeliverable(tx *store.Tx, product store.Doc, d analytic.Deliverable, blobs []blob.Blob) (string, error) {
	id := p.ids.Next(p.options.Now())
	properties := store.Doc{}
	maps.Copy(properties, d.Properties)
	properties["product"], properties["deliverable"] = product["_id"], d.Name
	properties["analytic"], properties["analytic_version"] = product["analytic_name"], product["analytic_version"]
	components := []any{}
	var size int64
	for i, f := range d.Files {
		c, err := keepBytes(tx, id, f.Component, f.Filename, blobs[i])
		if err != nil {
			return "", err
		}
		components = append(components, c)
		size += blobs[i].Size
	}
	doc := store.Doc{
		"_id": id, "name": d.Title, "type": d.Type, "company": product["company"],
		"categories": []any{}, "hidden": false, "published": false, "size": size,
		"properties": properties, "components": components,
		"source":        store.Doc{"name": "analytics", "product": product["_id"]},
		"ingestion":     store.Doc{"status": ingestionCompleted},
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
	return id, tx.Insert(datasets.plural, doc)
}
