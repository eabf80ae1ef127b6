package platform

import (
	"archive/zip"
	"context"
	"errors"
	"io"
	"path"
	"strconv"
	"strings"

	"transect/platform/blob"
	"transect/platform/store"
)

// createMissionArchive makes the dataset that will hold the images of a mission
// in one ZIP file, or in several of at most chunk_size bytes of images.
func createMissionArchive(r *Request) (any, error) {
	a := r.args()
	mission, name := a.id("mission"), a.optText("name")
	chunk := a.integer("chunk_size", 0, 1, 1<<50)
	if a.err != nil {
		return nil, a.err
	}
	doc, err := r.get(missions, mission)
	if err != nil {
		return nil, err
	}
	if name == "" {
		name = store.Text(doc, "name") + " images"
	}
	archive := store.Doc{
		"name": name, "type": "file", "company": doc["company"], "project": doc["project"], "mission": mission,
		"categories": []any{}, "hidden": false, "published": false, "components": []any{},
		"properties": store.Doc{"archive_of": mission, "chunk_size": chunk},
		"source":     store.Doc{"name": "project-manager"},
		"ingestion":  store.Doc{"status": ingestionPending},
	}
	if err := r.create(datasets, archive); err != nil {
		return nil, err
	}
	r.afterwards(r.p.workers.wake)
	return store.Doc{"request": "accepted", "dataset": archive["_id"]}, enqueue(r.tx, archiveJob, store.Text(archive, "_id"))
}

// archive writes the ZIP files of a mission's archive.
func (p *Platform) archive(ctx context.Context, j job) (err error) {
	var doc store.Doc
	if err := p.store.Read(ctx, func(tx *store.Tx) (err error) {
		doc, err = tx.Get(datasets.plural, j.id)
		return err
	}); err != nil {
		return err
	}
	files, err := p.imageFiles(ctx, store.Text(doc, "mission"))
	if err != nil {
		return err
	}
	limit, _ := strconv.ParseInt(textOf(store.Lookup(doc, "properties.chunk_size")), 10, 64)
	var blobs []blob.Blob
	defer func() {
		if err != nil {
			for _, b := range blobs {
				p.blobs.Remove(b.ID)
			}
		}
	}()
	for rest := files; len(rest) > 0; {
		n, size := 0, int64(0)
		for n < len(rest) && (n == 0 || limit == 0 || size+rest[n].size <= limit) {
			size += rest[n].size
			n++
		}
		b, err := p.zip(ctx, rest[:n])
		if err != nil {
			return err
		}
		blobs, rest = append(blobs, b), rest[n:]
	}
	return p.store.Write(ctx, func(tx *store.Tx) error {
		if err := p.finishJob(tx, j); err != nil {
			return err
		}
		doc, err := tx.Get(datasets.plural, j.id)
		if err != nil {
			return err
		}
		components := []any{}
		for i, b := range blobs {
			name := "archive"
			if len(blobs) > 1 {
				name += "_" + itoa(i)
			}
			if err := keepBytes(tx, j.id, name, name+".zip", b); err != nil {
				return err
			}
			components = append(components, store.Doc{"name": name, "status": componentCompleted,
				"filename": name + ".zip", "size": b.Size, "checksum": b.MD5})
		}
		doc["components"] = components
		store.Set(doc, "ingestion.status", ingestionCompleted)
		if len(blobs) == 0 {
			store.Set(doc, "ingestion.status", ingestionFailed)
			store.Set(doc, "ingestion.error", store.Doc{"message": "the mission has no images"})
		}
		return tx.Replace(datasets.plural, doc)
	})
}

// imageFiles lists the files of a mission's images.
func (p *Platform) imageFiles(ctx context.Context, mission string) (files []stored, err error) {
	err = p.store.Read(ctx, func(tx *store.Tx) error {
		docs, err := tx.All(datasets.plural, store.Doc{"mission": mission, "type": "image"})
		for _, doc := range docs {
			s, fileErr := bytesOf(tx, store.Text(doc, "_id"), "image")
			if fileErr == nil {
				files = append(files, s)
			}
		}
		return err
	})
	return files, err
}

// zip writes files into one archive, uncompressed: photos do not get smaller.
func (p *Platform) zip(ctx context.Context, files []stored) (blob.Blob, error) {
	reader, writer := io.Pipe()
	go func() {
		archive := zip.NewWriter(writer)
		names := map[string]int{}
		var err error
		for _, s := range files {
			if err = ctx.Err(); err == nil {
				err = p.zipOne(archive, entryName(s.filename, names), s)
			}
			if err != nil {
				break
			}
		}
		writer.CloseWithError(errors.Join(err, archive.Close()))
	}()
	defer reader.Close()
	return p.blobs.Put(blob.NewID(), reader, "")
}

func (p *Platform) zipOne(archive *zip.Writer, name string, s stored) error {
	f, err := p.blobs.Open(s.blob)
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

// entryName gives a name for inside an archive: without folders, as it came
// from outside, and unlike the others.
func entryName(filename string, names map[string]int) string {
	name := path.Base(strings.ReplaceAll(filename, `\`, "/"))
	names[name]++
	if n := names[name]; n > 1 {
		ext := path.Ext(name)
		name = strings.TrimSuffix(name, ext) + "_" + itoa(n) + ext
	}
	return name
}

func textOf(v any) string {
	if s, ok := v.(interface{ String() string }); ok {
		return s.String()
	}
	return ""
}
