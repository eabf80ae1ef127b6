package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"transect/client"
	"transect/client/fault"
	"transect/client/files"
	"transect/client/scan"
	"transect/client/verdict"
	"transect/testdata/flightgen"
)

func TestAgainIsSkipped(t *testing.T) {
	w := newWorld(t, nil)
	folder := flight(t, 12, flightgen.Options{})
	first := w.run(folder, func(o *Options) { o.Wait, o.Verify = true, true })
	w.expect(first, 12, 0, 0)
	w.allHere(12)
	if first.Verified != 12 {
		t.Errorf("%d files were verified", first.Verified)
	}
	for name, o := range outcomes(t, first) {
		if o.MD5 == "" || o.Dataset == "" || o.Component != "image" || o.Size == 0 {
			t.Errorf("%s: %+v", name, o)
		}
	}
	for _, d := range w.datasets() {
		if d.AcquisitionDate == "" || d.Width != 320 || len(d.Geometry) == 0 || d.Flight != w.target.Flight || d.Sensor["make"] != flightgen.Make {
			t.Errorf("an attribute is missing in %s", d.JSON())
		}
	}
	second := w.run(folder)
	w.expect(second, 0, 12, 0)
	if second.Counts.Bytes != 0 {
		t.Errorf("%d bytes were sent again", second.Counts.Bytes)
	}

	// The same card at another place, its times lost in the copy.
	copied := filepath.Join(t.TempDir(), "card", "DCIM")
	if err := os.CopyFS(copied, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	w.expect(w.run(filepath.Dir(copied)), 0, 12, 0)
	w.allHere(12)
}

func TestLoadsInPages(t *testing.T) {
	w := newWorld(t, nil)
	list := make([]client.Object, 2*pageSize+100)
	for i := range list {
		list[i] = client.Object{"name": fmt.Sprint("f", i), "type": "file", "project": w.target.Project, "mission": w.target.Mission, "components": []any{map[string]any{"name": "file"}},
			"properties": map[string]any{PropertyName: property{Key: fmt.Sprintf("%032x", i+1), File: fmt.Sprint("f", i)}}}
	}
	if _, err := w.c.Datasets.CreateDatasets(t.Context(), client.CreateDatasets{Datasets: list}); err != nil {
		t.Fatal(err)
	}
	ix, err := load(t.Context(), w.c, w.target, t.TempDir())
	if err != nil || ix.count != len(list) {
		t.Fatal(ix.count, err)
	}
	defer ix.close()
	for i := range list {
		if found, err := ix.byName("file", fmt.Sprint("f", i)); err != nil || len(found) != 1 || found[0].Complete() {
			t.Errorf("f%d: %+v, %v", i, found, err)
		}
	}
}

// TestSamePageAgain: requests end for a platform that always returns the same page.
func TestSamePageAgain(t *testing.T) {
	list := make([]map[string]any, pageSize)
	for i := range list {
		list[i] = map[string]any{"_id": fmt.Sprintf("%024x", i+1), "name": "f", "type": "file"}
	}
	page, err := json.Marshal(map[string]any{"results": list, "total": pageSize})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/search-datasets") {
				w.Write(page)
				return
			}
			h.ServeHTTP(w, r)
		})
	})
	_, err = w.try(flight(t, 1, flightgen.Options{}))
	if _, ok := errors.AsType[*fault.QueryError](err); !ok {
		t.Fatal(err)
	}
}

// TestKilledRuns creates the leftovers of killed runs: datasets without files.
func TestKilledRuns(t *testing.T) {
	w := newWorld(t, nil)
	folder := flight(t, 10, flightgen.Options{})
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := fault.Of(&fault.CancelledError{}, "killed")
	_, err := Run(ctx, w.c, Options{Source: scan.Source{Root: folder}, Target: w.target, Workers: 1,
		OnOutcome: func(Outcome) error { cancel(stop); return nil }})
	if !errors.Is(err, stop) {
		t.Fatal(err)
	}
	left := len(w.datasets())
	if left != 10 {
		t.Fatalf("%d datasets were made before the end", left)
	}
	r := w.run(folder)
	if r.Counts.Uploaded == 0 || r.Counts.Uploaded+r.Counts.AlreadyThere != 10 {
		t.Errorf("%+v", r.Counts)
	}
	w.allHere(10)
}

