package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"transect/client"
	"transect/client/fault"
	"transect/client/internal/reconcile"
)

// duplicate creates an empty dataset with the key of another one, like a request that reaches the
// platform after its run has abandoned it.
func (w *world) duplicate(of client.Dataset) string {
	w.t.Helper()
	body := client.Object{}
	if err := json.Unmarshal(of.JSON(), &body); err != nil {
		w.t.Fatal(err)
	}
	again := client.Object{"components": []any{map[string]any{"name": of.Components[0].Name}}}
	for _, key := range []string{"name", "type", "project", "mission", "properties", "acquisition_date"} {
		if v, there := body[key]; there {
			again[key] = v
		}
	}
	made, err := w.c.Datasets.CreateDatasets(context.Background(), client.CreateDatasets{Datasets: []client.Object{again}})
	if err != nil {
		w.t.Fatal(err)
	}
	return made[0].ID
}

func (w *world) delete(id string) {
	w.t.Helper()
	if _, err := w.c.Datasets.Delete(context.Background(), client.DatasetList{Dataset: client.IDs{id}}); err != nil {
		w.t.Fatal(err)
	}
}

// TestOrphansAreDeleted: the next run deletes orphans and nothing else.
func TestOrphansAreDeleted(t *testing.T) {
	w := newWorld(t, nil)
	folder := numbered(t, 3, 500)
	w.run(folder)
	list := w.datasets()
	w.duplicate(list[0])
	w.duplicate(list[0])
	w.duplicate(list[1])
	w.expect(w.run(folder, func(o *Options) { o.DryRun = true }), 0, 3, 0)
	if n := len(w.datasets()); n != 6 {
		t.Fatalf("%d datasets after a dry run, want 6", n)
	}
	w.expect(w.run(folder), 0, 3, 0)
	w.allHere(3)

	// Of two empty datasets one is completed, and the other one deleted.
	w.duplicate(list[2])
	w.duplicate(list[2])
	w.delete(list[2].ID)
	w.expect(w.run(folder), 1, 2, 0)
	w.allHere(3)
}

// TestOrphanOfThisRun: the duplicate appears before the run ends.
func TestOrphanOfThisRun(t *testing.T) {
	var w *world
	var once atomic.Bool
	w = newWorld(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			if endsUpload(r) && once.CompareAndSwap(false, true) {
				w.duplicate(w.datasets()[0])
			}
			h.ServeHTTP(out, r)
		})
	})
	w.expect(w.run(numbered(t, 2, 500)), 2, 0, 0)
	w.allHere(2)
}

// TestDeletedWhileUploading: another run has uploaded the file and deletes the
// empty dataset that this one is uploading to.
func TestDeletedWhileUploading(t *testing.T) {
	var w *world
	var once atomic.Bool
	var folder string
	w = newWorld(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			if endsUpload(r) && once.CompareAndSwap(false, true) {
				mine := w.datasets()[0]
				other := w.duplicate(mine)
				path := client.Path(filepath.Join(folder, "f00000.bin"))
				if _, err := w.c.Datasets.UploadFile(r.Context(), client.UploadFile{Dataset: client.ID(other), Component: "file", FilePath: path}); err != nil {
					t.Error(err)
				}
				w.delete(mine.ID)
			}
			h.ServeHTTP(out, r)
		})
	})
	folder = numbered(t, 1, 500)
	r := w.run(folder)
	w.expect(r, 0, 1, 0)
	w.allHere(1)
	if o := outcomes(t, r)["f00000.bin"]; o.Dataset != w.datasets()[0].ID || o.Cause != reconcile.OtherRun {
		t.Errorf("got %+v", o)
	}
}

// TestSurvivorDeleted: when the survivor is deleted at the same moment, the orphan
// is restored, and the next run completes it.
func TestSurvivorDeleted(t *testing.T) {
	var w *world
	var kept atomic.Pointer[string]
	w = newWorld(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			if id := kept.Swap(nil); id != nil && strings.HasSuffix(r.URL.Path, "/delete-datasets") {
				w.delete(*id)
			} else if id != nil {
				kept.Store(id)
			}
			h.ServeHTTP(out, r)
		})
	})
	folder := numbered(t, 1, 500)
	w.run(folder)
	first := w.datasets()[0]
	other := w.duplicate(first)
	kept.Store(&first.ID)
	w.run(folder)
	if list := w.datasets(); len(list) != 1 || list[0].ID != other {
		t.Fatalf("the platform holds %d datasets", len(list))
	}
	w.expect(w.run(folder), 1, 0, 0)
	w.allHere(1)
}

