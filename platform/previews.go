package platform

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/draw"
	"io/fs"
	"net/http"
	"slices"

	"transect/client/formats"
	"transect/client/formats/raster"
	"transect/platform/internal/blob"
	"transect/platform/internal/store"
)

// Previews. After the ingestion of a dataset, and the tiles of a raster, a job draws its preview
// (makePreview), a component hidden from clients. When there is none, preview.error says why.

// preview is the name of the hidden component with the preview of a dataset.
const preview = ".preview"

// hiddenComponents lists the names that clients cannot use.
var hiddenComponents = []string{overviews, preview}

// dropPreview removes the preview of a dataset whose files changed.
func (t tx) dropPreview(doc store.Doc) {
	delete(doc, "preview")
	t.exec("DELETE FROM components WHERE dataset = ? AND component = ?", doc["_id"], preview)
}

// awaitPreview schedules drawing the preview of a dataset.
func (t tx) awaitPreview(doc store.Doc) {
	if t.under != nil {
		return // an overlay's previews are not shown
	}
	doc["preview"] = store.Doc{"status": statusPending}
	t.exec("INSERT INTO jobs (id, kind) VALUES (?, ?)", doc["_id"], previewJob)
}

// makePreview draws the preview of a dataset.
func (p *Platform) makePreview(ctx context.Context, j job) {
	p.storePreview(ctx, j.id, j.exhausted("drawing it"), func(t tx) { t.finish(j) })
}

// storePreview draws and stores the preview of a dataset, or the reason why there is none. It calls with in
// the same transaction.
func (p *Platform) storePreview(ctx context.Context, id string, failed error, with func(tx)) {
	var doc store.Doc
	var files []stored
	check(p.read(ctx, func(t tx) {
		doc = t.load(datasets, id)
		files, _ = t.filesOf(doc)
	}))
	var blobs []blob.Blob
	if failed == nil {
		var encoded []byte
		failed = recovered(func() { encoded = must(p.drawPreview(ctx, doc, files)) })
		check(context.Cause(ctx))
		if _, disk := errors.AsType[*fs.PathError](failed); disk {
			check(failed) // retried
		}
		p.logDefect(failed, "dataset", id)
		if failed == nil {
			blobs = []blob.Blob{must(p.blobs.Put(blob.NewID(), bytes.NewReader(encoded), ""))}
		}
	}
	p.checkKept(p.write(ctx, func(t tx) {
		with(t)
		doc := t.load(datasets, id) // may have changed meanwhile
		if now, _ := t.filesOf(doc); !slices.Equal(now, files) {
			return // another job is due; the sweep removes what was drawn
		}
		doc["preview"] = store.Doc{"status": statusAvailable}
		if failed != nil {
			doc["preview"] = failedFor(failed)
		} else {
			t.keepBytes(id, preview, preview, blobs[0])
		}
		t.replace(datasets, doc)
	}), blobs...)
}

// drawPreview draws the preview of a dataset.
func (p *Platform) drawPreview(ctx context.Context, doc store.Doc, files []stored) ([]byte, error) {
	if len(files) == 0 {
		return nil, errors.New("its files were not uploaded yet")
	}
	side := formats.PreviewSides["small"]
	var drawn image.Image
	var done bool
	if store.Text(doc, "type") == "raster" {
		var tiles stored
		check(p.read(ctx, func(t tx) { tiles, done = t.bytesOf(store.Text(doc, "_id"), overviews) }))
		if done {
			check(p.useRaster(files[0], tiles, func(r *raster.Raster) (err error) {
				drawn, err = r.Overview(side)
				return err
			}))
		}
	}
	if !done {
		c, err := p.openContent(doc, files)
		if err != nil {
			return nil, err
		}
		defer c.close()
		if drawn, err = formats.Picture(ctx, c.main, side, c.sidecars...); err != nil {
			return nil, err
		}
	}
	if store.Text(doc, "type") == "image" { // a photo has no transparent parts
		opaque := image.NewRGBA(drawn.Bounds())
		draw.Draw(opaque, opaque.Rect, image.White, image.Point{}, draw.Src)
		draw.Draw(opaque, opaque.Rect, drawn, drawn.Bounds().Min, draw.Over)
		drawn = opaque
	}
	return formats.Encode(drawn)
}

