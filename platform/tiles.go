package platform

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/paulmach/orb"

	"transect/client/formats"
	"transect/client/formats/raster"
	"transect/client/geojson"
	"transect/platform/internal/blob"
	"transect/platform/internal/store"
)

// Map tiles of rasters. The ingestion of a raster determines its position, or why it has no tiles
// (tiles.error); then a job writes its overviews (makeTiles), a component hidden from clients. tileserver.go
// draws the tiles.

// tileFormat is the format of all tiles.
const tileFormat = "png"

// overviews is the name of the hidden component with the overviews of a raster.
const overviews = ".overviews"

// describeRaster adds the metadata of a raster file, and the state of its tiles.
func (p *Platform) describeRaster(ctx context.Context, found, doc store.Doc, file formats.File) {
	r, format, err := p.openPositioned(ctx, file, store.Text(doc, "_id"))
	if err != nil {
		found["tiles"], found["ingestion.warning"] = failedFor(err), store.Doc{"message": errorText(err)}
		return
	}
	e := r.Extent()
	found["width"], found["height"], found["format"] = e.Width, e.Height, format
	if e.System != nil {
		found["horizontal_srs_wkt"] = e.System.WKT()
	}
	if e.Outline == nil {
		found["tiles"], found["ingestion.warning"] = failedFor(e.Reason), store.Doc{"message": errorText(e.Reason)}
		return
	}
	found["geometry"] = must(store.Decode(geojson.Text(orb.Polygon{e.Outline})))
	found["resolution"] = e.GroundResolution
	found["tiles"] = store.Doc{"format": tileFormat, "status": statusPending}
	if err := r.Undrawn(); err != nil {
		found["tiles"] = failedFor(err)
	}
}

// tileMemory limits the decoded pixels kept for tiles, in bytes.
const tileMemory = 64 << 20

// useRaster calls f with a raster and its overviews.
func (p *Platform) useRaster(file, overviews stored, f func(*raster.Raster) error) error {
	data := must(p.blobs.Open(file.blob))
	defer data.Close()
	further := must(p.blobs.Open(overviews.blob))
	defer further.Close()
	r := must(raster.OpenWith(p.tilePixels, file.blob+" "+overviews.blob, data, file.size))
	check(r.UseOverviews(further, overviews.size))
	return f(r)
}

// maxSidecar limits the size of a sidecar file, in bytes; GDAL's may hold tables.
const maxSidecar = 64 << 20

// openPositioned opens the file of a raster with its sidecar components, and returns its format as datasets name
// it. A raster without a reference system gets the dataset's.
func (p *Platform) openPositioned(ctx context.Context, file formats.File, dataset string) (r *raster.Raster,
	format string, err error) {
	var given string
	var components []stored
	check(p.read(ctx, func(t tx) {
		given = store.Text(t.load(datasets, dataset), "horizontal_srs_wkt")
		for _, name := range []string{"worldfile", "projection", "header"} {
			if s, ok := t.bytesOf(dataset, name); ok && s.size <= maxSidecar {
				if name == "projection" { // whatever its name
					s.filename = "projection.prj"
				}
				components = append(components, s)
			}
		}
	}))
	var sidecars []formats.File
	for _, s := range components {
		f := must(p.blobs.Open(s.blob))
		defer f.Close()
		sidecars = append(sidecars, formats.File{Name: s.filename, Data: f, Size: s.size})
	}
	sidecars = append(sidecars, formats.File{Name: "given.prj", Data: strings.NewReader(given), Size: int64(len(given))})
	return formats.OpenRaster(ctx, file, sidecars...)
}

// failedFor returns the state of tiles or a preview that cannot be made.
func failedFor(why error) store.Doc {
	return store.Doc{"status": statusFailed, "error": store.Doc{"message": errorText(why)}}
}

// awaitTiles schedules making the tiles of a raster from its new file.
func (t tx) awaitTiles(doc store.Doc, found store.Doc) (due bool) {
	id := store.Text(doc, "_id")
	delete(doc, "tiles") // of the previous file
	t.exec("DELETE FROM components WHERE dataset = ? AND component = ?", id, overviews)
	if found["tiles"] == nil {
		return false
	}
	doc["tiles"] = found["tiles"]
	if t.under != nil {
		doc["tiles"] = store.Doc{"format": tileFormat, "status": statusAvailable}
	}
	if store.Text(doc, "tiles.status") != statusPending {
		return false
	}
	t.exec("INSERT INTO jobs (id, kind) VALUES (?, ?)", id, tilesJob)
	return true
}

// makeTiles writes the overviews of a raster.
func (p *Platform) makeTiles(ctx context.Context, j job) {
	var s stored
	check(p.read(ctx, func(t tx) { s, _ = t.bytesOf(j.id, "raster") }))
	written, err := p.writeOverviews(ctx, s, j)
	check(context.Cause(ctx))
	if _, full := errors.AsType[*fs.PathError](err); full {
		check(err) // an error of the disk, not of the raster: retried
	}
	p.checkKept(p.write(ctx, func(t tx) {
		t.finish(j)
		doc := t.load(datasets, j.id) // may have changed meanwhile
		doc["tiles"] = store.Doc{"format": tileFormat, "status": statusAvailable}
		if err != nil {
			doc["tiles"] = failedFor(err)
		} else {
			t.keepBytes(j.id, overviews, overviews, written)
		}
		t.dropPreview(doc)
		if _, slow := errors.AsType[slowTiles](err); slow { // its preview would be slow, too
			doc["preview"] = failedFor(err)
		} else {
			t.awaitPreview(doc)
		}
		t.replace(datasets, doc)
	}), written)
	p.workers.wake()
}

// slowTiles is the error of tiles that exceed a time limit.
type slowTiles time.Duration

func (limit slowTiles) Error() string {
	return fmt.Sprintf("making its tiles takes longer than %v", time.Duration(limit))
}

// writeOverviews writes the overviews of a raster file to a blob.
func (p *Platform) writeOverviews(ctx context.Context, s stored, j job) (overviews blob.Blob, err error) {
	if err := j.exhausted("making the tiles"); err != nil {
		return overviews, err
	}
	f := must(p.blobs.Open(s.blob))
	defer f.Close()
	r, _, err := p.openPositioned(ctx, formats.File{Name: s.filename, Data: f, Size: s.size}, j.id)
	if err != nil {
		return overviews, err
	}
	limit := p.maxTime(s.size)
	limited, cancel := context.WithTimeoutCause(ctx, limit, slowTiles(limit))
	defer cancel()
	return p.blobs.Make(blob.NewID(), func(to *os.File) error { return r.WriteOverviews(limited, to) })
}
