package platform

import (
	"maps"
	"strings"

	"transect/platform/store"
)

// Uploads. A whole file or a multipart upload begins with a row in the table
// "uploads" (this file, upload_table.go), receives its bytes at signed storage
// addresses or at upload-part (storage.go, signing.go), and ends with a complete
// request that makes the blob the bytes of the component (complete.go).
// upload-component does all of it in one request.

// Limits of uploads, in bytes and parts.
const (
	minChunk       = 5 << 20
	maxChunk       = 5 << 30
	maxLegacyChunk = 50 << 20
	maxParts       = 10_000
)

func uploadRoutes() []route {
	target := fields{"dataset": identifier, "component": word}
	file := fields{"dataset": identifier, "component": word, "filename": word, "checksum": md5Sum}
	part := fields{"dataset": identifier, "component": word, "checksum": md5Sum, "part_number": unchecked}
	multipart := fields{"total_size": unchecked, "chunk_size": unchecked, "direct_upload": flag}
	maps.Copy(multipart, file)
	return []route{
		{method: "POST", path: "data-manager/init-upload-component", args: file, writes: true, handle: initUpload},
		{method: "POST", path: "data-manager/complete-upload-component", args: target, stream: completeUpload(false)},
		{method: "POST", path: "data-manager/create-multipart-upload", args: multipart, optional: []string{"direct_upload"},
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
func initUpload(r *Request) (any, error) {
	u := r.newUpload()
	if err := r.startUpload(&u); err != nil {
		return nil, err
	}
	return r.signedPut(u, 1, u.checksum), nil
}

// createMultipart begins an upload in parts.
func createMultipart(r *Request) (any, error) {
	u := r.newUpload()
	u.direct, _ = r.body["direct_upload"].(bool)
	largest := int64(maxChunk)
	if !u.direct {
		largest = maxLegacyChunk
	}
	var err error
	if u.size, err = r.integer("total_size", 0, 1, maxParts*largest); err != nil {
		return nil, err
	}
	if u.chunk, err = r.integer("chunk_size", 0, minChunk, largest); err != nil {
		return nil, err
	}
	u.parts = (u.size + u.chunk - 1) / u.chunk
	if u.parts > maxParts {
		return nil, invalid("chunk_size: gives %d parts; the limit is %d", u.parts, maxParts)
	}
	if err := r.startUpload(&u); err != nil {
		return nil, err
	}
	return store.Doc{"dataset": u.dataset, "component": u.component, "total_parts": u.parts}, nil
}

// partAddress signs the storage address of one part.
func partAddress(r *Request) (any, error) {
	u, part, err := r.partUpload(true)
	if err != nil {
		return nil, err
	}
	return r.signedPut(u, part, r.checksum()), nil
}

// partUpload returns the upload and the number of the part that a request is about.
func (r *Request) partUpload(direct bool) (u upload, part int64, err error) {
	if _, _, err = r.componentOf(r.text("dataset"), r.text("component")); err != nil {
		return u, 0, err
	}
	if u, err = r.uploadOf(r.text("dataset"), r.text("component")); err != nil {
		return u, 0, err
	}
	switch {
	case !u.multipart():
		err = conflict("the upload to this component is not in parts")
	case u.complete: // a part of another upload must not get lost
		err = conflict("the upload to this component is complete; start another one")
	case u.direct && !direct:
		err = conflict("the upload was started with direct_upload: its parts go to signed addresses")
	case !u.direct && direct:
		err = conflict("the upload was started without direct_upload: its parts go to upload-part")
	default:
		part, err = r.integer("part_number", 0, 1, u.parts)
	}
	return u, part, err
}
