package platform

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path"
	"strconv"
	"strings"

	"transect/platform/analytic"
	"transect/platform/blob"
	"transect/platform/store"
)

// createMissionArchive creates the dataset that will hold the images of a
// mission in one ZIP file, or in several of at most chunk_size bytes of images.
func createMissionArchive(r *Request) any {
	mission, name := r.text("mission"), r.text("name")
	chunk := r.integer("chunk_size", 0, 1, 1<<50)
	doc := r.get(missions, mission)
	if name == "" {
		name = store.Text(doc, "name") + " images"
	}
	archive := store.Doc{
		"name": name, "type": "file", "company": doc["company"], "project": doc["project"], "mission": mission,
		"categories": []any{}, "hidden": false, "published": false, "components": []any{},
		"properties": store.Doc{"archive_of": mission, "chunk_size": chunk},
		"source":     store.Doc{"name": "project-manager"},
		"ingestion":  store.Doc{"status": statusPending},
	}
	r.create(datasets, archive)
	r.enqueue(archiveJob, store.Text(archive, "_id"))
	return store.Doc{"request": "accepted", "dataset": archive["_id"]}
}

// archive writes the ZIP files of a mission's archive.
func (p *Platform) archive(ctx context.Context, j job) {
	var doc store.Doc
	check(p.read(ctx, func(t tx) { doc = t.load(datasets, j.id) }))
	images := must(p.imagesOf(ctx, store.Doc{"mission": store.Text(doc, "mission"), "type": "image"}))
	reason := errors.New("the mission has no images")
	if err := j.exhausted("the archive"); err != nil {
		images, reason = nil, err
	}
	limit := int64(0)
	if n, ok := store.Lookup(doc, "properties.chunk_size").(json.Number); ok {
		limit, _ = n.Int64()
	}
	var blobs []blob.Blob
	for len(images) > 0 {
		n, size := 0, int64(0)
		for n < len(images) && (n == 0 || limit == 0 || size+images[n].Size <= limit) {
			size += images[n].Size
			n++
		}
		b, err := p.zip(ctx, images[:n])
		p.checkKept(err, blobs...)
		blobs, images = append(blobs, b), images[n:]
	}
	p.checkKept(p.write(ctx, func(t tx) {
		t.finish(j)
		doc := t.load(datasets, j.id)
		components := []any{}
		for i, b := range blobs {
			name := "archive"
			if len(blobs) > 1 {
				name += "_" + strconv.Itoa(i)
			}
			components = append(components, t.keepBytes(j.id, name, name+".zip", b))
		}
		doc["components"] = components
		store.Set(doc, "ingestion.status", statusCompleted)
		if len(blobs) == 0 {
			store.Set(doc, "ingestion.status", statusFailed)
			store.Set(doc, "ingestion.error", store.Doc{"message": reason.Error()})
		}
		t.replace(datasets, doc)
	}), blobs...)
}

// zip writes files into one archive, uncompressed: photos do not get smaller.
func (p *Platform) zip(ctx context.Context, images []analytic.Image) (blob.Blob, error) {
	reader, writer := io.Pipe()
	defer reader.Close()
	go func() {
		archive := zip.NewWriter(writer)
		names := map[string]int{}
		var err error
		for _, image := range images {
			if err = ctx.Err(); err == nil {
				err = addToZip(archive, entryName(image.Filename, names), image)
			}
			if err != nil {
				break
			}
		}
		writer.CloseWithError(errors.Join(err, archive.Close()))
	}()
	return p.blobs.Put(blob.NewID(), reader, "")
}

func addToZip(archive *zip.Writer, name string, image analytic.Image) error {
	f, err := image.Open()
	if err != nil {
		return err
	}
	defer f.Close()
	w, err := archive.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
	if err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return err
}

// entryName returns a unique name for a file in an archive, without the folders
// that a client may have sent with it.
func entryName(filename string, names map[string]int) string {
	name := path.Base(strings.ReplaceAll(filename, `\`, "/"))
	names[name]++
	if n := names[name]; n > 1 {
		ext := path.Ext(name)
		name = strings.TrimSuffix(name, ext) + "_" + strconv.Itoa(n) + ext
	}
	return name
}
