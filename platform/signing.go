package platform

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// grant is what a signed storage address allows: to put the bytes of one part
// of an upload, with this MD5, until it expires.
type grant struct {
	method   string
	upload   string
	part     int64
	size     int64  // in bytes; -1 when any will do
	checksum string // MD5 in hexadecimal
	expires  int64  // seconds since 1970
}

func (p *Platform) sign(g grant) string {
	mac := hmac.New(sha256.New, p.secrets.Key)
	fmt.Fprintf(mac, "%s\n%s\n%d\n%d\n%s\n%d", g.method, g.upload, g.part, g.size, g.checksum, g.expires)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// storageContentType is what bytes are sent as; storage insists on it, as on
// the checksum.
const storageContentType = "application/octet-stream"

// address gives the signed address for a grant, on the host that the request
// came to, and the headers that must be sent to it.
func (r *Request) address(u upload, part int64, checksum string) (string, http.Header, error) {
	g := grant{
		method: http.MethodPut, upload: u.id, part: part, size: u.partSize(part), checksum: checksum,
		expires: r.now().Add(r.p.options.AddressLife).Unix(),
	}
	raw, err := hex.DecodeString(checksum)
	if err != nil {
		return "", nil, err
	}
	to := url.URL{Scheme: r.scheme(), Host: r.http.Host, Path: "/" + storagePrefix + u.id + "/" + strconv.FormatInt(part, 10)}
	to.RawQuery = url.Values{
		"size":      {strconv.FormatInt(g.size, 10)},
		"checksum":  {checksum},
		"expires":   {strconv.FormatInt(g.expires, 10)},
		"signature": {r.p.sign(g)},
	}.Encode()
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
	g := grant{method: r.http.Method, upload: r.path("upload"), checksum: query.Get("checksum")}
	g.part, _ = strconv.ParseInt(r.path("part"), 10, 64)
	g.size, _ = strconv.ParseInt(query.Get("size"), 10, 64)
	g.expires, _ = strconv.ParseInt(query.Get("expires"), 10, 64)
	if !hmac.Equal([]byte(r.p.sign(g)), []byte(query.Get("signature"))) {
		return g, fail(http.StatusForbidden, "SignatureDoesNotMatch", "the address was not signed by this platform, or was changed")
	}
	if !r.now().Before(time.Unix(g.expires, 0)) {
		return g, fail(http.StatusForbidden, "ExpiredAddress", "the address has expired; ask for another one")
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
