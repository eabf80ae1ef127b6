package ingest

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"transect/client/imagery/flightgen"
)

// backup makes a folder that holds the same photos twice.
func backup(t *testing.T, n int) string {
	t.Helper()
	folder := t.TempDir()
	photos := flight(t, n, flightgen.Options{})
	for _, below := range []string{"card", "copy"} {
		if err := os.CopyFS(filepath.Join(folder, below), os.DirFS(photos)); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// Of photos that are there twice each goes once; both are known by its dataset.
func TestCopiesNameTheirDataset(t *testing.T) {
	w := newWorld(t, nil)
	r := w.run(backup(t, 3), func(o *Options) { o.Verify = true })
	w.expect(r, 3, 0, 3, 0)
	w.allHere(3)
	of := outcomes(t, r)
	for name, o := range of {
		twin := of["copy"+strings.TrimPrefix(name, "card")]
		if strings.HasPrefix(name, "copy") {
			twin = of["card"+strings.TrimPrefix(name, "copy")]
		}
		if o.Dataset == "" || o.Dataset != twin.Dataset {
			t.Errorf("%s has the dataset %q, its twin %q", name, o.Dataset, twin.Dataset)
		}
	}
	earlier, err := Earlier(w.state, r.ID)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := VerifyOutcomes(t.Context(), w.c, earlier, nil, nil); err != nil || v.Same != 6 {
		t.Errorf("%+v %v", v, err)
	}
}

// Two cameras that fly side by side number their images alike, at the same
// moments, and write files of one size.
func TestTwoCamerasOfOneFlight(t *testing.T) {
	w := newWorld(t, nil)
	folder := t.TempDir()
	photos := flight(t, 2, flightgen.Options{})
	at := time.Now().Add(-time.Hour)
	for name, from := range map[string]string{"left": "FLIGHT_0001.JPG", "right": "FLIGHT_0002.JPG"} {
		photo, err := os.ReadFile(filepath.Join(photos, from))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(folder, name), 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, name, "DJI_0001.JPG")
		write(t, path, append(photo, make([]byte, 10000-len(photo))...))
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	w.expect(w.run(folder, func(o *Options) { o.Source.Include = []string{"left/*"} }), 1, 0, 0, 0)
	w.expect(w.run(folder), 1, 0, 1, 0)
	w.expect(w.run(folder), 0, 0, 2, 0)
}

// A name that is no text is found again.
func TestNameThatIsNoText(t *testing.T) {
	w := newWorld(t, nil)
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "caf\xe9.txt"), []byte("x"), 0o600); err != nil {
		t.Skipf("this file system takes only text for names: %v", err)
	}
	w.expect(w.run(folder), 1, 0, 0, 0)
	r := w.run(folder)
	w.expect(r, 0, 0, 1, 0)
	for name, o := range outcomes(t, r) {
		if name != "caf%E9.txt" || o.Cause != "" {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

// Images that are there already count when a run goes on, and what they were
// taken with is not missed.
func TestCheckCountsWhatIsThere(t *testing.T) {
	w := newWorld(t, nil)
	folder := flight(t, 3, flightgen.Options{})
	expecting := func(o *Options) { o.Expected = 5 }
	w.run(folder)
	more := flight(t, 5, flightgen.Options{})
	for _, name := range []string{"FLIGHT_0004.JPG", "FLIGHT_0005.JPG"} {
		if err := os.Rename(filepath.Join(more, name), filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		r := w.run(folder, expecting)
		if p := r.Preflight; p.Images != 5 || p.Items != 5 || p.Count("image-count") != 0 {
			t.Errorf("%+v", p)
		}
	}
}

// A copy of a file that failed is not there, whatever was thought of it before.
func TestCopiesOfFailedFilesFail(t *testing.T) {
	var refuse atomic.Bool
	w := newWorld(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if refuse.Load() && r.URL.Path == "/data-manager/init-upload-component" {
				http.Error(rw, `{"message": "no"}`, http.StatusForbidden)
				return
			}
			h.ServeHTTP(rw, r)
		})
	})
	folder := backup(t, 2)
	refuse.Store(true)
	r := w.run(folder)
	w.expect(r, 0, 0, 0, 4)
	if len(r.Failures) != 4 {
		t.Errorf("%v", r.Failures)
	}
	refuse.Store(false)
	w.expect(w.run(folder), 0, 2, 2, 0)
}
