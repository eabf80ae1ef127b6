package platform

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"transect/platform/store"
)

// A signed storage address allows a PUT of one part of an upload, with a given
// MD5, until it expires. It needs no access token.

// sign returns the signature of a method, a path and all other arguments.
func (p *Platform) sign(method, path string, query url.Values) string {
	mac := hmac.New(sha256.New, p.secrets.Key)
	io.WriteString(mac, method+"\n"+path+"\n"+query.Encode())
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// storageHeaders are the headers that a PUT to a signed address must have.
func storageHeaders(checksum string) map[string]string {
	raw, _ := hex.DecodeString(checksum) // checked when the address was asked for
	return map[string]string{"Content-Md5": base64.StdEncoding.EncodeToString(raw), "Content-Type": "application/octet-stream"}
}

// signedPut is the answer with the signed address of a part, on the host that
// the request came to.
func (r *Request) signedPut(u upload, part int64, checksum string) store.Doc {
	query := url.Values{
		"checksum": {checksum},
		"expires":  {strconv.FormatInt(r.now().Add(r.p.options.AddressLife).Unix(), 10)},
	}
	to := url.URL{Scheme: r.scheme(), Host: r.http.Host, Path: "/" + storagePrefix + u.id + "/" + strconv.FormatInt(part, 10)}
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

// checkSignature checks the address and the headers of a request to the storage
// and returns which part, with which checksum, it allows.
func (r *Request) checkSignature() (part int64, checksum string, err error) {
	query := r.http.URL.Query()
	signature := query.Get("signature")
	query.Del("signature")
	if !hmac.Equal([]byte(r.p.sign(r.http.Method, r.http.URL.Path, query)), []byte(signature)) {
		return 0, "", fail(http.StatusForbidden, "SignatureDoesNotMatch", "the address was not signed by this platform, or was changed")
	}
	// What is signed needs no further check.
	part, _ = strconv.ParseInt(r.path("part"), 10, 64)
	expires, _ := strconv.ParseInt(query.Get("expires"), 10, 64)
	if !r.now().Before(time.Unix(expires, 0)) {
		return 0, "", fail(http.StatusForbidden, "ExpiredAddress", "the address has expired; ask for another one")
	}
	checksum = query.Get("checksum")
	for name, want := range storageHeaders(checksum) {
		if got := r.http.Header.Get(name); got != want {
			return 0, "", fail(http.StatusForbidden, "HeaderMismatch",
				"the header %s must be %q, as in the signed answer, not %q", name, want, got)
		}
	}
	return part, checksum, nil
}
