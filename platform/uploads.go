package platform

import (
	"slices"
	"strings"

	"transect/client/schema"
	"transect/platform/blob"
	"transect/platform/store"
)

// Uploads. A whole file or a multipart upload begins with a row in the table
// "uploads" (this file), receives its bytes at signed storage addresses or at
// upload-part (storage.go), and ends with a complete request that makes the blob
// the bytes of the component (complete.go). upload-component does all of it in
// one request.

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
		schema.Param{Name: "chunk_size", Type: "integer|string"}, schema.Param{Name: "direct_upload", Type: "boolean", Optional: true})
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

// upload is the latest upload to a component. Its ID is that of its blob, too.
type upload struct {
	id, dataset, component, filename, checksum string
	chunk                                      int64 // size of the parts; 0 for a whole file
	size                                       int64 // -1 for a whole file
	parts                                      int64
	direct                                     bool // parts go to signed storage addresses
	complete                                   bool
}

func (u upload) multipart() bool { return u.chunk > 0 }

// partSize returns how many bytes a part of a multipart upload has.
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

// insertUpload stores u as the upload to its component, and drops the one before
// it with the bytes received so far.
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

const uploadColumns = "id, dataset, component, filename, checksum, chunk_size, total_size, total_parts, direct, complete"

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

// partsOf returns the parts that were received, by their number from 1. All
// parts of an upload are in one blob; a whole file is part 1.
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

// keepPart stores that a part was received, unless the upload is complete.
func (r *Request) keepPart(u upload, part int64, b blob.Blob) {
	if !r.needUpload("id = ?", u.id).complete {
		r.exec("INSERT OR REPLACE INTO parts (upload, number, blob, size, checksum) VALUES (?, ?, ?, ?, ?)",
			u.id, part, b.ID, b.Size, b.MD5)
	}
}
