package ingest

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"transect/client/files"
	"transect/client/verdict"
	"transect/testdata/flightgen"
)

// backup makes a folder with two copies of the same photos.
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

// TestCopiesNameTheirDataset: of two copies of a photo one is sent; both have its dataset.
func TestCopiesNameTheirDataset(t *testing.T) {
	w := newWorld(t, nil)
	r := w.run(backup(t, 3), func(o *Options) { o.Verify = true })
	w.expect(r, 3, 0, 0)
	if r.Counts.Duplicate != 3 {
		t.Errorf("%+v", r.Counts)
	}
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
	if v, err := VerifyOutcomes(t.Context(), w.c, earlier, files.Tree{}, nil); err != nil || v.AlreadyThere != 3 || v.Duplicate != 3 {
		t.Errorf("%+v %v", v, err)
	}
}

// TestTheFirstCopyIsTheOriginal: the first of equal files in the order of the scan is the original,
// however long its inspection takes.
func TestTheFirstCopyIsTheOriginal(t *testing.T) {
	w := newWorld(t, nil)
	r := w.run(backup(t, 30))
	w.expect(r, 30, 0, 0)
	for name, o := range outcomes(t, r) {
		if want := strings.HasPrefix(name, "copy"); (o.Verdict == verdict.Duplicate) != want {
			t.Errorf("%s: %s", name, o.Verdict)
		}
	}
}

// TestCopiesOfFailedFilesFail: a copy of a file that failed is not uploaded, whatever was assumed before.
func TestCopiesOfFailedFilesFail(t *testing.T) {
	var refuse atomic.Bool
	w := newWorld(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if refuse.Load() && beginsUpload(r) {
				http.Error(rw, `{"message": "no"}`, http.StatusForbidden)
				return
			}
			h.ServeHTTP(rw, r)
		})
	})
	folder := backup(t, 2)
	refuse.Store(true)
	r := w.run(folder)
	w.expect(r, 0, 0, 4)
	if len(r.Failures) != 4 {
		t.Errorf("%v", r.Failures)
	}
	refuse.Store(false)
	w.expect(w.run(folder), 2, 0, 0)
}

// TestCopiesStayDuplicates: copies are duplicates on every run, in whatever form the folder is given.
func TestCopiesStayDuplicates(t *testing.T) {
	folder := backup(t, 3)
	for name, paths := range map[string][]string{
		"a folder":    {folder},
		"two folders": {filepath.Join(folder, "card"), filepath.Join(folder, "copy")},
	} {
		w := newWorld(t, nil)
		for round := range 2 {
			r := w.run("", func(o *Options) { o.Source.Paths = paths })
			if w.expect(r, int64(3-3*round), int64(3*round), 0); r.Counts.Duplicate != 3 {
				t.Errorf("%s, run %d: %+v", name, round+1, r.Counts)
			}
		}
	}
}

// TestFilesNotReachedAreCounted: when a run stops, files with and without a verdict add up to all files.
func TestFilesNotReachedAreCounted(t *testing.T) {
	w := newWorld(t, nil)
	progress, n := &Progress{}, 0
	r, err := w.try(flight(t, 12, flightgen.Options{}), func(o *Options) {
		o.Workers, o.Progress = 1, progress
		o.OnOutcome = func(Outcome) error {
			if n++; n == 3 {
				return errors.New("enough")
			}
			return nil
		}
	})
	if err == nil || r.NotReached == 0 || r.Counts.Total()+r.NotReached != progress.Files.Load() {
		t.Errorf("%+v and %d not reached of %d: %v", r.Counts, r.NotReached, progress.Files.Load(), err)
	}
}