func TestChangedFile(t *testing.T) {
	w := newWorld(t, nil)
	folder := flight(t, 3, flightgen.Options{})
	w.run(folder)
	names, _ := filepath.Glob(filepath.Join(folder, "*.JPG"))
	content, err := os.ReadFile(names[1])
	if err != nil {
		t.Fatal(err)
	}
	// An edit of the picture: the same size, another content and time.
	at := bytes.LastIndex(content, []byte{0xff, 0xd9})
	content[at-40] ^= 1
	write(t, names[1], content)
	soon := time.Now().Add(5 * time.Second)
	if err := os.Chtimes(names[1], soon, soon); err != nil {
		t.Fatal(err)
	}
	r := w.run(folder)
	w.expect(r, 1, 2, 0)
	if o := outcomes(t, r)[filepath.Base(names[1])]; !strings.Contains(o.Cause, "earlier state") {
		t.Errorf("%+v", o)
	}
	if len(r.Notes) != 1 || !strings.Contains(r.Notes[0].Cause, "transect rm ") {
		t.Errorf("the summary does not say so: %+v", r.Notes)
	}
	if n := len(w.datasets()); n != 4 {
		t.Errorf("%d datasets, want 4", n)
	}
	w.expect(w.run(folder), 0, 3, 0)

	content[at-41] ^= 1
	write(t, names[1], content)
	w.expect(w.run(folder, func(o *Options) { o.Replace = true }), 1, 2, 0)
	w.expect(w.run(folder), 0, 3, 0)
}

// TestReplacingIsFinishedByTheNextRun: a replacing run may be stopped before the new dataset has
// its file, or before the old one is deleted: the next run does the rest.
func TestReplacingIsFinishedByTheNextRun(t *testing.T) {
	for _, stop := range []string{"upload-component", "/delete-datasets"} {
		var refuse atomic.Bool
		w := newWorld(t, func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if refuse.Load() && strings.HasSuffix(r.URL.Path, stop) {
					http.Error(w, "not now", http.StatusForbidden)
					return
				}
				h.ServeHTTP(w, r)
			})
		})
		folder := numbered(t, 3, 100)
		w.run(folder)
		write(t, filepath.Join(folder, "f00001.bin"), []byte("another content"))
		replace := func(o *Options) { o.Replace = true }
		refuse.Store(true)
		w.run(folder, replace)
		if n := len(w.datasets()); n != 4 {
			t.Fatalf("%s: %d datasets, want 4", stop, n)
		}
		refuse.Store(false)
		w.run(folder, replace)
		w.allHere(3)
		w.expect(w.run(folder, replace), 0, 3, 0)
	}
}

func TestLargeEditInTheMiddle(t *testing.T) {
	w := newWorld(t, nil)
	folder := numbered(t, 2, 1<<20)
	w.run(folder)
	path := filepath.Join(folder, "f00001.bin")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	content[200<<10] ^= 1 // in none of the samples
	write(t, path, content)
	soon := time.Now().Add(5 * time.Second)
	if err := os.Chtimes(path, soon, soon); err != nil {
		t.Fatal(err)
	}
	v, err := Verify(t.Context(), w.c, Options{Source: scan.Source{Root: folder}, Target: w.target}, nil)
	if err != nil || v.AlreadyThere != 1 || v.Different != 1 || v.Extra != 0 {
		t.Errorf("%+v %v", v, err)
	}
	w.expect(w.run(folder), 1, 1, 0)
}

func TestOneBadFileAmongMany(t *testing.T) {
	w := newWorld(t, nil)
	folder := flight(t, 6, flightgen.Options{})
	names, _ := filepath.Glob(filepath.Join(folder, "*.JPG"))
	content, _ := os.ReadFile(names[0])
	write(t, filepath.Join(folder, "cut.jpg"), content[:len(content)/2])
	write(t, filepath.Join(folder, "empty.jpg"), nil)
	write(t, filepath.Join(folder, "twin.jpg"), content)
	report := filepath.Join(t.TempDir(), "out.json")
	r := w.run(folder, func(o *Options) { o.Report = report })
	w.expect(r, 6, 0, 2)
	if o := outcomes(t, r)["cut.jpg"]; o.Verdict != verdict.Damaged || o.Cause == "" || o.Hint == "" {
		t.Errorf("%+v", o)
	}

	if o := outcomes(t, r)["empty.jpg"]; o.Verdict != verdict.Damaged || o.Cause != "it is empty" {
		t.Errorf("%+v", o)
	}

	if of := outcomes(t, r); of["twin.jpg"].Verdict == of[filepath.Base(names[0])].Verdict || of["twin.jpg"].Dataset != of[filepath.Base(names[0])].Dataset || r.Counts.Duplicate != 1 {
		t.Errorf("%+v", of["twin.jpg"])
	}

	// Repaired, and only the failed files again.
	write(t, filepath.Join(folder, "cut.jpg"), append(slices.Clone(content), 0))
	again := Options{Target: w.target}
	if err := Retry(&again, report, ""); err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), w.c, again)
	if err != nil {
		t.Fatal(err)
	}
	w.expect(r, 1, 0, 1)
}

