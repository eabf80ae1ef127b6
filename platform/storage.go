package platform

import (
	"database/sql"
	"errors"
	"io"
	"net/http"

	"transect/platform/blob"
)

// storagePrefix is where the signed addresses lie.
const storagePrefix = "storage/uploads/"

func storageRoutes() []route {
	return []route{{
		method: "PUT", path: storagePrefix + "{upload}/{part}", open: true, stream: putPart,
	}}
}

// putPart takes the bytes of one part at its signed address.
func putPart(w http.ResponseWriter, r *Request) error {
	g, err := r.granted()
	if err != nil {
		return err
	}
	if g.whole != nil {
		err = r.receiveWhole(*g.whole, r.keepPiece)
	} else {
		var u upload
		if err = r.read(func() (err error) {
			u, err = r.uploadByID(g.upload)
			return err
		}); err == nil {
			err = r.receivePart(u, g.part, g.checksum)
		}
	}
	if err != nil {
		return err
	}
	w.Header().Set("ETag", `"`+g.checksum+`"`)
	w.WriteHeader(http.StatusOK)
	return nil
}

// receiveWhole streams the body of a request into an upload in one piece. What
// does not have the checksum is dropped again. keep notes it, and returns the
// blob that is of no use any more.
func (r *Request) receiveWhole(u upload, keep func(upload, blob.Blob) (string, error)) error {
	var seen *look
	b, err := r.p.blobs.Receive(r.http.Body, -1, func(data []byte) {
		if u.photo {
			found := lookAt(data)
			seen = &found
		}
	})
	if err != nil {
		return err
	}
	kept := false
	defer func() {
		if !kept {
			r.p.looked.drop(b.ID)
			r.p.blobs.Remove(b.ID)
		}
	}()
	if b.MD5 != u.checksum {
		return badDigest(b.MD5, u.checksum)
	}
	if seen != nil {
		r.p.looked.keep(b.ID, *seen)
	}
	var replaced string
	err = r.write(func() (err error) {
		replaced, err = keep(u, b)
		return err
	})
	if err != nil {
		return err
	}
	kept = true
	if replaced != "" {
		r.p.looked.drop(replaced)
		r.p.blobs.Remove(replaced)
	}
	return nil
}

// receivePart streams the body of a request to the part's place in the file of
// an upload. It counts only with the size and the checksum announced.
func (r *Request) receivePart(u upload, part int64, checksum string) error {
	if u.complete {
		// The client did not hear that it was complete and sends again.
		_, err := io.Copy(io.Discard, r.http.Body)
		return err
	}
	offset, want := (part-1)*u.chunk, u.partSize(part)
	if length := r.http.ContentLength; length >= 0 && length != want {
		return wrongSize(part, length, want)
	}
	b, err := r.p.blobs.Place(u.id, offset, want, r.http.Body)
	switch {
	case errors.Is(err, blob.ErrTooLong):
		return invalid("part %d has more than the %d bytes it should have", part, want)
	case err != nil:
		return err
	case b.Size != want:
		return wrongSize(part, b.Size, want)
	case b.MD5 != checksum:
		return badDigest(b.MD5, checksum)
	}
	if err := r.write(func() error {
		_, err := r.keepPart(u.id, part, b)
		return err
	}); err != nil {
		return errors.Join(err, r.dropUnused(u))
	}
	r.p.blobs.Placed(u.id, offset, want)
	return nil
}

// dropUnused removes the file of an upload when another one took its place
// while a part came, unless it was complete by then.
func (r *Request) dropUnused(u upload) error {
	used := true
	err := r.read(func() error {
		_, err := r.uploadByID(u.id)
		var gone *failure
		if !errors.As(err, &gone) {
			return err
		}
		now, err := r.bytesOf(u.dataset, u.component)
		if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		used = now.blob == u.id
		return err
	})
	if err == nil && !used {
		err = r.p.blobs.Remove(u.id)
	}
	return err
}

func badDigest(got, announced string) error {
	return fail(http.StatusBadRequest, "BadDigest", "the bytes have the MD5 %s, announced was %s", got, announced)
}

func wrongSize(part, got, want int64) error {
	return invalid("part %d must have %d bytes, not %d", part, want, got)
}
