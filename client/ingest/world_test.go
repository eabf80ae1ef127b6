package ingest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"transect/client"
	"transect/client/scan"
	"transect/platform"
	"transect/testdata/flightgen"
)

// world is a platform served over HTTP, a client of it, and a mission.
type world struct {
	t      testing.TB
	p      *platform.Platform
	c      *client.Client
	server *httptest.Server
	state  string
	target Target
}

func newWorld(t testing.TB, wrap func(http.Handler) http.Handler) *world {
	t.Helper()
	p, err := platform.Open(t.Context(), platform.Options{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	h := p.Handler()
	if wrap != nil {
		h = wrap(h)
	}
	w := &world{t: t, p: p, server: httptest.NewServer(h), state: t.TempDir()}
	t.Cleanup(func() {
		w.server.Close()
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	w.c = w.client()
	w.target = w.mission()
	return w
}

func (w *world) client() *client.Client {
	w.t.Helper()
	login := w.p.Credentials()
	c, err := client.New(context.Background(), client.Settings{URL: w.server.URL, User: login.User, Password: login.Password,
		ClientID: login.ClientID, ClientSecret: login.ClientSecret}, client.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

func (w *world) mission() Target {
	w.t.Helper()
	ctx := context.Background()
	project, err := w.c.Projects.Create(ctx, client.CreateProject{Name: "Quarry", Company: client.ID(w.p.Credentials().Company)})
	if err != nil {
		w.t.Fatal(err)
	}
	at := func(x, y float64) []any { return []any{x, y} }
	made, err := w.c.Missions.CreateSurvey(ctx, client.CreateSurvey{Project: client.ID(project.ID), Name: "M", SurveyDate: "2026-05-31", NumberOfImages: 1,
		Coordinates: []any{at(4, 50), at(4.1, 50), at(4.1, 50.1), at(4, 50)}})
	if err != nil {
		w.t.Fatal(err)
	}
	return Target{Project: project.ID, Mission: made.Mission.ID, Flight: made.Flight.ID}
}

func (w *world) run(folder string, change ...func(*Options)) *Result {
	w.t.Helper()
	result, err := w.try(folder, change...)
	if err != nil {
		w.t.Fatal(err)
	}
	return result
}

func (w *world) try(folder string, change ...func(*Options)) (*Result, error) {
	o := Options{Source: scan.Source{Root: folder}, Target: w.target, StateDir: w.state}
	for _, f := range change {
		f(&o)
	}
	return Run(context.Background(), w.c, o)
}

// expect checks the counts: uploaded, already there, bad.
func (w *world) expect(r *Result, uploaded, there, bad int64) {
	w.t.Helper()
	c := r.Counts
	if c.Uploaded != uploaded || c.AlreadyThere != there || c.Bad() != bad {
		w.t.Errorf("got %+v; want %d uploaded, %d already there, %d bad\n%v", c, uploaded, there, bad, r.Failures)
	}
}

func (w *world) datasets() []client.Dataset {
	w.t.Helper()
	var list []client.Dataset
	for d, err := range w.c.Datasets.Search.All(context.Background(), client.DatasetQuery{Query: client.Query{Filter: w.target.filter()}}) {
		if err != nil {
			w.t.Fatal(err)
		}
		list = append(list, d)
	}
	return list
}

// allHere checks that there are n datasets, each with its file and a unique name.
func (w *world) allHere(n int) {
	w.t.Helper()
	list := w.datasets()
	if len(list) != n {
		w.t.Errorf("%d datasets, want %d", len(list), n)
	}
	names := map[string]bool{}
	for _, d := range list {
		if !recordOf(d).Complete() {
			w.t.Errorf("dataset %s has no file", d.Name)
		}
		if names[d.Name] {
			w.t.Errorf("dataset %s is there twice", d.Name)
		}
		names[d.Name] = true
	}
}

func flight(t testing.TB, n int, o flightgen.Options) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "flight")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := flightgen.Write(folder, n, o); err != nil {
		t.Fatal(err)
	}
	return folder
}

func outcomes(t testing.TB, r *Result) map[string]Outcome {
	t.Helper()
	found := map[string]Outcome{}
	for o, err := range r.Outcomes.All {
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := found[o.Name]; twice {
			t.Errorf("%s has two outcomes", o.Name)
		}
		found[o.Name] = o
	}
	return found
}

func write(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// delayed delays requests, as on a real network.
func delayed(d time.Duration) func(http.Handler) http.Handler {
	return func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(d)
			h.ServeHTTP(w, r)
		})
	}
}

func numbered(t testing.TB, n, size int) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "files")
	content := make([]byte, size)
	for i := range content {
		content[i] = byte(i * 31 >> 3)
	}
	for i := range n {
		copy(content, fmt.Sprintf("file %d", i))
		write(t, filepath.Join(folder, fmt.Sprintf("f%05d.bin", i)), content)
	}
	return folder
}

// beginsUpload recognises the first request of each way to send a whole file.
func beginsUpload(r *http.Request) bool {
	return strings.HasSuffix(r.URL.Path, "/init-upload-component") || strings.HasSuffix(r.URL.Path, "/upload-component")
}

// endsUpload recognises the last request of an upload.
func endsUpload(r *http.Request) bool {
	return strings.HasSuffix(r.URL.Path, "/complete-upload-component") || strings.HasSuffix(r.URL.Path, "/upload-component")
}
