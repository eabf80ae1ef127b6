package platform

import (
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"

	"transect/platform/blob"
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
		write("data-manager/init-upload-component", initUpload),
		write("data-manager/complete-upload-component", completeWhole),
		write("data-manager/create-multipart-upload", createMultipart),
		read("data-manager/get-upload-part-url", partAddress),
		{method: "POST", path: "data-manager/complete-multipart-upload", stream: completeMultipart},
		{method: "POST", path: "data-manager/upload-component", stream: uploadWhole},
		{method: "POST", path: "data-manager/upload-part", stream: uploadPart},
	}
}

// upload is the last one to a component.
type upload struct {
	id, dataset, component, filename, checksum string
	chunk, size, parts                         int64
	direct, complete                           bool
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

// initUpload starts an upload in one piece.
func initUpload(r *Request) (any, error) {
	a := r.args()
	u := upload{dataset: a.id("dataset"), component: a.text("component"), filename: a.text("filename"),
		checksum: a.checksum("checksum"), size: -1, parts: 1, direct: true}
	if a.err != nil {
		return nil, a.err
	}
	if err := r.startUpload(&u); err != nil {
		return nil, err
	}
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
	if err := r.p.blobs.Begin(u.id); err != nil {
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

// uploadWhole takes a component's bytes in the request itself.
func uploadWhole(w http.ResponseWriter, r *Request) error {
	a := &args{doc: r.query()}
	u := upload{dataset: a.id("dataset"), component: a.text("component"), filename: a.text("filename"),
		checksum: a.checksum("checksum"), size: -1, parts: 1}
	if a.err != nil {
		return a.err
	}
	if err := r.write(func() error { return r.startUpload(&u) }); err != nil {
		return err
	}
	if err := r.receiveWhole(u.id, u.checksum); err != nil {
		return err
	}
	var answer any
	err := r.write(func() (err error) {
		answer, err = r.completeWhole(u.dataset, u.component)
		return err
	})
	if err == nil {
		writeJSON(w, http.StatusOK, answer)
	}
	return err
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

// startUpload keeps a new upload in the place of the last one to its component.
func (r *Request) startUpload(u *upload) error {
	if _, _, err := r.componentOf(u.dataset, u.component); err != nil {
		return err
	}
	if err := r.dropUpload(u.dataset, u.component); err != nil {
		return err
	}
	var b [16]byte
	rand.Read(b[:])
	u.id = hex.EncodeToString(b[:])
	return r.tx.Exec(`INSERT INTO uploads (id, dataset, component, filename, checksum, chunk_size, total_size, total_parts, direct)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, u.id, u.dataset, u.component, u.filename, u.checksum, u.chunk, u.size, u.parts, u.direct)
}

// dropUpload forgets an upload and what came of it so far.
func (r *Request) dropUpload(dataset, component string) error {
	u, err := r.uploadOf(dataset, component)
	var f *failure
	if errors.As(err, &f) {
		return nil
	}
	if err != nil {
		return err
	}
	if !u.complete {
		blobs, err := r.partsOf(u)
		if err != nil {
			return err
		}
		r.afterwards(func() {
			r.p.blobs.Remove(u.id) // the file of its parts, if any
			for _, id := range blobs {
				r.p.blobs.Remove(id)
			}
		})
		if err := r.tx.Exec("DELETE FROM parts WHERE upload = ?", u.id); err != nil {
			return err
		}
	}
	return r.tx.Exec("DELETE FROM uploads WHERE id = ?", u.id)
}

// partsOf gives the blobs of the parts that came.
func (r *Request) partsOf(u upload) (map[int64]string, error) {
	rows, err := r.tx.Query("SELECT number, blob FROM parts WHERE upload = ?", u.id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	blobs := map[int64]string{}
	for rows.Next() {
		var number int64
		var id string
		if err := rows.Scan(&number, &id); err != nil {
			return nil, err
		}
		blobs[number] = id
	}
	return blobs, rows.Err()
}

const uploadColumns = "id, dataset, component, filename, checksum, chunk_size, total_size, total_parts, direct, complete"

func scanUpload(row *sql.Row) (u upload, err error) {
	err = row.Scan(&u.id, &u.dataset, &u.component, &u.filename, &u.checksum, &u.chunk, &u.size, &u.parts, &u.direct, &u.complete)
	if errors.Is(err, sql.ErrNoRows) {
		err = replacedUpload()
	}
	return u, err
}

func replacedUpload() error {
	return conflict("no upload to this component was started, or another one took its place")
}

func (r *Request) uploadByID(id string) (upload, error) {
	return scanUpload(r.tx.QueryRow("SELECT "+uploadColumns+" FROM uploads WHERE id = ?", id))
}

func (r *Request) uploadOf(dataset, component string) (upload, error) {
	return scanUpload(r.tx.QueryRow("SELECT "+uploadColumns+" FROM uploads WHERE dataset = ? AND component = ?", dataset, component))
}

// multipartUpload returns an upload in parts that is under way.
func (r *Request) multipartUpload(dataset, component string, direct bool) (upload, error) {
	if _, _, err := r.componentOf(dataset, component); err != nil {
		return upload{}, err
	}
	u, err := r.uploadOf(dataset, component)
	switch {
	case err != nil:
		return u, err
	case u.chunk == 0:
		return u, conflict("the upload to this component is not in parts")
	case u.complete:
		// Parts of another upload must not vanish into one that is over.
		return u, conflict("the upload to this component is complete; start another one")
	case u.direct && !direct:
		return u, conflict("the upload was started with direct_upload: its parts go to signed addresses")
	case !u.direct && direct:
		return u, conflict("the upload was started without direct_upload: its parts go to upload-part")
	}
	return u, nil
}

// keepPart notes that a part came, and returns the blob it takes the place of.
func (r *Request) keepPart(upload string, part int64, b blob.Blob) (replaced string, err error) {
	u, err := r.uploadByID(upload)
	if err != nil {
		return "", err
	}
	if u.complete {
		// The client did not hear that it was complete and sends again.
		return b.ID, nil
	}
	err = r.tx.QueryRow("SELECT blob FROM parts WHERE upload = ? AND number = ?", upload, part).Scan(&replaced)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", err
	}
	return replaced, r.tx.Exec("INSERT OR REPLACE INTO parts (upload, number, blob, size, checksum) VALUES (?, ?, ?, ?, ?)",
		upload, part, b.ID, b.Size, b.MD5)
}