func TestReports(t *testing.T) {
	w := newWorld(t, nil)
	folder := flight(t, 3, flightgen.Options{})
	write(t, filepath.Join(folder, "broken, \"quoted\".jpg"), []byte("x"))
	for _, name := range []string{"out.json", "out.csv"} {
		path := filepath.Join(t.TempDir(), name)
		r := w.run(folder, func(o *Options) { o.Report = path })
		want := outcomes(t, r)
		n := 0
		for o, err := range OpenReport(path, files.Tree{}) {
			if err != nil {
				t.Fatal(err)
			}
			n++
			if same := want[o.Name]; same.Verdict != o.Verdict || same.Dataset != o.Dataset || same.Path != o.Path || same.Size != o.Size {
				t.Errorf("%s: %+v, want %+v", name, o, same)
			}
		}
		if n != 4 {
			t.Errorf("%s lists %d files", name, n)
		}
	}
	if _, err := w.try(folder, func(o *Options) { o.Report = "report.txt" }); err == nil {
		t.Error("a report of an unknown form was accepted")
	}
	for name, text := range map[string]string{"a.json": "[]", "b.json": `{"x": 1}`, "c.csv": "a,b\n1,2\n", "d.json": ""} {
		path := filepath.Join(t.TempDir(), name)
		write(t, path, []byte(text))
		for _, err := range OpenReport(path, files.Tree{}) {
			if err == nil || !strings.Contains(err.Error(), "is not the report") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// failing answers some requests with a failure before or after they are
// processed.
type failing struct {
	path   string
	times  atomic.Int32
	after  bool
	status int
}

func (f *failing) wrap(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, f.path) && f.times.Add(-1) >= 0 {
			if f.after {
				h.ServeHTTP(noAnswer{http.Header{}}, r)
				panic(http.ErrAbortHandler)
			}
			http.Error(w, `{"error": "no"}`, f.status)
			return
		}
		h.ServeHTTP(w, r)
	})
}

type noAnswer struct{ header http.Header }

func (n noAnswer) Header() http.Header         { return n.header }
func (n noAnswer) Write(b []byte) (int, error) { return len(b), nil }
func (n noAnswer) WriteHeader(int)             {}

// TestLostAnswer breaks the connection after datasets were created: they are
// found, not created twice.
func TestLostAnswer(t *testing.T) {
	f := &failing{path: "/create-datasets", after: true}
	w := newWorld(t, f.wrap)
	f.times.Store(1)
	w.expect(w.run(flight(t, 5, flightgen.Options{})), 5, 0, 0)
	w.allHere(5)
}

func TestPlatformWideFailures(t *testing.T) {
	for name, c := range map[string]struct {
		path   string
		status int
	}{
		"full":         {"upload-component", http.StatusInsufficientStorage},
		"no rights":    {"/create-datasets", http.StatusForbidden},
		"unauthorized": {"upload-component", http.StatusUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			f := &failing{path: c.path, status: c.status}
			w := newWorld(t, f.wrap)
			folder := flight(t, 5, flightgen.Options{})
			f.times.Store(1000)
			r, err := w.try(folder)
			if fault.Status(err) != c.status && err == nil {
				t.Errorf("%v", err)
			}
			if r == nil || r.Counts.Failed > 0 {
				t.Errorf("%+v", r)
			}
			f.times.Store(0)
			r = w.run(folder)
			// A request given up by the client may have been processed later.
			if r.Counts.Uploaded+r.Counts.AlreadyThere != 5 {
				t.Errorf("%+v", r.Counts)
			}
			w.allHere(5)
		})
	}
}

func TestFilterAndNames(t *testing.T) {
	w := newWorld(t, nil)
	folder := flight(t, 6, flightgen.Options{})
	keep := true
	r := w.run(folder, func(o *Options) {
		o.Filter = func(scan.File) (bool, error) { keep = !keep; return keep, nil }
		o.Name = func(f scan.File) (string, error) { return "card 1/" + f.Name, nil }
		o.Properties = map[string]any{"pilot": "Ada"}
		published := true
		o.Published, o.Categories = &published, []string{"nadir"}
	})
	w.expect(r, 3, 0, 0)
	for _, d := range w.datasets() {
		if !strings.HasPrefix(d.Name, "card 1/") || d.Properties["pilot"] != "Ada" || !d.Published || len(d.Categories) != 1 {
			t.Errorf("%s", d.JSON())
		}
	}
	w.expect(w.run(folder), 3, 3, 0)
	broken := errors.New("a slip in the filter")
	if _, err := w.try(folder, func(o *Options) { o.Filter = func(scan.File) (bool, error) { return false, broken } }); !errors.Is(err, broken) {
		t.Error(err)
	}
}

