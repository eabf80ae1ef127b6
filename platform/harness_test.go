package platform

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"transect/platform/internal/store"
)

// site is a platform under test with a client.
type site struct {
	t       testing.TB
	p       *Platform
	base    string
	http    *http.Client
	token   string
	company string
}

// start opens a platform and serves it over TCP.
func start(t testing.TB, options Options) *site {
	t.Helper()
	if options.Dir == "" {
		options.Dir = filepath.Join(t.TempDir(), "platform")
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.NewTextHandler(testWriter{t}, &slog.HandlerOptions{Level: slog.LevelError}))
	}
	p, err := Open(context.Background(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- p.Serve(ctx, listener, p.Handler()) }()
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return logIn(t, p, "http://"+listener.Addr().String(), client)
}

// inside opens a platform with an in-process client.
func inside(t testing.TB, options Options) *site {
	t.Helper()
	options.Memory = true
	p, err := Open(context.Background(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return logIn(t, p, Address, newClient(p))
}

func logIn(t testing.TB, p *Platform, base string, client *http.Client) *site {
	t.Helper()
	s := &site{t: t, p: p, base: base, http: client, company: p.Credentials().Company}
	answer := s.obtain(store.Doc{"grant_type": "password", "username": p.Credentials().User, "password": p.Credentials().Password}, "any", "pair")
	s.token = store.Text(answer.doc, "access_token")
	if s.token == "" {
		t.Fatalf("no token: %s", answer.text)
	}
	return s
}

type testWriter struct{ t testing.TB }

func (w testWriter) Write(p []byte) (int, error) {
	fmt.Fprintf(os.Stderr, "%s: %s", w.t.Name(), p)
	return len(p), nil
}

// answer is a response.
type answer struct {
	status int
	text   string
	doc    store.Doc
	header http.Header
}

func (s *site) obtain(body store.Doc, client, secret string) answer {
	s.t.Helper()
	r := s.request("POST", "/dxauth/oauth/token", encoded(body))
	r.Header.Del("Authorization")
	r.SetBasicAuth(client, secret)
	return s.do(r)
}

func encoded(v any) io.Reader {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return bytes.NewReader(data)
}

func (s *site) request(method, path string, body io.Reader) *http.Request {
	s.t.Helper()
	if len(path) > 0 && path[0] == '/' {
		path = s.base + path
	}
	r, err := http.NewRequest(method, path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	if s.token != "" {
		r.Header.Set("Authorization", "Bearer "+s.token)
	}
	return r
}

func (s *site) do(r *http.Request) answer {
	s.t.Helper()
	response, err := s.http.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	a := answer{status: response.StatusCode, text: string(data), header: response.Header}
	a.doc, _ = store.Decode(data)
	return a
}

func (s *site) post(route string, body any) answer {
	s.t.Helper()
	return s.do(s.request("POST", "/"+route, encoded(body)))
}

// ok posts and expects success.
func (s *site) ok(route string, body any) store.Doc {
	s.t.Helper()
	a := s.post(route, body)
	if a.status != http.StatusOK {
		s.t.Fatalf("%s %v: %d %s", route, body, a.status, a.text)
	}
	return a.doc
}

// refused posts and expects an error body of that status, whose message holds a text.
func (s *site) refused(status int, message, route string, body any) {
	s.t.Helper()
	s.expect(s.post(route, body), status, message)
}

func (s *site) expect(a answer, status int, message string) {
	s.t.Helper()
	if a.status != status || !bytes.Contains([]byte(store.Text(a.doc, "message")), []byte(message)) ||
		store.Text(a.doc, "code") == "" || store.Text(a.doc, "service") == "" {
		s.t.Errorf("got %d %s, want %d with %q", a.status, a.text, status, message)
	}
}

// project creates a project; survey creates a mission with a flight in it.
func (s *site) project(name string) string {
	s.t.Helper()
	doc := s.ok("project-manager/projects", store.Doc{"name": name, "company": s.company, "addProjectToUsers": true})
	return store.Text(doc, "project._id")
}

func (s *site) survey(project string, photos int) (mission, flight string) {
	s.t.Helper()
	doc := s.ok("project-manager/projects/survey", store.Doc{
		"project_id": project, "survey_date": "2024-05-01", "number_of_photos": photos, "name": "north", "mission_name": "north",
		"area": 0, "orderAnalytic": store.Doc{}, "processSettings": store.Doc{}, "addProjectToUsers": true,
	})
	return store.Text(doc, "mission._id"), store.Text(doc, "flight._id")
}

func (s *site) dataset(kind string, more store.Doc, components ...string) string {
	s.t.Helper()
	list := []any{}
	for _, c := range components {
		list = append(list, store.Doc{"name": c})
	}
	body := store.Doc{"type": kind, "name": "some " + kind, "components": list}
	for key, value := range more {
		body[key] = value
	}
	return store.Text(s.ok("data-manager/create-dataset", body), "_id")
}

// put sends bytes to a signed address, with the headers asked for.
func (s *site) put(signed store.Doc, content []byte) answer {
	s.t.Helper()
	r := s.request("PUT", store.Text(signed, "put_url"), bytes.NewReader(content))
	r.Header.Del("Authorization")
	for name, value := range signed["headers"].(map[string]any) {
		r.Header.Set(name, value.(string))
	}
	return s.do(r)
}

// upload uploads a component as a whole file.
func (s *site) upload(dataset, component, filename string, content []byte) {
	s.t.Helper()
	signed := s.ok("data-manager/init-upload-component", store.Doc{
		"dataset": dataset, "component": component, "filename": filename, "checksum": sum(content)})
	if a := s.put(signed, content); a.status != 200 {
		s.t.Fatalf("put: %d %s", a.status, a.text)
	}
	s.ok("data-manager/complete-upload-component", store.Doc{"dataset": dataset, "component": component})
}

func sum(content []byte) string {
	h := md5.Sum(content)
	return hex.EncodeToString(h[:])
}

// until describes a resource until the text under a key is one of those wanted.
func (s *site) until(route string, body store.Doc, key string, wanted ...string) store.Doc {
	s.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		doc := s.ok(route, body)
		for _, w := range wanted {
			if store.Text(doc, key) == w {
				return doc
			}
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%s: %s did not become %v: %v", route, key, wanted, doc)
		}
	}
}

func (s *site) get(path string) answer {
	s.t.Helper()
	return s.do(s.request("GET", path, nil))
}

// newClient returns an in-process client of a platform.
func newClient(p *Platform) *http.Client { return &http.Client{Transport: p.RoundTripper()} }
