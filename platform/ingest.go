package platform

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"transect/client/fault"
	"transect/client/formats"
	"transect/client/formats/imagery"
	"transect/client/wait"
	"transect/platform/internal/store"
)

// ingest reads the uploaded files of a dataset and completes its description.
func (p *Platform) ingest(ctx context.Context, j job) {
	var doc store.Doc
	var files []stored
	check(p.read(ctx, func(t tx) {
		var ok bool
		doc = t.load(datasets, j.id)
		if files, ok = t.filesOf(doc); !ok {
			panic(fmt.Errorf("dataset %s: a completed component has no file", j.id))
		}
	}))
	check(wait.Sleep(ctx, p.options.IngestDelay))
	found, problem := p.inspect(ctx, doc, files, j)
	check(p.write(ctx, func(t tx) {
		t.finish(j)
		doc := t.load(datasets, j.id) // may have changed meanwhile
		t.dropPreview(doc)
		if tiles := t.awaitTiles(doc, found); problem == nil && !tiles { // the preview comes after them
			t.awaitPreview(doc)
		}
		delete(objectOf(doc, "ingestion"), "warning")
		for key, value := range found {
			if store.Lookup(doc, key) == nil {
				store.Set(doc, key, value)
			}
		}
		store.Set(doc, "ingestion.status", statusCompleted)
		if problem != nil {
			store.Set(doc, "ingestion.status", statusFailed)
			store.Set(doc, "ingestion.error", store.Doc{"message": errorText(problem)})
		}
		store.Set(doc, "ingestion.date", date(p.options.Now()))
		t.replace(datasets, doc)
	}))
	p.workers.wake() // for tiles and the preview
}

// inspect reads the files of a dataset. It returns their metadata under dotted keys, and the problem found in
// them.
func (p *Platform) inspect(ctx context.Context, doc store.Doc, files []stored, j job) (found store.Doc, problem error) {
	if err := j.exhausted("the ingestion"); err != nil {
		return nil, err
	}
	var size int64
	for _, s := range files {
		size += s.size
	}
	found = store.Doc{"size": size}
	if p.options.under != nil && slices.ContainsFunc(files, p.gone) {
		return found, nil
	}
	for i, s := range files {
		err := recovered(func() { check(p.inspectFile(ctx, found, doc, i, s)) })
		if _, defect := errors.AsType[*defectError](err); defect {
			p.logDefect(err, "dataset", store.Text(doc, "_id"), "file", s.filename)
			err = fmt.Errorf("%s could not be read: %w", s.filename, err)
		}
		if err != nil {
			return found, err
		}
	}
	p.describeContent(ctx, found, doc, files)
	check(context.Cause(ctx))
	return found, nil
}

// gone reports whether the file of an overlay is missing on disk: the script has removed it, or has yet to
// download it.
func (p *Platform) gone(s stored) bool {
	f, err := p.blobs.Open(s.blob)
	if err == nil {
		_ = f.Close()
	}
	return errors.Is(err, fs.ErrNotExist)
}

// inspectFile reads one file of a dataset.
func (p *Platform) inspectFile(ctx context.Context, found, doc store.Doc, index int, s stored) error {
	if s.size == 0 {
		return fmt.Errorf("%s is empty", s.filename)
	}
	f, err := p.blobs.Open(s.blob)
	if err != nil {
		return err
	}
	defer f.Close()
	switch kind := store.Text(doc, "type"); {
	case kind == "file":
		return nil
	case kind != "image":
		file := formats.File{Name: s.filename, Data: f, Size: s.size}
		if err := checkFormat(ctx, file, index > 0); err != nil {
			return err
		}
		if component := listOf(doc, "components")[index].(map[string]any); kind == "raster" &&
			store.Text(component, "name") == kind {
			p.describeRaster(ctx, found, doc, file)
		}
		return nil
	}
	photo, err := imagery.ReadFrom(f, s.size)
	if err == nil {
		describePhoto(found, photo, doc)
	}
	return err
}

// describePhoto adds the metadata of a photo, unless its dataset disables parsing.
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
	if outline := photo.Outline(); outline.Ring != nil && len(outline.Missing) == 0 {
		found["footprint"] = polygon(outline.Ring)
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

// polygon returns a ring as GeoJSON, rounded to a centimetre.
func polygon(ring [][2]float64) store.Doc {
	corners := make([]any, len(ring))
	for i, c := range ring {
		corners[i] = []any{math.Round(c[0]*1e7) / 1e7, math.Round(c[1]*1e7) / 1e7}
	}
	return store.Doc{"type": "Polygon", "coordinates": []any{corners}}
}

// maxErrorText limits the error text stored with a dataset, in bytes: the text may quote the file, and is
// part of every response about the dataset.
const maxErrorText = 1000

// errorText returns the error text to store with a dataset.
func errorText(err error) string {
	text := err.Error()
	if f := fault.Find(err); f != nil {
		text = f.Facts().Message
	}
	if len(text) > maxErrorText {
		text = strings.ToValidUTF8(text[:maxErrorText], "") + "…"
	}
	return text
}
