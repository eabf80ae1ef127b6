package platform

import (
	"errors"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"

	"transect/client/schema"
	"transect/platform/internal/blob"
	"transect/platform/internal/store"
)

// Uploads. A whole file or a multipart upload begins with a row in the table "uploads" (this file), receives
// its bytes at signed storage addresses or at upload-part (storage.go), and ends with a complete request that
// makes the blob the file of the component (completeUpload). upload-component does all of it in one request.

// Limits of uploads, in bytes and parts.
const (
	minChunk       = 5 << 20
	maxChunk       = 5 << 30
	maxLegacyChunk = 50 << 20
	maxParts       = 10_000
)

func uploadRoutes() []route {
	target := fields{{Name: "dataset", Type: "id"}, {Name: "component", Type: "word"}}
	sent := append(slices.Clone(target), schema.Param{Name: "checksum", Type: "md5"})
	file := append(slices.Clone(sent), schema.Param{Name: "filename", Type: "word"})
	part := append(slices.Clone(sent), schema.Param{Name: "part_number", Type: "integer|string"}) // text in a query
	multipart := append(slices.Clone(file), schema.Param{Name: "total_size", Type: "integer|string"},
		schema.Param{Name: "chunk_size", Type: "integer|string"},
		schema.Param{Name: "direct_upload", Type: "boolean", Optional: true})
	return []route{
		{method: "POST", path: "data-manager/init-upload-component", args: file, writes: true, handle: initUpload},
		{method: "POST", path: "data-manager/complete-upload-component", args: target, stream: completeUpload(false)},
		{method: "POST", path: "data-manager/create-multipart-upload", args: multipart,
			writes: true, handle: createMultipart},
		{method: "POST", path: "data-manager/get-upload-part-url", args: part, handle: partAddress},
		{method: "POST", path: "data-manager/complete-multipart-upload", args: target, stream: completeUpload(true)},
		{method: "POST", path: "data-manager/upload-component", args: file, query: true, stream: uploadWhole},
		{method: "POST", path: "data-manager/upload-part", args: part, query: true, stream: uploadPart},
	}
}

// upload is the latest upload to a component. Its id is also its blob's.
type upload struct {
	id, dataset, component, filename, checksum string
	chunk                                      int64 // size of the parts; 0 for a whole file
	size                                       int64 // -1 for a whole file
	parts                                      int64
	direct                                     bool // parts go to signed storage addresses
	complete                                   bool
}

func (u upload) multipart() bool { return u.chunk > 0 }

// partSize returns the size of a part of a multipart upload, in bytes.
func (u upload) partSize(part int64) int64 {
	if part < u.parts {
		return u.chunk
	}
	return u.size - u.chunk*(u.parts-1)
}

// newUpload returns the upload of a whole file that a request describes.
func (r *Request) newUpload() upload {
	return upload{dataset: r.text("dataset"), component: r.text("component"), filename: r.text("filename"),
		checksum: r.checksum(), size: -1, parts: 1, direct: true}
}

func (r *Request) checksum() string { return strings.ToLower(r.text("checksum")) }

// initUpload begins the upload of a whole file.
func initUpload(r *Request) any {
	u := r.newUpload()
	r.startUpload(&u)
	return r.signedPut(u, 1, u.checksum)
}

// createMultipart begins an upload in parts.
func createMultipart(r *Request) any {
	u := r.newUpload()
	u.direct, _ = r.body["direct_upload"].(bool)
	largest := int64(maxChunk)
	if !u.direct {
		largest = maxLegacyChunk
	}
	u.size = r.integer("total_size", 0, 1, maxParts*largest)
	u.chunk = r.integer("chunk_size", 0, minChunk, largest)
	u.parts = (u.size + u.chunk - 1) / u.chunk
	if u.parts > maxParts {
		panic(invalid("chunk_size: gives %d parts; the limit is %d", u.parts, maxParts))
	}
	r.startUpload(&u)
	return store.Doc{"dataset": u.dataset, "component": u.component, "total_parts": u.parts}
}

// partAddress signs the storage address of one part.
func partAddress(r *Request) any {
	u, part := r.partUpload(true)
	return r.signedPut(u, part, r.checksum())
}

