package ingest

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"transect/client/fault"
	"transect/client/scan"
	"transect/client/verdict"
)

// TestCardTakenOut: a memory card removed during the upload is reported as such, and its files do
// not count as done.
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
		if !strings.HasSuffix(o.Cause, "disappeared after this run had found it") || !strings.Contains(o.Hint, "card") {
			t.Errorf("%s (%s)", o.Cause, o.Hint)
		}
	}
	if n := progress.DoneBytes.Load(); n != 0 {
		t.Errorf("%d bytes count as done", n)
	}
}

// TestFileGrowsWhileItIsSent: a file growing during its upload leaves no dataset, and the next run
// sends it once.
func TestFileGrowsWhileItIsSent(t *testing.T) {
	folder := t.TempDir()
	var once sync.Once
	w := newWorld(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut {
				once.Do(func() { write(t, filepath.Join(folder, "a.txt"), []byte("it has grown meanwhile")) })
			}
			h.ServeHTTP(rw, r)
		})
	})
	write(t, filepath.Join(folder, "a.txt"), []byte("it grows"))
	r := w.run(folder, func(o *Options) { o.Workers = 1 })
	w.expect(r, 0, 0, 1)
	if !strings.Contains(r.Failures[0].Cause, "changed while it was uploaded") || r.Failures[0].Dataset != "" {
		t.Errorf("%+v", r.Failures[0])
	}
	if n := len(w.datasets()); n != 0 {
		t.Errorf("%d datasets are left", n)
	}
	w.expect(w.run(folder), 1, 0, 0)
	if n := len(w.datasets()); n != 1 {
		t.Errorf("%d datasets", n)
	}
}

// TestFilesThatWereSentAsFiles: a run without a kind continues a run of kind file, and sends
// nothing twice.
func TestFilesThatWereSentAsFiles(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"a.geojson": `{"type": "FeatureCollection", "features": []}`, "a.prj": "x", "b.txt": "b"} {
		write(t, filepath.Join(folder, name), []byte(text))
	}
	w := newWorld(t, nil)
	w.expect(w.run(folder, func(o *Options) { o.Source.Kind = "file" }), 3, 0, 0)
	w.expect(w.run(folder), 0, 3, 0)
	v, err := Verify(t.Context(), w.c, Options{Source: scan.Source{Root: folder}, Target: w.target, StateDir: w.state}, nil)
	if err != nil || !v.OK() || v.AlreadyThere != 3 {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestCausesAreShort: the cause of a failure does not repeat that the file was to be uploaded.
func TestCausesAreShort(t *testing.T) {
	var o Outcome
	o.fail(fault.In(uploadOperation, fault.Of(&fault.UploadError{}, "a.jpg changed while it was uploaded")))
	if o.Cause != "a.jpg changed while it was uploaded" || o.Verdict != verdict.Failed {
		t.Errorf("%+v", o)
	}
}
