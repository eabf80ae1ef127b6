package transfer

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"transect/client/fault"
)

// TestDownloadsAreVerifiedByDefault: without the caller's checksum a download is compared with the
// component's, Content-MD5, or an ETag that is an MD5.
func TestDownloadsAreVerifiedByDefault(t *testing.T) {
	right, flipped := bytes.Repeat([]byte("content "), 4000), bytes.Repeat([]byte("content "), 4000)
	flipped[17000] ^= 4
	digest := md5.Sum(right)
	inBase64 := base64.StdEncoding.EncodeToString(digest[:])
	ask := func(sum string) func(context.Context) string { return func(context.Context) string { return sum } }
	for name, c := range map[string]struct {
		checksum func(context.Context) string
		header   []string
		bad      int64 // so many answers are corrupted
		requests int64
		fails    bool
		kept     []byte
		log      string
	}{
		"component":                     {ask(sum(right)), nil, 0, 1, false, right, ""},
		"component, flipped once":       {ask(strings.ToUpper(sum(right))), nil, 1, 2, false, right, "arrived changed"},
		"component, always flipped":     {ask(sum(right)), nil, 9, 2, true, nil, "arrived changed"},
		"component over header":         {ask(sum(right)), []string{"ETag", `"` + sum(flipped) + `"`}, 9, 2, true, nil, "arrived changed"},
		"Content-MD5":                   {ask(""), []string{"Content-MD5", inBase64}, 1, 2, false, right, "arrived changed"},
		"X-Goog-Hash":                   {nil, []string{"X-Goog-Hash", "crc32c=n03x6A==, md5=" + inBase64}, 9, 2, true, nil, ""},
		"ETag":                          {nil, []string{"ETag", `"` + sum(right) + `"`}, 1, 2, false, right, ""},
		"ETag that is something else":   {ask(""), []string{"ETag", `"` + sum([]byte("else")) + `"`}, 0, 2, false, right, "not verified"},
		"ETag of encrypted content":     {ask(""), []string{"ETag", `"` + sum([]byte("else")) + `"`, "X-Amz-Server-Side-Encryption", "aws:kms"}, 0, 1, false, right, "not verified"},
		"ETag of parts":                 {ask(""), []string{"ETag", `"` + sum(right) + `-3"`}, 0, 1, false, right, "not verified"},
		"weak ETag":                     {nil, []string{"ETag", `W/"` + sum(right) + `"`}, 0, 1, false, right, "not verified"},
		"component of another checksum": {ask("xxh64:1234"), []string{"Content-MD5", inBase64}, 0, 1, false, right, ""},
		"nothing":                       {ask(""), nil, 9, 1, false, flipped, "not verified"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			var requests atomic.Int64
			s.onGet = func(w http.ResponseWriter, r *http.Request) {
				for i := 0; i < len(c.header); i += 2 {
					w.Header().Set(c.header[i], c.header[i+1])
				}
				content := right
				if requests.Add(1) <= c.bad {
					content = flipped
				}
				w.Header().Set("Content-Length", fmt.Sprint(len(content)))
				_, _ = w.Write(content)
			}
			var log bytes.Buffer
			folder := t.TempDir()
			path, err := fast(s, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}).Download(t.Context(),
				Download{Path: "/f", TargetPath: folder, TargetName: "a", Checksum: c.checksum})
			if c.fails {
				isFault[*fault.DownloadError](t, err)
				if entries(t, folder) != "" {
					t.Errorf("%s is left", entries(t, folder))
				}
			} else if err != nil {
				t.Error(err)
			} else if got, _ := os.ReadFile(path); !bytes.Equal(got, c.kept) {
				t.Error("the file kept is another one")
			}
			if requests.Load() != c.requests || !strings.Contains(log.String(), c.log) || c.log == "" && log.Len() > 0 && !c.fails && c.bad == 0 {
				t.Errorf("%d requests, want %d; log: %s", requests.Load(), c.requests, log.String())
			}
		})
	}
}

// TestPageIsTemporary: a page in place of the platform is a temporary failure.
func TestPageIsTemporary(t *testing.T) {
	s := newService(t)
	s.onGet = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html>log in</html>")
	}
	for _, checksum := range []string{"", sum([]byte("it"))} {
		_, err := fast(s, Options{}).Download(t.Context(), Download{Path: "/f", TargetPath: t.TempDir(), TargetName: "a",
			Checksum: func(context.Context) string { return checksum }})
		if f := isFault[*fault.DownloadError](t, err); !strings.Contains(f.Message, "web page") || !fault.Transient(err) {
			t.Errorf("checksum %q: %v", checksum, err)
		}
	}
}
