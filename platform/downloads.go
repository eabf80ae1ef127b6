package platform

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image/jpeg"
	"io"
	"maps"
	"mime"
	"net/http"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"transect/client/formats"
	"transect/client/schema"
	"transect/platform/internal/analytic"
	"transect/platform/internal/blob"
	"transect/platform/internal/store"
)

func downloadRoutes() []route {
	dataset := schema.Param{Name: "dataset", Type: "id"}
	kind := schema.Param{Name: "kind", Type: "string", Choices: slices.Sorted(maps.Keys(formats.PreviewSides)),
		Optional: true}
	return []route{
		{method: "GET", path: "data-manager/download-component", args: fields{dataset, {Name: "component", Type: "word"}},
			stream: downloadComponent},
		{method: "GET", path: "data-manager/download-image-as-jpeg", args: fields{dataset}, stream: downloadJPEG},
		{method: "GET", path: "data-manager/download-preview", args: fields{dataset, kind}, stream: downloadPreview},
	}
}

// maxSide is the longest side of a JPEG image, in pixels.
const maxSide = 1<<16 - 1

// downloadComponent sends the file of a component, or a range of it.
func downloadComponent(w http.ResponseWriter, r *Request) {
	s := r.storedFile(r.text("dataset"), r.text("component"))
	f := must(r.p.blobs.Open(s.blob))
	defer f.Close()
	sendFile(w, r, f, "application/octet-stream", s.filename, s.checksum)
}

// sendFile sends content as an attachment.
func sendFile(w http.ResponseWriter, r *Request, content io.ReadSeeker, contentType, filename, tag string) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Disposition", disposition(filename))
	h.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r.http, "", time.Time{}, content)
}

// storedFile returns the file of a component.
func (r *Request) storedFile(dataset, component string) (s stored) {
	r.read(func() {
		var ok bool
		r.componentOf(dataset, component)
		if s, ok = r.bytesOf(dataset, component); !ok {
			panic(fail(http.StatusNotFound, "ResourceNotFound", "the component %q of dataset %s was not uploaded yet", component,
				dataset))
		}
	})
	return s
}

// disposition returns a Content-Disposition header, with the name percent-encoded
// when it is not plain.
func disposition(filename string) string {
	if value := mime.FormatMediaType("attachment", map[string]string{"filename": filename}); value != "" {
		// Some clients do not accept Go's lower-case charset.
		return strings.Replace(value, "filename*=utf-8''", "filename*=UTF-8''", 1)
	}
	return "attachment"
}

// downloadJPEG sends the file of an image dataset as JPEG.
func downloadJPEG(w http.ResponseWriter, r *Request) {
	dataset := r.text("dataset")
	r.read(func() {
		if doc := r.get(datasets, dataset); doc["type"] != any("image") {
			panic(fail(http.StatusNotFound, "NoPicture", "dataset %s is not an image", dataset))
		}
	})
	s := r.storedFile(dataset, "image")
	f := must(r.p.blobs.Open(s.blob))
	defer f.Close()
	filename := strings.TrimSuffix(s.filename, filepath.Ext(s.filename)) + ".jpg"
	file := formats.File{Name: s.filename, Data: f, Size: s.size}
	if content := must(formats.Recognise(file)); content.Format == "jpeg" {
		sendFile(w, r, f, "image/jpeg", filename, s.checksum)
		return
	}
	picture, err := formats.Picture(r.http.Context(), file, maxSide)
	if err != nil {
		panic(fail(http.StatusNotFound, "NoPicture", "the file of dataset %s cannot be shown as JPEG: %s", dataset,
			errorText(err)))
	}
	var b bytes.Buffer
	check(jpeg.Encode(&b, picture, &jpeg.Options{Quality: 90}))
	sendFile(w, r, bytes.NewReader(b.Bytes()), "image/jpeg", filename, s.checksum+"-jpeg")
}

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