// partUpload returns the upload and the number of the part that a request is about.
func (r *Request) partUpload(direct bool) (u upload, part int64) {
	switch u = r.componentUpload(); {
	case !u.multipart():
		panic(conflict("the upload to this component is not in parts"))
	case u.complete: // a part of another upload must not get lost
		panic(conflict("the upload to this component is complete; start another one"))
	case u.direct && !direct:
		panic(conflict("the upload was started with direct_upload: its parts go to signed addresses"))
	case !u.direct && direct:
		panic(conflict("the upload was started without direct_upload: its parts go to upload-part"))
	}
	return u, r.integer("part_number", 0, 1, u.parts)
}

// startUpload replaces the upload to a component, if there is one, with u.
func (r *Request) startUpload(u *upload) {
	r.componentOf(u.dataset, u.component)
	u.id = blob.NewID()
	r.insertUpload(*u)
}

// insertUpload stores u as the upload to its component, and drops the previous one with the bytes received so
// far.
func (r *Request) insertUpload(u upload) {
	if before, ok := r.findUpload("dataset = ? AND component = ?", u.dataset, u.component); ok {
		r.dropUpload(before)
	}
	r.exec("INSERT INTO uploads ("+uploadColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		u.id, u.dataset, u.component, u.filename, u.checksum, u.chunk, u.size, u.parts, u.direct, u.complete)
}

func (r *Request) dropUpload(u upload) {
	if !u.complete {
		r.afterwards(func() { r.p.blobs.Remove(u.id) })
		r.exec("DELETE FROM parts WHERE upload = ?", u.id)
	}
	r.exec("DELETE FROM uploads WHERE id = ?", u.id)
}

const uploadColumns = "id, dataset, component, filename, checksum, chunk_size, total_size, total_parts, direct, " +
	"complete"

func (r *Request) findUpload(where string, args ...any) (u upload, ok bool) {
	ok = found(r.QueryRow("SELECT "+uploadColumns+" FROM uploads WHERE "+where, args...).Scan(
		&u.id, &u.dataset, &u.component, &u.filename, &u.checksum, &u.chunk, &u.size, &u.parts, &u.direct, &u.complete))
	return u, ok
}

func (r *Request) needUpload(where string, args ...any) upload {
	u, ok := r.findUpload(where, args...)
	if !ok {
		panic(conflict("there is no upload to this component, or a later one replaced it"))
	}
	return u
}

// componentUpload returns the latest upload to the component that a request is about.
func (r *Request) componentUpload() upload {
	dataset, component := r.text("dataset"), r.text("component")
	r.componentOf(dataset, component)
	return r.needUpload("dataset = ? AND component = ?", dataset, component)
}

// partsOf returns the received parts by number, from 1. All parts of an upload are in one blob; a whole file
// is part 1.
func (r *Request) partsOf(u upload) map[int64]blob.Blob {
	parts := map[int64]blob.Blob{}
	for row := range r.rows("SELECT number, blob, size, checksum FROM parts WHERE upload = ?", u.id) {
		var number int64
		var b blob.Blob
		check(row.Scan(&number, &b.ID, &b.Size, &b.MD5))
		parts[number] = b
	}
	return parts
}

// keepPart records a received part, unless the upload is complete.
func (r *Request) keepPart(u upload, part int64, b blob.Blob) {
	if !r.needUpload("id = ?", u.id).complete {
		r.exec("INSERT OR REPLACE INTO parts (upload, number, blob, size, checksum) VALUES (?, ?, ?, ?, ?)",
			u.id, part, b.ID, b.Size, b.MD5)
	}
}

// completeUpload returns the handler that ends the upload of a whole file or of parts. It can be repeated, as
// clients do when they get no response. It opens transactions of its own, as reading the parts together may
// take long.
func completeUpload(multipart bool) streamer {
	return func(w http.ResponseWriter, r *Request) {
		var u upload
		var parts map[int64]blob.Blob
		r.read(func() {
			u = r.componentUpload()
			parts = r.partsOf(u)
		})
		switch {
		case u.multipart() && !multipart:
			panic(conflict("the upload to this component is in parts: complete-multipart-upload ends it"))
		case !u.multipart() && multipart:
			panic(conflict("the upload to this component is not in parts: complete-upload-component ends it"))
		}
		if !u.complete {
			whole := r.assemble(u, parts)
			r.write(func() { r.finishUpload(u, whole) })
		}
		writeJSON(w, http.StatusOK, completed(u))
	}
}