// TestEarlierStateStays: an earlier state that cannot be deleted fails its file, with a remedy, and
// the next run deletes it.
func TestEarlierStateStays(t *testing.T) {
	var forbidden atomic.Bool
	w := newWorld(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			if forbidden.Load() && strings.HasSuffix(r.URL.Path, "/delete-datasets") {
				out.Header().Set("Content-Type", "application/json")
				out.WriteHeader(http.StatusForbidden)
				return
			}
			h.ServeHTTP(out, r)
		})
	})
	folder := numbered(t, 2, 500)
	replace := func(o *Options) { o.Replace = true }
	w.run(folder, replace)
	write(t, filepath.Join(folder, "f00000.bin"), []byte("another content"))
	forbidden.Store(true)
	for range 2 {
		r := w.run(folder, replace)
		if r.Counts.Failed != 1 || len(r.Failures) != 1 {
			t.Fatalf("got %+v", r.Counts)
		}
		if o := r.Failures[0]; !strings.Contains(o.Cause, "could not be deleted") || o.Hint == "" || fault.Find(o.Err()) == nil {
			t.Errorf("got %+v", o)
		}
	}
	forbidden.Store(false)
	w.expect(w.run(folder, replace), 0, 2, 0)
	w.allHere(2)
}

// TestOrphanOfAnEarlierState: the file has changed since, and the orphan belongs to a version that was replaced.
func TestOrphanOfAnEarlierState(t *testing.T) {
	w := newWorld(t, nil)
	folder := numbered(t, 2, 500)
	replace := func(o *Options) { o.Replace = true }
	w.run(folder, replace)
	var first client.Dataset
	for _, d := range w.datasets() {
		if d.Name == "f00000.bin" {
			first = d
		}
	}
	path := filepath.Join(folder, "f00000.bin")
	write(t, path, []byte("another content"))
	soon := time.Now().Add(5 * time.Second)
	if err := os.Chtimes(path, soon, soon); err != nil {
		t.Fatal(err)
	}
	w.duplicate(first) // between two runs
	w.expect(w.run(folder, replace), 1, 1, 0)
	w.allHere(2)
	w.duplicate(first) // after both
	w.expect(w.run(folder), 0, 2, 0)
	if n := len(w.datasets()); n != 3 {
		t.Errorf("%d datasets after a run that does not replace, want 3", n)
	}
	w.expect(w.run(folder, replace), 0, 2, 0)
	w.allHere(2)
}

// TestAlone: nothing is looked up by key in a target that only this run fills.
func TestAlone(t *testing.T) {
	for _, c := range []struct {
		name   string
		before bool // the target is not empty
		other  bool // another run creates something meanwhile
		looks  bool
	}{{"alone", false, false, false}, {"filled before", true, false, true}, {"another run", false, true, true}} {
		t.Run(c.name, func(t *testing.T) {
			var w *world
			var looks, met atomic.Bool
			w = newWorld(t, func(h http.Handler) http.Handler {
				return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
					if strings.HasSuffix(r.URL.Path, "/search-datasets") {
						body, err := io.ReadAll(r.Body)
						if err != nil {
							t.Error(err)
						}
						r.Body = io.NopCloser(bytes.NewReader(body))
						if bytes.Contains(body, []byte(PropertyName+".key")) {
							looks.Store(true)
						}
					}
					if endsUpload(r) && c.other && met.CompareAndSwap(false, true) {
						w.create("by hand")
					}
					h.ServeHTTP(out, r)
				})
			})
			if c.before {
				w.create("earlier")
			}
			w.expect(w.run(numbered(t, 3, 500)), 3, 0, 0)
			if looks.Load() != c.looks {
				t.Errorf("looked up by key: %v", looks.Load())
			}
		})
	}
}

// create creates a dataset without a key.
func (w *world) create(name string) {
	w.t.Helper()
	body := client.Object{"name": name, "type": "file", "components": []any{map[string]any{"name": "file"}}}
	maps.Copy(body, map[string]any{"project": w.target.Project, "mission": w.target.Mission})
	if _, err := w.c.Datasets.CreateDatasets(context.Background(), client.CreateDatasets{Datasets: []client.Object{body}}); err != nil {
		w.t.Fatal(err)
	}
}
