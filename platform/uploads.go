package platform

import (
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"transect/platform/store"
)

// Rules of uploads, in bytes and parts.
const (
	minChunk       = 5 << 20
	maxChunk       = 5 << 30
	maxLegacyChunk = 50 << 20
	maxParts       = 10_000
)

func uploadRoutes() []route {
	return []route{
		read("data-manager/init-upload-component", initUpload),
		write("data-manager/complete-upload-component", completeWhole),
		write("data-manager/create-multipart-upload", createMultipart),
		read("data-manager/get-upload-part-url", partAddress),
		{method: "POST", path: "data-manager/complete-multipart-upload", stream: completeMultipart},
		{method: "POST", path: "data-manager/upload-component", prepare: announceWhole, stream: uploadWhole},
		{method: "POST", path: "data-manager/upload-part", stream: uploadPart},
	}
}

// upload is the last one to a component.
type upload struct {
	id, dataset, component, filename, checksum string
	chunk, size, parts                         int64
	direct, complete                           bool
	photo                                      bool // it is to be looked at as it comes
}

// partSize is how many bytes a part must have; -1 when that was not announced.
func (u upload) partSize(part int64) int64 {
	switch {
	case u.size < 0:
		return -1
	case part < u.parts:
		return u.chunk
	}
	return u.size - u.chunk*(u.parts-1)
}

// initUpload announces an upload in one piece. Nothing is written before its
// bytes come: the address says all there is to know, and is signed.
func initUpload(r *Request) (any, error) {
	a := r.args()
	u := upload{id: uploadID(time.Now()), dataset: a.id("dataset"), component: a.text("component"), filename: a.text("filename"),
		checksum: a.checksum("checksum"), size: -1, parts: 1, direct: true}
	if a.err != nil {
		return nil, a.err
	}
	doc, _, err := r.componentOf(u.dataset, u.component)
	if err != nil {
		return nil, err
	}
	u.photo = r.p.options.IngestDelay == 0 && isPhoto(doc)
	r.p.announced.add(u, r.p.options.AddressLife)
	return r.addressed(u, 1, u.checksum)
}

// createMultipart starts an upload in parts.
func createMultipart(r *Request) (any, error) {
	a := r.args()
	u := upload{dataset: a.id("dataset"), component: a.text("component"), filename: a.text("filename"),
		checksum: a.checksum("checksum"), direct: a.boolean("direct_upload")}
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
		return nil, invalid("chunk_size: gives %d parts; at most %d are taken", u.parts, maxParts)
	}
	if err := r.startUpload(&u); err != nil {
		return nil, err
	}
	return store.Doc{"dataset": u.dataset, "component": u.component, "total_parts": u.parts}, nil
}

// partAddress signs the address of one part.
func partAddress(r *Request) (any, error) {
	a := r.args()
	dataset, component := a.id("dataset"), a.text("component")
	checksum := a.checksum("checksum")
	a.need("part_number")
	part := a.integer("part_number", 0, 1, maxParts)
	if a.err != nil {
		return nil, a.err
	}
	u, err := r.multipartUpload(dataset, component, true)
	if err != nil {
		return nil, err
	}
	if part > u.parts {
		return nil, invalid("part_number: there are %d parts, not %d", u.parts, part)
	}
	return r.addressed(u, part, checksum)
}

func (r *Request) addressed(u upload, part int64, checksum string) (any, error) {
	address, headers, err := r.address(u, part, checksum)
	if err != nil {
		return nil, err
	}
	given := store.Doc{}
	for name, values := range headers {
		given[name] = values[0]
	}
	return store.Doc{"put_url": address, "headers": given}, nil
}

// announceWhole reads what an upload whose bytes come with it is for.
func announceWhole(r *Request) error {
	a := &args{doc: r.query()}
	r.upload = upload{dataset: a.id("dataset"), component: a.text("component"), filename: a.text("filename"),
		checksum: a.checksum("checksum"), size: -1, parts: 1}
	if a.err != nil {
		return a.err
	}
	doc, _, err := r.componentOf(r.upload.dataset, r.upload.component)
	r.upload.photo = r.p.options.IngestDelay == 0 && isPhoto(doc)
	return err
}

// uploadWhole takes a component's bytes in the request itself.
func uploadWhole(w http.ResponseWriter, r *Request) error {
	u := r.upload
	if err := r.receiveWhole(u, r.keepAtOnce); err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, completed(u))
	return nil
}

// uploadPart takes the bytes of a part in the request itself.
func uploadPart(w http.ResponseWriter, r *Request) error {
	a := &args{doc: r.query()}
	dataset, component := a.id("dataset"), a.text("component")
	checksum := a.checksum("checksum")
	a.need("part_number")
	part := a.integer("part_number", 0, 1, maxParts)
	if a.err != nil {
		return a.err
	}
	var u upload
	if err := r.read(func() (err error) {
		u, err = r.multipartUpload(dataset, component, false)
		return err
	}); err != nil {
		return err
	}
	if part > u.parts {
		return invalid("part_number: there are %d parts, not %d", u.parts, part)
	}
	if err := r.receivePart(u, part, checksum); err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, store.Doc{"part_number": part})
	return nil
}

// checksum reads an MD5 in hexadecimal.
func (a *args) checksum(key string) string {
	s := strings.ToLower(a.text(key))
	if raw, err := hex.DecodeString(s); a.err == nil && (err != nil || len(raw) != 16) {
		a.wrong(key, "must be an MD5 of 32 hexadecimal digits")
	}
	return s
}
