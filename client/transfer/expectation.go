package transfer

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strings"

	"transect/client/fault"
)

// expectation is the checksum that a download is verified against.
type expectation struct {
	md5       string        // "" when unknown
	component bool          // the platform was queried for md5, besides the answer's headers
	guessed   bool          // md5 is an ETag, which need not be an MD5
	page      bool          // the answer appears to be a page of a proxy
	answer    <-chan string // receives the platform's checksum; nil when it was not queried
}

// expect begins to determine the MD5 of a download.
func (t *Transfers) expect(ctx context.Context, d Download, given string) *expectation {
	e := &expectation{md5: given}
	if given == "" && d.Checksum != nil {
		answer := make(chan string, 1)
		go func() {
			sum, err := normalizeMD5(d.Checksum(ctx))
			if err != nil {
				sum = "" // not an MD5
			}
			answer <- sum
		}()
		e.answer, e.component = answer, true
	}
	return e
}

// read completes an expectation from the headers of an answer.
func (e *expectation) read(h http.Header) {
	// The platform names its files; a page without a name comes from a proxy.
	e.page = strings.HasPrefix(strings.ToLower(h.Get("Content-Type")), "text/html") && h.Get("Content-Disposition") == ""
	if e.answer != nil {
		e.md5 = <-e.answer
	}
	if e.md5 == "" && h.Get("Content-Encoding") == "" {
		e.md5, e.guessed = headerMD5(h)
	}
}

// headerMD5 returns the MD5 from the headers of an answer. An ETag is only a guess.
func headerMD5(h http.Header) (sum string, guessed bool) {
	inBase64 := []string{h.Get("Content-MD5")}
	for _, field := range h.Values("X-Goog-Hash") {
		for hash := range strings.SplitSeq(field, ",") {
			if value, ok := strings.CutPrefix(strings.TrimSpace(hash), "md5="); ok {
				inBase64 = append(inBase64, value)
			}
		}
	}
	for _, value := range inBase64 {
		if b, err := base64.StdEncoding.DecodeString(strings.TrimSpace(value)); err == nil && len(b) == 16 {
			return hex.EncodeToString(b), false
		}
	}
	sum, err := normalizeMD5(strings.Trim(strongTag(h), `"`))
	if encryption := h.Get("X-Amz-Server-Side-Encryption"); err != nil || encryption != "" && encryption != "AES256" ||
		h.Get("X-Amz-Server-Side-Encryption-Customer-Algorithm") != "" {
		return "", false // the ETag covers the encrypted content
	}
	return sum, sum != ""
}

// warnUnverified logs that a file could not be verified, if it has no checksum.
func (t *Transfers) warnUnverified(e *expectation, path string) {
	switch {
	case e.md5 != "":
	case e.component:
		t.Logger.Warn("not verified: neither the platform nor its storage names a checksum", "file", path)
	default:
		t.generated.Do(func() {
			t.Logger.Info("not verified: files that the platform makes for a request have no checksum", "file", path)
		})
	}
}

func receivedPage() error {
	f := fault.Hinted(fault.Of(&fault.DownloadError{}, "received a web page instead of a file; it was discarded"),
		"check whether the network requires a login or a proxy answers for the platform; for a file that is a web page, "+
			"give its md5hash")
	f.Cause = fault.Of(&fault.ConnectionError{}, "another server answered in the platform's place") // temporary
	return f
}
