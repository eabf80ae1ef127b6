package platform

import (
	"errors"
	"io"
	"net/http"

	"transect/platform/blob"
	"transect/platform/store"
)

// storagePrefix is the path of the signed storage addresses.
const storagePrefix = "storage/uploads/"

func storageRoutes() []route {
	return []route{{
		method: "PUT", path: storagePrefix + "{upload}/{part}", open: true, stream: putPart,
	}}
}

// putPart receives a part, or a whole file, at its signed address.
func putPart(w http.ResponseWriter, r *Request) error {
	part, checksum, err := r.checkSignature()
	if err != nil {
		return err
	}
	var u upload
	if err := r.read(func() (err error) {
		u, err = r.uploadByID(r.path("upload"))
		return err
	}); err != nil {
		return err
	}
	if err := r.receive(u, part, checksum); err != nil {
		return err
	}
	w.Header().Set("ETag", `"`+checksum+`"`)
	w.WriteHeader(http.StatusOK)
	return nil
}

// uploadPart receives a part through the platform.
func uploadPart(w http.ResponseWriter, r *Request) error {
	var u upload
	var part int64
	if err := r.read(func() (err error) {
		u, part, err = r.partUpload(false)
		return err
	}); err != nil {
		return err
	}
	if err := r.receive(u, part, r.checksum()); err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, store.Doc{"part_number": part})
	return nil
}

// uploadWhole receives the bytes of a component through the platform. The
// upload begins and is complete once they are here: one that breaks off
// replaces nothing, and of several the last to arrive wins.
func uploadWhole(w http.ResponseWriter, r *Request) error {
	u := r.newUpload()
	if err := r.read(func() error {
		_, _, err := r.componentOf(u.dataset, u.component)
		return err
	}); err != nil {
		return err
	}
	u.id, u.direct, u.complete = blob.NewID(), false, true
	b, err := r.p.blobs.Put(u.id, r.http.Body, u.checksum)
	if err != nil {
		return uploadError(err)
	}
	same := false
	err = r.write(func() error {
		doc, c, err := r.componentOf(u.dataset, u.component)
		if err != nil {
			return err
		}
		same = c["status"] == any(componentCompleted) && c["checksum"] == any(b.MD5) && c["filename"] == any(u.filename) &&
			store.Lookup(doc, "ingestion.status") != any(ingestionFailed)
		if same {
			return nil // a client repeats what it got no answer to
		}
		if err := r.insertUpload(u); err != nil {
			return err
		}
		return r.keepWhole(u, b, doc, c)
	})
	if err != nil || same {
		r.p.blobs.Remove(b.ID)
	}
	if err == nil {
		writeJSON(w, http.StatusOK, completed(u))
	}
	return err
}

// receive streams the body of a request into the blob of an upload. The part
// counts when its size and checksum are right.
func (r *Request) receive(u upload, part int64, checksum string) error {
	if u.complete { // a client repeats what it got no answer to
		_, err := io.Copy(io.Discard, r.http.Body)
		return err
	}
	var b blob.Blob
	var err error
	if u.multipart() {
		b, err = r.receivePart(u, part, checksum)
	} else {
		b, err = r.p.blobs.Put(u.id, r.http.Body, checksum)
	}
	if err != nil {
		return uploadError(err)
	}
	if err := r.write(func() error { return r.keepPart(u, part, b) }); err != nil {
		return errors.Join(err, r.removeUnused(u))
	}
	return nil
}

func (r *Request) receivePart(u upload, part int64, checksum string) (blob.Blob, error) {
	want := u.partSize(part)
	if length := r.http.ContentLength; length >= 0 && length != want {
		return blob.Blob{}, wrongSize(part, length, want)
	}
	b, err := r.p.blobs.PutPart(u.id, (part-1)*u.chunk, want, r.http.Body)
	switch {
	case errors.Is(err, blob.ErrTooLong):
		err = invalid("part %d must have %d bytes and has more", part, want)
	case err == nil && b.Size != want:
		err = wrongSize(part, b.Size, want)
	case err == nil && b.MD5 != checksum:
		err = &blob.ChecksumError{Got: b.MD5, Want: checksum}
	}
	return b, err
}

// removeUnused removes the blob of an upload that was replaced while its bytes
// came, unless it was complete by then.
func (r *Request) removeUnused(u upload) error {
	used := true
	if err := r.read(func() error {
		return r.tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM uploads WHERE id = ?1) OR
			EXISTS (SELECT 1 FROM components WHERE dataset = ?2 AND component = ?3 AND blob = ?1)`,
			u.id, u.dataset, u.component).Scan(&used)
	}); err != nil || used {
		return err
	}
	return r.p.blobs.Remove(u.id)
}

// uploadError is the answer to bytes that could not be stored.
func uploadError(err error) error {
	if wrong := (*blob.ChecksumError)(nil); errors.As(err, &wrong) {
		return fail(http.StatusBadRequest, "BadDigest", "%s", wrong)
	}
	return err
}

func wrongSize(part, got, want int64) error {
	return invalid("part %d must have %d bytes, not %d", part, want, got)
}
