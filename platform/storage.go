package platform

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"transect/platform/internal/blob"
	"transect/platform/internal/store"
)

// storagePrefix is the path of the signed storage addresses.
const storagePrefix = "storage/uploads/"

func storageRoutes() []route {
	return []route{{
		method: "PUT", path: storagePrefix + "{upload}/{part}", open: true, stream: putPart,
	}}
}

// putPart receives a part, or a whole file, at its signed address.
func putPart(w http.ResponseWriter, r *Request) {
	part, checksum := r.checkSignature()
	var u upload
	r.read(func() { u = r.needUpload("id = ?", r.path("upload")) })
	r.receive(u, part, checksum)
	w.Header().Set("ETag", `"`+checksum+`"`)
	w.WriteHeader(http.StatusOK)
}

// uploadPart receives a part through the platform.
func uploadPart(w http.ResponseWriter, r *Request) {
	var u upload
	var part int64
	r.read(func() { u, part = r.partUpload(false) })
	r.receive(u, part, r.checksum())
	writeJSON(w, http.StatusOK, store.Doc{"part_number": part})
}

// uploadWhole receives the bytes of a component through the platform. The upload begins and completes once
// they have arrived: an interrupted one replaces nothing, and of several the last to arrive wins.
func uploadWhole(w http.ResponseWriter, r *Request) {
	u := r.newUpload()
	r.read(func() { r.componentOf(u.dataset, u.component) })
	u.id, u.direct, u.complete = blob.NewID(), false, true
	b := must(r.p.blobs.Put(u.id, r.http.Body, u.checksum))
	r.p.checkKept(recovered(func() { r.write(func() { r.keepUnlessSame(u, b) }) }), b)
	writeJSON(w, http.StatusOK, completed(u))
}

// keepUnlessSame makes a blob the file of a component, unless a client repeats an upload whose response it
// did not receive.
func (r *Request) keepUnlessSame(u upload, b blob.Blob) {
	doc, c := r.componentOf(u.dataset, u.component)
	if c["status"] == any(statusCompleted) && c["checksum"] == any(b.MD5) && c["filename"] == any(u.filename) &&
		store.Lookup(doc, "ingestion.status") != any(statusFailed) {
		r.afterwards(func() { r.p.blobs.Remove(b.ID) })
		return
	}
	r.insertUpload(u)
	r.keepWhole(u, b, doc, c)
}

// receive streams the body of a request into the blob of an upload. The part counts when its size and
// checksum are right.
func (r *Request) receive(u upload, part int64, checksum string) {
	if u.complete { // a client repeats a request whose response it did not receive
		must(io.Copy(io.Discard, r.http.Body))
		return
	}
	var b blob.Blob
	if u.multipart() {
		b = r.receivePart(u, part, checksum)
	} else {
		b = must(r.p.blobs.Put(u.id, r.http.Body, checksum))
	}
	if err := recovered(func() { r.write(func() { r.keepPart(u, part, b) }) }); err != nil {
		r.removeUnused(u)
		panic(err)
	}
}

func (r *Request) receivePart(u upload, part int64, checksum string) blob.Blob {
	want := u.partSize(part)
	if length := r.http.ContentLength; length >= 0 && length != want {
		panic(invalid("part %d must have %d bytes, not %d", part, want, length))
	}
	b, err := r.p.blobs.PutPart(u.id, (part-1)*u.chunk, want, r.http.Body)
	switch {
	case errors.Is(err, blob.ErrTooLong):
		panic(invalid("part %d must have %d bytes and has more", part, want))
	case err == nil && b.Size != want:
		panic(invalid("part %d must have %d bytes, not %d", part, want, b.Size))
	case err == nil && b.MD5 != checksum:
		err = &blob.ChecksumError{Got: b.MD5, Want: checksum}
	}
	check(err)
	return b
}

// removeUnused removes the blob of an upload that was replaced while its bytes arrived, unless it was
// complete by then.
func (r *Request) removeUnused(u upload) {
	used := true
	r.read(func() {
		check(r.QueryRow(`SELECT EXISTS (SELECT 1 FROM uploads WHERE id = ?1) OR
			EXISTS (SELECT 1 FROM components WHERE dataset = ?2 AND component = ?3 AND blob = ?1)`,
			u.id, u.dataset, u.component).Scan(&used))
	})
	if !used {
		check(r.p.blobs.Remove(u.id))
	}
}

// A signed storage address allows a PUT of one part of an upload, with a given
// MD5, until it expires. It needs no access token.

// addressLife is how long signed storage addresses are valid.
const addressLife = 15 * time.Minute

// sign returns the signature of a method, a path and query arguments.
func (p *Platform) sign(method, path string, query url.Values) string {
	mac := hmac.New(sha256.New, p.secrets.Key)
	io.WriteString(mac, method+"\n"+path+"\n"+query.Encode())
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// storageHeaders returns the headers that a PUT to a signed address must have.
func storageHeaders(checksum string) map[string]string {
	raw, _ := hex.DecodeString(checksum) // checked when the address was requested
	return map[string]string{"Content-Md5": base64.StdEncoding.EncodeToString(raw),
		"Content-Type": "application/octet-stream"}
}

// signedPut returns the signed address of a part, on the host that received the request.
func (r *Request) signedPut(u upload, part int64, checksum string) store.Doc {
	query := url.Values{
		"checksum": {checksum},
		"expires":  {strconv.FormatInt(r.now().Add(addressLife).Unix(), 10)},
	}
	to := url.URL{Scheme: r.scheme(), Host: r.http.Host,
		Path: "/" + storagePrefix + u.id + "/" + strconv.FormatInt(part, 10)}
	query.Set("signature", r.p.sign(http.MethodPut, to.Path, query))
	to.RawQuery = query.Encode()
	return store.Doc{"put_url": to.String(), "headers": storageHeaders(checksum)}
}

// scheme returns the scheme of the address the request came to.
func (r *Request) scheme() string {
	switch {
	case r.http.TLS != nil:
		return "https"
	case r.http.URL.Scheme != "":
		return r.http.URL.Scheme
	}
	return "http"
}

// checkSignature checks the address and the headers of a storage request and returns the part and the
// checksum that it allows.
func (r *Request) checkSignature() (part int64, checksum string) {
	query := r.http.URL.Query()
	signature := query.Get("signature")
	query.Del("signature")
	if !hmac.Equal([]byte(r.p.sign(r.http.Method, r.http.URL.Path, query)), []byte(signature)) {
		panic(fail(http.StatusForbidden, "SignatureDoesNotMatch",
			"the address was not signed by this platform, or was changed"))
	}
	// Signed values need no further check.
	part, _ = strconv.ParseInt(r.path("part"), 10, 64)
	expires, _ := strconv.ParseInt(query.Get("expires"), 10, 64)
	if !r.now().Before(time.Unix(expires, 0)) {
		panic(fail(http.StatusForbidden, "ExpiredAddress", "the address has expired; ask for another one"))
	}
	checksum = query.Get("checksum")
	for name, want := range storageHeaders(checksum) {
		if got := r.http.Header.Get(name); got != want {
			panic(fail(http.StatusForbidden, "HeaderMismatch",
				"the header %s must be %q, as in the signed answer, not %q", name, want, got))
		}
	}
	return part, checksum
}
