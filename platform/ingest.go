package platform

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"transect/client/fault"
	"transect/client/imagery"
	"transect/platform/store"
)

// guarded turns a panic into an error.
func guarded(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return f()
}

// ingest reads what was uploaded to a dataset and completes its description.
func (p *Platform) ingest(ctx context.Context, j job) error {
	var doc store.Doc
	var files []stored
	// Its status says running since it is due, so there is nothing to write yet.
	err := p.store.Read(ctx, func(tx *store.Tx) (err error) {
		if doc, err = tx.Get(datasets.plural, j.id); err != nil {
			return err
		}
		list, _ := doc["components"].([]any)
		for _, v := range list {
			name, _ := v.(map[string]any)["name"].(string)
			s, err := bytesOf(tx, j.id, name)
			if err != nil {
				return err
			}
			files = append(files, s)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if delay := p.options.IngestDelay; delay > 0 {
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	found, problem := p.examine(doc, files, j)
	return p.store.Write(ctx, func(tx *store.Tx) error {
		if err := p.done(tx, j); err != nil {
			return err
		}
		// It may have been renamed or moved in the meantime.
		doc, err := tx.Get(datasets.plural, j.id)
		if err != nil {
			return err
		}
		p.ingested(doc, found, problem)
		return tx.Replace(datasets.plural, doc)
	})
}

// ingested notes in a dataset what was found in its files, under dotted keys,
// or what is wrong with them.
func (p *Platform) ingested(doc, found store.Doc, problem string) {
	for key, value := range found {
		if store.Lookup(doc, key) == nil {
			store.Set(doc, key, value)
		}
	}
	store.Set(doc, "ingestion.status", ingestionCompleted)
	if object, ok := doc["ingestion"].(map[string]any); ok {
		delete(object, "error")
	}
	if problem != "" {
		store.Set(doc, "ingestion.status", ingestionFailed)
		store.Set(doc, "ingestion.error", store.Doc{"message": problem})
	}
	store.Set(doc, "ingestion.date", date(p.options.Now()))
}

// examine reads the files of a dataset. It returns what they say of it, under
// dotted keys, or what is wrong with them.
func (p *Platform) examine(doc store.Doc, files []stored, j job) (found store.Doc, problem string) {
	if j.attempt > maxAttempts {
		return nil, "the ingestion broke off too often"
	}
	var size int64
	for _, s := range files {
		size += s.size
		if s.size == 0 {
			return nil, fmt.Sprintf("%s is empty", s.filename)
		}
	}
	found = store.Doc{"size": size}
	err := guarded(func() error {
		for i, s := range files {
			f, err := p.blobs.Open(s.blob)
			if err != nil {
				return err
			}
			defer f.Close()
			if doc["type"] == any("image") {
				photo, err := imagery.ReadFrom(f, s.size)
				if err != nil {
					return err
				}
				describePhoto(found, photo, doc)
				continue
			}
			if err := sniff(doc, i, s, f); err != nil {
				return err
			}
		}
		return nil
	})
	return found, problemOf(err)
}

// problemOf is how a dataset tells what went wrong; "" when nothing did.
func problemOf(err error) string {
	if err == nil {
		return ""
	}
	if f := fault.Find(err); f != nil {
		return f.Facts().Message
	}
	return err.Error()
}

// describePhoto notes what a photo says of itself, as far as its dataset wants
// that read.
func describePhoto(found store.Doc, photo imagery.Photo, dataset store.Doc) {
	found["width"], found["height"] = photo.Width, photo.Height
	if store.Lookup(dataset, "ingestion.parameters.parse_metadata") == any(false) {
		return
	}
	if photo.HasPosition {
		position := []any{photo.Longitude, photo.Latitude}
		if photo.Altitude != nil {
			position = append(position, *photo.Altitude)
		}
		found["geometry"] = store.Doc{"type": "Point", "coordinates": position}
	}
	if !photo.Acquired.IsZero() {
		found["acquisition_date"] = date(photo.Acquired)
	}
	sensor := store.Doc{}
	if photo.Make != "" {
		sensor["make"] = photo.Make
	}
	if photo.Model != "" {
		sensor["model"] = photo.Model
	}
	if len(sensor) > 0 {
		found["sensor"] = sensor
	}
	found["format"] = string(photo.Format)
}