// completed returns the response to a complete upload.
func completed(u upload) store.Doc {
	return store.Doc{"dataset": u.dataset, "component": u.component, "status": statusCompleted}
}

// assemble returns the blob of an upload once all parts are here and have, together, the right checksum.
func (r *Request) assemble(u upload, parts map[int64]blob.Blob) blob.Blob {
	var missing []int64
	for number := int64(1); number <= u.parts; number++ {
		if _, ok := parts[number]; !ok {
			missing = append(missing, number)
		}
	}
	if missing != nil {
		f := fail(http.StatusBadRequest, "MissingParts", "%d of %d parts are missing", len(missing), u.parts)
		f.Details = store.Doc{"missing": missing}
		panic(f)
	}
	if !u.multipart() {
		return parts[1] // its checksum was verified on arrival
	}
	whole, err := r.p.blobs.Sum(u.id)
	switch {
	case errors.Is(err, os.ErrNotExist):
		panic(conflict("a later upload to this component replaced this one"))
	case err == nil && whole.MD5 != u.checksum:
		panic(fail(http.StatusBadRequest, "BadDigest", "the parts together have the MD5 %s, expected %s", whole.MD5,
			u.checksum))
	}
	check(err)
	return whole
}

// finishUpload marks an upload as complete and makes its blob the component's file.
func (r *Request) finishUpload(u upload, whole blob.Blob) {
	if r.needUpload("id = ?", u.id).complete {
		return // another request completed it meanwhile
	}
	r.exec("DELETE FROM parts WHERE upload = ?", u.id)
	r.exec("UPDATE uploads SET complete = 1 WHERE id = ?", u.id)
	doc, c := r.componentOf(u.dataset, u.component)
	r.keepWhole(u, whole, doc, c)
}

// keepWhole makes a blob the file of a component. The last component of a dataset triggers its ingestion.
func (r *Request) keepWhole(u upload, whole blob.Blob, doc, c store.Doc) {
	if old, ok := r.bytesOf(u.dataset, u.component); ok {
		r.afterwards(func() { r.p.blobs.Remove(old.blob) })
	}
	maps.Copy(c, r.keepBytes(u.dataset, u.component, u.filename, whole))
	if allCompleted(doc) {
		store.Set(doc, "ingestion.status", statusRunning)
		delete(objectOf(doc, "ingestion"), "error")
		r.enqueue(ingestionJob, u.dataset)
	}
	r.save(datasets, doc)
}

// keepBytes makes a blob the file of a component, and returns the component's description in the dataset.
func (t tx) keepBytes(dataset, component, filename string, b blob.Blob) store.Doc {
	t.exec(`INSERT OR REPLACE INTO components (dataset, component, blob, size, checksum, filename)
		VALUES (?, ?, ?, ?, ?, ?)`, dataset, component, b.ID, b.Size, b.MD5, filename)
	return store.Doc{"name": component, "status": statusCompleted, "filename": filename, "size": b.Size, "checksum": b.MD5}
}

// stored is the file of a component.
type stored struct {
	blob, checksum, filename string
	size                     int64
}

// bytesOf returns the file of a component, or false when it is not uploaded yet.
func (t tx) bytesOf(dataset, component string) (s stored, ok bool) {
	ok = found(t.QueryRow("SELECT blob, checksum, filename, size FROM components WHERE dataset = ? AND component = ?",
		dataset, component).Scan(&s.blob, &s.checksum, &s.filename, &s.size))
	return s, ok
}

func allCompleted(dataset store.Doc) bool {
	return !slices.ContainsFunc(listOf(dataset, "components"), func(v any) bool {
		return store.Text(v.(map[string]any), "status") != statusCompleted
	})
}
