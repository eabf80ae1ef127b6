package platform

import (
	"context"
	"errors"
	"fmt"
	"time"

	"transect/client/fault"
	"transect/client/imagery"
	"transect/platform/store"
)

// ingest reads what was uploaded to a dataset and completes its description.
func (p *Platform) ingest(ctx context.Context, j job) error {
	var doc store.Doc
	var files []stored
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
	select {
	case <-time.After(p.options.IngestDelay):
	case <-ctx.Done():
		return ctx.Err()
	}
	found, problem := p.inspect(doc, files, j)
	return p.store.Write(ctx, func(tx *store.Tx) error {
		if err := finishJob(tx, j); err != nil {
			return err
		}
		doc, err := tx.Get(datasets.plural, j.id) // it may have been changed meanwhile
		if err != nil {
			return err
		}
		for key, value := range found {
			if store.Lookup(doc, key) == nil {
				store.Set(doc, key, value)
			}
		}
		store.Set(doc, "ingestion.status", ingestionCompleted)
		if problem != nil {
			store.Set(doc, "ingestion.status", ingestionFailed)
			store.Set(doc, "ingestion.error", store.Doc{"message": errorText(problem)})
		}
		store.Set(doc, "ingestion.date", date(p.options.Now()))
		return tx.Replace(datasets.plural, doc)
	})
}

// inspect reads the files of a dataset. It returns what they say of it, under
// dotted keys, and what is wrong with them.
func (p *Platform) inspect(doc store.Doc, files []stored, j job) (found store.Doc, problem error) {
	if j.attempt > maxAttempts {
		return nil, fmt.Errorf("the ingestion failed %d times without a result", maxAttempts)
	}
	var size int64
	for _, s := range files {
		size += s.size
	}
	found = store.Doc{"size": size}
	for i, s := range files {
		err := recovered(func() error { return p.inspectFile(found, doc, i, s) })
		if e := (*panicError)(nil); errors.As(err, &e) {
			p.logPanic(err, "dataset", store.Text(doc, "_id"), "file", s.filename)
			err = fmt.Errorf("%s could not be read: %w", s.filename, err)
		}
		if err != nil {
			return found, err
		}
	}
	return found, nil
}

// inspectFile reads one file of a dataset.
func (p *Platform) inspectFile(found, doc store.Doc, index int, s stored) error {
	if s.size == 0 {
		return fmt.Errorf("%s is empty", s.filename)
	}
	f, err := p.blobs.Open(s.blob)
	if err != nil {
		return err
	}
	defer f.Close()
	if doc["type"] != any("image") {
		return sniff(doc, index, s, f)
	}
	photo, err := imagery.ReadFrom(f, s.size)
	if err == nil {
		describePhoto(found, photo, doc)
	}
	return err
}

// describePhoto adds the metadata of a photo, unless its dataset says not to
// parse it.
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

// errorText is how a dataset tells what went wrong with it.
func errorText(err error) string {
	if f := fault.Find(err); f != nil {
		return f.Facts().Message
	}
	return err.Error()
}