// downloadPreview sends a small picture of a dataset, drawing it first if needed.
func downloadPreview(w http.ResponseWriter, r *Request) {
	id, kind := r.text("dataset"), cmp.Or(r.text("kind"), "small")
	var doc store.Doc
	var s stored
	find := func() (ok bool) {
		r.read(func() {
			doc = r.get(datasets, id)
			s, ok = r.bytesOf(id, preview)
		})
		if store.Text(doc, "preview.status") == statusFailed {
			panic(fail(http.StatusNotFound, "NoPreview", "dataset %s has no preview: %s", id,
				store.Text(doc, "preview.error.message")))
		}
		return ok
	}
	if !find() {
		if collection := collectionOf(doc); collection != "" {
			sendPreview(w, r, r.drawCollection(collection), kind, "")
			return
		}
		_, err, _ := r.p.drawing.Do(id, func() (any, error) {
			return nil, recovered(func() { r.p.storeNow(id, doc) })
		})
		check(err)
		if !find() {
			panic(fail(http.StatusNotFound, "NoPreview", "dataset %s has no preview: its files are being replaced", id))
		}
	}
	f := must(r.p.blobs.Open(s.blob))
	defer f.Close()
	var b bytes.Buffer
	must(b.ReadFrom(f))
	sendPreview(w, r, b.Bytes(), kind, s.checksum)
}

// storeNow draws and stores the preview of a dataset for a request. The end of the request does not cancel
// it, as others may wait for the same preview.
func (p *Platform) storeNow(id string, doc store.Doc) {
	if !allCompleted(doc) {
		panic(fail(http.StatusNotFound, "NoPreview", "dataset %s has no preview: its files were not uploaded yet", id))
	}
	p.storePreview(p.closing, id, nil, func(t tx) { t.exec("DELETE FROM jobs WHERE id = ? AND kind = ?", id, previewJob) })
}

// sendPreview sends a stored preview, scaled down if requested.
func sendPreview(w http.ResponseWriter, r *Request, encoded []byte, kind, tag string) {
	m, _, err := image.Decode(bytes.NewReader(encoded))
	check(err)
	if small := formats.Shrink(m, formats.PreviewSides[kind]); small != m {
		encoded = must(formats.Encode(small))
	}
	contentType, extension := http.DetectContentType(encoded), "jpg"
	if contentType == "image/png" {
		extension = "png"
	}
	sendFile(w, r, bytes.NewReader(encoded), contentType, "preview-"+kind+"."+extension, tag+"-"+kind)
}

// maxDrawnFeatures limits the features of a collection in a preview.
const maxDrawnFeatures = 20_000

// collectionOf returns the collection that a vector dataset shows, or "" for a file.
func collectionOf(doc store.Doc) string {
	for _, c := range listOf(doc, "components") {
		if id, ok := store.Lookup(c.(map[string]any), "collection.id").(string); ok {
			return id
		}
	}
	return ""
}

// drawCollection draws the features of a collection. The result is not stored: features change at any time.
func (r *Request) drawCollection(collection string) []byte {
	shown := []any{}
	r.read(func() {
		for _, f := range must(r.All(features.plural, store.Query{Filter: store.Doc{"collection": collection},
			Fields: store.Projection{Include: []string{"geometry"}}, Limit: maxDrawnFeatures})) {
			shown = append(shown, store.Doc{"type": "Feature", "geometry": f["geometry"]})
		}
	})
	text := must(json.Marshal(store.Doc{"type": "FeatureCollection", "features": shown}))
	drawn, err := formats.Picture(r.http.Context(), formats.File{Name: "features.geojson", Data: bytes.NewReader(text),
		Size: int64(len(text))}, formats.PreviewSides["small"])
	if err != nil {
		panic(fail(http.StatusNotFound, "NoPreview", "collection %s has no preview: %s", collection, errorText(err)))
	}
	return must(formats.Encode(drawn))
}
