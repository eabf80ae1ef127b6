package platform

import (
	"errors"
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
	if err := r.receive(g.upload, g.part, g.size, g.checksum); err != nil {
		return err
	}
	w.Header().Set("ETag", `"`+g.checksum+`"`)
	w.WriteHeader(http.StatusOK)
	return nil
}

// receive streams the body of a request into a part of an upload. What does not
// have the size wanted (below zero: any) and the checksum is dropped again.
func (r *Request) receive(upload string, part, want int64, checksum string) (err error) {
	if length := r.http.ContentLength; want >= 0 && length >= 0 && length != want {
		return wrongSize(part, length, want)
	}
	b, err := r.p.blobs.Receive(r.http.Body, want)
	switch {
	case errors.Is(err, blob.ErrTooLong):
		return invalid("part %d has more than the %d bytes it should have", part, want)
	case err != nil:
		return err
	}
	kept := false
	defer func() {
		if !kept {
			r.p.blobs.Remove(b.ID)
		}
	}()
	if want >= 0 && b.Size != want {
		return wrongSize(part, b.Size, want)
	}
	if b.MD5 != checksum {
		return fail(http.StatusBadRequest, "BadDigest", "the bytes have the MD5 %s, announced was %s", b.MD5, checksum)
	}
	var replaced string
	err = r.write(func() (err error) {
		replaced, err = r.keepPart(upload, part, b)
		return err
	})
	if err != nil {
		return err
	}
	kept = true
	if replaced != "" {
		r.p.blobs.Remove(replaced)
	}
	return nil
}

func wrongSize(part, got, want int64) error {
	return invalid("part %d must have %d bytes, not %d", part, want, got)
}
