package platform

import (
	"encoding/hex"
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
	return []route{
		write("data-manager/init-upload-component", initUpload),
		{method: "POST", path: "data-manager/complete-upload-component", stream: completeUpload(false)},
		write("data-manager/create-multipart-upload", createMultipart),
		read("data-manager/get-upload-part-url", partAddress),
		{method: "POST", path: "data-manager/complete-multipart-upload", stream: completeUpload(true)},
		{method: "POST", path: "data-manager/upload-component", stream: uploadWhole},
		{method: "POST", path: "data-manager/upload-part", stream: uploadPart},
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

// uploadArgs reads the arguments that all uploads begin with.
func uploadArgs(a *args) upload {
	return upload{dataset: a.id("dataset"), component: a.text("component"), filename: a.text("filename"),
		checksum: a.checksum("checksum"), size: -1, parts: 1, direct: true}
}

// initUpload begins the upload of a whole file.
func initUpload(r *Request) (any, error) {
	a := r.args()
	u := uploadArgs(a)
	if a.err != nil {
		return nil, a.err
	}
	if err := r.startUpload(&u); err != nil {
		return nil, err
	}
	return r.signedPut(u, 1, u.checksum), nil
}

// createMultipart begins an upload in parts.
func createMultipart(r *Request) (any, error) {
	a := r.args()
	u := uploadArgs(a)
	u.direct = a.boolean("direct_upload")
	a.need("total_size")
	a.need("chunk_size")
	largest := int64(maxChunk)
	if !u.direct {
		largest = maxLegacyChunk
	}
	u.size = a.integer("total_size", 0, 1, maxParts*largest)
	u.chunk = a.integer("chunk_size", 0, minChunk, largest)
	if a.err != nil {
		return nil, a.err
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
	u, part, checksum, err := r.partArgs(r.args(), true)
	if err != nil {
		return nil, err
	}
	return r.signedPut(u, part, checksum), nil
}

// partArgs reads which part a request is about, and finds its upload.
func (r *Request) partArgs(a *args, direct bool) (u upload, part int64, checksum string, err error) {
	dataset, component := a.id("dataset"), a.text("component")
	checksum = a.checksum("checksum")
	a.need("part_number")
	part = a.integer("part_number", 0, 1, maxParts)
	if a.err != nil {
		return u, part, checksum, a.err
	}
	if u, err = r.partUpload(dataset, component, direct); err == nil && part > u.parts {
		err = invalid("part_number: the upload has %d parts, not %d", u.parts, part)
	}
	return u, part, checksum, err
}

// partUpload returns the multipart upload to a component that takes parts.
func (r *Request) partUpload(dataset, component string, direct bool) (upload, error) {
	if _, _, err := r.componentOf(dataset, component); err != nil {
		return upload{}, err
	}
	u, err := r.uploadOf(dataset, component)
	switch {
	case err != nil:
		return u, err
	case !u.multipart():
		return u, conflict("the upload to this component is not in parts")
	case u.complete: // a part of another upload must not get lost
		return u, conflict("the upload to this component is complete; start another one")
	case u.direct && !direct:
		return u, conflict("the upload was started with direct_upload: its parts go to signed addresses")
	case !u.direct && direct:
		return u, conflict("the upload was started without direct_upload: its parts go to upload-part")
	}
	return u, nil
}

// checksum reads an MD5 in hexadecimal.
func (a *args) checksum(key string) string {
	s := strings.ToLower(a.text(key))
	if raw, err := hex.DecodeString(s); a.err == nil && (err != nil || len(raw) != 16) {
		a.wrong(key, "must be an MD5 of 32 hexadecimal digits")
	}
	return s
}
