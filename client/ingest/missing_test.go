package ingest

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"transect/client/fault"
	"transect/client/verdict"
)

// A memory card that is removed during the upload is reported as such, and its
// files do not count as done.
func TestCardTakenOut(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "card")
	var once sync.Once
	w := newWorld(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut {
				once.Do(func() { _ = os.RemoveAll(folder) })
			}
			h.ServeHTTP(rw, r)
		})
	})
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
		write(t, filepath.Join(folder, name), []byte(strings.Repeat(name, 100)))
	}
	progress := &Progress{}
	r := w.run(folder, func(o *Options) { o.Workers, o.Progress = 1, progress })
	w.expect(r, 0, 0, 3)
	for _, o := range r.Failures {
		if !strings.HasSuffix(o.Cause, "has gone since this run found it") || !strings.Contains(o.Hint, "card") {
			t.Errorf("%s (%s)", o.Cause, o.Hint)
		}
	}
	if n := progress.DoneBytes.Load(); n != 0 {
		t.Errorf("%d bytes count as done", n)
	}
}

// The cause of a failure does not say that the file was to be uploaded.
func TestCausesAreShort(t *testing.T) {
	var o Outcome
	o.fail(fault.In(uploadOperation, fault.Of(&fault.UploadError{}, "a.jpg changed while it was uploaded")))
	if o.Cause != "a.jpg changed while it was uploaded" || o.Verdict != verdict.Failed {
		t.Errorf("%+v", o)
	}
}
