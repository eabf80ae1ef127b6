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
)

// grant is what a signed storage address allows: to put the bytes of one part
// of an upload, with this MD5, until it expires.
type grant struct {
	upload   string
	part     int64
	checksum string  // MD5 in hexadecimal
	whole    *upload // in one piece: all that is known of it
}

// sign covers the method, the path and all other arguments of an address.
func (p *Platform) sign(method, path string, query url.Values) string {
	mac := hmac.New(sha256.New, p.secrets.Key)
	io.WriteString(mac, method+"\n"+path+"\n"+query.Encode())
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// storageContentType is what bytes are sent as; storage insists on it, as on
// the checksum.
const storageContentType = "application/octet-stream"

// address gives the signed address for a part, on the host that the request
// came to, and the headers that must be sent to it.
func (r *Request) address(u upload, part int64, checksum string) (string, http.Header, error) {
	raw, err := hex.DecodeString(checksum)
	if err != nil {
		return "", nil, err
	}
	query := url.Values{
		"checksum": {checksum},
		"expires":  {strconv.FormatInt(r.now().Add(r.p.options.AddressLife).Unix(), 10)},
	}
	if u.chunk == 0 {
		query.Set("dataset", u.dataset)
		query.Set("component", u.component)
		query.Set("filename", u.filename)
		query.Set("photo", strconv.FormatBool(u.photo))
	}
	to := url.URL{Scheme: r.scheme(), Host: r.http.Host, Path: "/" + storagePrefix + u.id + "/" + strconv.FormatInt(part, 10)}
	query.Set("signature", r.p.sign(http.MethodPut, to.Path, query))
	to.RawQuery = query.Encode()
	return to.String(), http.Header{
		"Content-Md5":  {base64.StdEncoding.EncodeToString(raw)},
		"Content-Type": {storageContentType},
	}, nil
}

// scheme is that of the address the request came to.
func (r *Request) scheme() string {
	switch {
	case r.http.TLS != nil:
		return "https"
	case r.http.URL.Scheme != "":
		return r.http.URL.Scheme
	}
	return "http"
}

// granted checks the signature of a storage address, and the headers.
func (r *Request) granted() (grant, error) {
	query := r.http.URL.Query()
	signature := query.Get("signature")
	query.Del("signature")
	g := grant{upload: r.path("upload"), checksum: query.Get("checksum")}
	if !hmac.Equal([]byte(r.p.sign(r.http.Method, r.http.URL.Path, query)), []byte(signature)) {
		return g, fail(http.StatusForbidden, "SignatureDoesNotMatch", "the address was not signed by this platform, or was changed")
	}
	// Numbers are as they were written when the address was signed.
	g.part, _ = strconv.ParseInt(r.path("part"), 10, 64)
	expires, _ := strconv.ParseInt(query.Get("expires"), 10, 64)
	if !r.now().Before(time.Unix(expires, 0)) {
		return g, fail(http.StatusForbidden, "ExpiredAddress", "the address has expired; ask for another one")
	}
	if query.Has("dataset") {
		g.whole = &upload{id: g.upload, dataset: query.Get("dataset"), component: query.Get("component"),
			filename: query.Get("filename"), checksum: g.checksum, size: -1, parts: 1, direct: true, photo: query.Get("photo") == "true"}
	}
	raw, err := hex.DecodeString(g.checksum)
	if err != nil {
		return g, err
	}
	for name, want := range map[string]string{
		"Content-MD5": base64.StdEncoding.EncodeToString(raw), "Content-Type": storageContentType,
	} {
		if got := r.http.Header.Get(name); got != want {
			return g, fail(http.StatusForbidden, "HeaderMismatch",
				"the header %s must be %q, as the signed answer says, not %q", name, want, got)
		}
	}
	return g, nil
}