func TestStrictCheckSaysWhatIsWrong(t *testing.T) {
	w := newWorld(t, nil)
	folder := flight(t, 2, flightgen.Options{})
	for _, name := range []string{"a.jpg", "b.jpg", "c.jpg", "d.jpg"} {
		write(t, filepath.Join(folder, name), nil)
	}
	_, err := w.try(folder, func(o *Options) { o.Check = CheckStrict })
	if err == nil || !strings.Contains(err.Error(), "a.jpg: it is empty; b.jpg") || !strings.HasSuffix(err.Error(), "; 1 more") {
		t.Error(err)
	}
	w.allHere(0)
}

// TestStateFolderThatCannotBeUsed: an unwritable state folder is reported once, with a remedy.
func TestStateFolderThatCannotBeUsed(t *testing.T) {
	w := newWorld(t, nil)
	w.state = filepath.Join(t.TempDir(), "file")
	write(t, w.state, []byte("x"))
	_, err := w.try(flight(t, 1, flightgen.Options{}))
	f := fault.Find(err)
	if f == nil || strings.Count(err.Error(), w.state) != 1 || !strings.Contains(f.Facts().Hint, "TRANSECT_STATE_DIR") {
		t.Error(err)
	}
}

func TestLocked(t *testing.T) {
	w := newWorld(t, delayed(5*time.Millisecond))
	folder := flight(t, 30, flightgen.Options{})
	var once sync.Once
	second := make(chan error, 1)
	w.run(folder, func(o *Options) {
		o.OnOutcome = func(Outcome) error {
			once.Do(func() { _, err := w.try(folder); second <- err })
			return nil
		}
	})
	var locked *fault.LockedError
	if err := <-second; !errors.As(err, &locked) {
		t.Error(err)
	}
}

// TestTwoMachines runs ingests of the same folder without a common lock: no
// dataset is duplicated, none is missing.
func TestTwoMachines(t *testing.T) {
	w := newWorld(t, nil)
	folder := flight(t, 60, flightgen.Options{})
	const machines = 3
	var all sync.WaitGroup
	var total atomic.Int64
	for range machines {
		all.Go(func() {
			r, err := Run(context.Background(), w.client(), Options{Source: scan.Source{Root: folder}, Target: w.target, StateDir: t.TempDir(), Batch: 10, Verify: true})
			if err != nil {
				t.Error(err)
				return
			}
			t.Logf("%+v", r.Counts)
			if r.Counts.Failed > 0 {
				t.Errorf("%+v", r.Failures)
			}
			total.Add(r.Counts.Uploaded)
		})
	}
	all.Wait()
	w.allHere(60)
	w.expect(w.run(folder), 0, 60, 0)
}

// TestForeignDatasets recognises images, by name and date, whose datasets no ingest created.
func TestForeignDatasets(t *testing.T) {
	w := newWorld(t, nil)
	folder := flight(t, 4, flightgen.Options{})
	w.run(folder)
	for _, d := range w.datasets() {
		if _, err := w.c.Datasets.DeleteProperties(t.Context(), client.DeleteDatasetProperties{
			Ref: client.Ref{ID: client.ID(d.ID)}, Properties: []string{PropertyName}}); err != nil {
			t.Fatal(err)
		}
	}
	w.expect(w.run(folder), 0, 4, 0)
}

func TestDryRunSendsNothing(t *testing.T) {
	w := newWorld(t, nil)
	folder := flight(t, 4, flightgen.Options{})
	w.expect(w.run(folder, func(o *Options) { o.DryRun = true }), 4, 0, 0)
	w.allHere(0)
}

func TestVerify(t *testing.T) {
	w := newWorld(t, nil)
	folder := flight(t, 4, flightgen.Options{})
	r := w.run(folder)
	names, _ := filepath.Glob(filepath.Join(folder, "*.JPG"))
	if err := os.Remove(names[0]); err != nil {
		t.Fatal(err)
	}
	extra := flight(t, 6, flightgen.Options{})
	data, _ := os.ReadFile(filepath.Join(extra, filepath.Base(names[3])))
	data = append(data, 0)
	write(t, filepath.Join(folder, "new.JPG"), data)
	write(t, filepath.Join(folder, "empty.JPG"), nil)
	v, err := Verify(t.Context(), w.c, Options{Source: scan.Source{Root: folder}, Target: w.target}, nil)
	if err != nil || v.AlreadyThere != 3 || v.Missing != 1 || v.Damaged != 1 || v.Extra != 1 || v.Different != 0 {
		t.Errorf("%+v %v", v, err)
	}
	earlier, err := Earlier(w.state, r.ID)
	if err != nil {
		t.Fatal(err)
	}
	v, err = VerifyOutcomes(t.Context(), w.c, earlier, files.Tree{}, nil)
	if err != nil || v.AlreadyThere != 4 {
		t.Errorf("%+v %v", v, err)
	}
}
