package platform

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"transect/client/fault"
	"transect/client/imagery"
	"transect/platform/store"
)

// crash is a panic as an error: one sentence for users, all there is to know
// for the log.
type crash struct {
	cause any
	stack []byte
}

func (c *crash) Error() string { return "the platform met a fault of its own; its log tells more" }

// LogValue is what the log says of it.
func (c *crash) LogValue() slog.Value {
	return slog.StringValue(fmt.Sprintf("panic: %v\n%s", c.cause, c.stack))
}

// guarded turns a panic into an error.
func guarded(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &crash{v, debug.Stack()}
		}
	}()
	return f()
}

// logCrash notes a panic, if an error is one, in the platform's log.
func (p *Platform) logCrash(err error, where ...any) {
	var c *crash
	if errors.As(err, &c) {
		p.log.Error("the platform met a fault of its own", append(where, "error", c)...)
	}
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
	found, wrong := p.examine(doc, files, j)
	return p.store.Write(ctx, func(tx *store.Tx) error {
		if err := p.done(tx, j); err != nil {
			return err
		}
		// It may have been renamed or moved in the meantime.
		doc, err := tx.Get(datasets.plural, j.id)
		if err != nil {
			return err
		}
		p.ingested(doc, found, wrong)
		return tx.Replace(datasets.plural, doc)
	})
}

// ingested notes in a dataset what was found in its files, under dotted keys,
// or what is wrong with them.
func (p *Platform) ingested(doc, found store.Doc, wrong problem) {
	for key, value := range found {
		if store.Lookup(doc, key) == nil {
			store.Set(doc, key, value)
		}
	}
	store.Set(doc, "ingestion.status", ingestionCompleted)
	if object, ok := doc["ingestion"].(map[string]any); ok {
		delete(object, "error")
	}
	if message := wrong.message(doc); message != "" {
		store.Set(doc, "ingestion.status", ingestionFailed)
		store.Set(doc, "ingestion.error", store.Doc{"message": message})
		p.logCrash(wrong.err, "dataset", store.Text(doc, "_id"), "file", wrong.of(doc))
	}
	store.Set(doc, "ingestion.date", date(p.options.Now()))
}

// examine reads the files of a dataset. It returns what they say of it, under
// dotted keys, or what is wrong with them.
func (p *Platform) examine(doc store.Doc, files []stored, j job) (found store.Doc, wrong problem) {
	if j.attempt > maxAttempts {
		return nil, problemOf(errors.New("the ingestion broke off too often"))
	}
	var size int64
	for _, s := range files {
		size += s.size
		if s.size == 0 {
			return nil, problemOf(fmt.Errorf("%s is empty", s.filename))
		}
	}
	found = store.Doc{"size": size}
	wrong.err = guarded(func() error {
		for i, s := range files {
			wrong.file = s.filename
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
	return found, wrong
}

// problem is what went wrong with a dataset, and with which of its files, as
// far as that is known.
type problem struct {
	file string
	err  error
}

func problemOf(err error) problem { return problem{err: err} }

// message is how a dataset tells of it; "" when nothing went wrong.
func (w problem) message(doc store.Doc) string {
	if w.err == nil {
		return ""
	}
	if c := (*crash)(nil); errors.As(w.err, &c) {
		return fmt.Sprintf("%s could not be read: %s", w.of(doc), c)
	}
	if f := fault.Find(w.err); f != nil {
		return f.Facts().Message
	}
	return w.err.Error()
}

// of names the file: the only one of the dataset when it was not said.
func (w problem) of(doc store.Doc) string {
	if w.file != "" {
		return w.file
	}
	if list, _ := doc["components"].([]any); len(list) == 1 {
		if c, _ := list[0].(map[string]any); c["filename"] != nil {
			return store.Text(c, "filename")
		}
	}
	return "a file of the dataset"
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
