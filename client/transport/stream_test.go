package transport

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"transect/client/fault"
)

func TestTokenStaysOnThePlatform(t *testing.T) {
	var seen http.Header
	moved := http.StatusFound
	storage := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header
		fmt.Fprint(w, "bytes")
	}))
	defer storage.Close()
	p := newPlatform(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/s/near" {
			http.Redirect(w, r, "/s/far", http.StatusFound)
			return
		}
		http.Redirect(w, r, storage.URL+"/f?sig=very-secret", moved)
	})
	tr, _ := open(t, Options{BaseURL: p.URL})
	r, err := tr.Stream(t.Context(), Request{Method: "GET", Path: "/s/near", Repeatable: true, Header: http.Header{"Range": {"bytes=3-"}}})
	if err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(r.Body)
	_ = r.Body.Close()
	if string(b) != "bytes" || seen.Get("Authorization") != "" || seen.Get("Referer") != "" {
		t.Errorf("%s %v", b, seen)
	}
	if seen.Get("Range") != "bytes=3-" || seen.Get("Accept-Encoding") != "identity" {
		t.Errorf("%v", seen)
	}
	seen = nil
	// For good it is a new address; for the moment, a network that wants a login.
	_, temporary := tr.Do(t.Context(), get("/s/far"))
	isFault[*fault.ConnectionError](t, temporary)
	moved = http.StatusMovedPermanently
	_, err = tr.Do(t.Context(), get("/s/far"))
	isFault[*fault.ConfigError](t, err)
	for _, err := range []error{temporary, err} {
		if f := fault.Find(err).Facts(); seen != nil || strings.Contains(err.Error()+f.Hint, "very-secret") {
			t.Errorf("a platform request went on to another host: %v, %s", err, f.Hint)
		}
	}
}

func TestRedirectsKeepTheMethod(t *testing.T) {
	p := newPlatform(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch r.URL.Path {
		case "/301":
			http.Redirect(w, r, "/end", http.StatusMovedPermanently)
		case "/303":
			http.Redirect(w, r, "/end", http.StatusSeeOther)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusTemporaryRedirect)
		default:
			fmt.Fprintf(w, "%s %s", r.Method, body)
		}
	})
	tr, _ := open(t, Options{BaseURL: p.URL})
	for path, want := range map[string]string{"/301": "POST {}", "/303": "GET "} {
		if a, err := tr.Do(t.Context(), get(path)); err != nil || string(a.Body) != want {
			t.Errorf("%s: %q %v", path, a.Body, err)
		}
	}
	_, err := tr.Do(t.Context(), get("/loop"))
	if f, ok := fault.Find(err).(*fault.ConnectionError); !ok || !strings.Contains(f.Message, "more than 10 times") {
		t.Error(err)
	}
}

// The host that cannot be reached is named, not the one that sent us there.
func TestUnreachableBehindARedirect(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	p := newPlatform(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, gone.URL+"/f", http.StatusFound) })
	tr, _ := open(t, Options{BaseURL: p.URL, Sleep: func(context.Context, time.Duration) error { return nil }})
	_, err := tr.Stream(t.Context(), Request{Method: "GET", Path: "/s", Repeatable: true})
	f := isFault[*fault.ConnectionError](t, err)
	if !strings.HasPrefix(f.Message, "cannot reach "+strings.TrimPrefix(gone.URL, "http://")+", where ") || strings.Contains(f.Hint, "--url") {
		t.Errorf("%s (%s)", f.Message, f.Hint)
	}
}

func TestStreamRefusal(t *testing.T) {
	p := newPlatform(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"message":"no such dataset"}`)
	})
	tr, _ := open(t, Options{BaseURL: p.URL})
	_, err := tr.Stream(t.Context(), Request{Operation: "datasets.download_component", Method: "GET", Path: "/x", Repeatable: true})
	if f := isFault[*fault.ResponseError](t, err); f.Status != 404 || f.Message != "no such dataset" {
		t.Errorf("%+v", f)
	}
}

func TestStorage(t *testing.T) {
	calls := 0
	var got *http.Request
	var body []byte
	storage := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls++
		got = r
		body, _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusInternalServerError)
	}))
	defer storage.Close()
	var traced bytes.Buffer
	p := newPlatform(t, nil)
	tr, _ := open(t, Options{BaseURL: p.URL, Trace: TraceWriter(&traced)})
	r, err := tr.Storage(t.Context(), "PUT", storage.URL+"/b?X-Custom=very-secret", http.Header{"Content-Md5": {"abc"}},
		func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("12345")), nil }, 5, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Body.Close()
	if r.StatusCode != 500 || calls != 1 || string(body) != "12345" || got.ContentLength != 5 {
		t.Errorf("status %d, %d calls, body %q of %d", r.StatusCode, calls, body, got.ContentLength)
	}
	if got.Header.Get("Authorization") != "" || got.Header.Get("Referer") != "" || got.Header.Get("Content-Md5") != "abc" || p.tokens.Load() != 0 {
		t.Errorf("%v", got.Header)
	}
	if strings.Contains(traced.String(), "very-secret") {
		t.Error(traced.String())
	}
}

func TestCertificates(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"access_token":"abcdef"}`)
	}))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	defer server.Close()
	tr, waited := open(t, Options{BaseURL: server.URL})
	err := tr.Login(t.Context())
	if f := isFault[*fault.ConnectionError](t, err); !strings.Contains(f.Hint, "--ca-cert") || len(waited.all) > 0 {
		t.Errorf("%v, %s, %v", err, f.Hint, waited.all)
	}

	file := filepath.Join(t.TempDir(), "ca.pem")
	write(t, file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	if _, err := x509.ParseCertificate(server.Certificate().Raw); err != nil {
		t.Fatal(err)
	}
	tr, _ = open(t, Options{BaseURL: server.URL, CACert: file})
	if err := tr.Login(t.Context()); err != nil {
		t.Error(err)
	}

	var log bytes.Buffer
	tr, _ = open(t, Options{BaseURL: server.URL, InsecureTLS: true, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err := tr.Login(t.Context()); err != nil || !strings.Contains(log.String(), "not verified") {
		t.Errorf("%v, log %q", err, log.String())
	}

	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	tr, _ = open(t, Options{BaseURL: strings.Replace(plain.URL, "http:", "https:", 1)})
	if f := isFault[*fault.ConnectionError](t, tr.Login(t.Context())); !strings.Contains(f.Hint, "http://") {
		t.Error(f.Hint)
	}

	write(t, file, []byte("no certificate"))
	for _, path := range []string{file, file + ".missing"} {
		_, err := New(Options{BaseURL: "https://host", CACert: path, Credentials: goodUser})
		isFault[*fault.ConfigError](t, err)
	}
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestProxy(t *testing.T) {
	proxied := 0
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		proxied++
		if r.Method == http.MethodConnect {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		fmt.Fprint(w, `{"access_token":"abcdef"}`)
	}))
	defer proxy.Close()
	environment := func(pairs ...string) func(string) (string, bool) {
		return func(name string) (string, bool) {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1], true
				}
			}
			return "", false
		}
	}
	for _, o := range []Options{
		{Proxy: proxy.URL, Env: environment("HTTP_PROXY", "http://127.0.0.1:1")},
		{Env: environment("HTTP_PROXY", proxy.URL)},
	} {
		proxied = 0
		o.BaseURL = "http://platform.invalid"
		tr, _ := open(t, o)
		if err := tr.Login(t.Context()); err != nil || proxied != 1 {
			t.Errorf("%v, %d through the proxy", err, proxied)
		}
	}
	tr, _ := open(t, Options{BaseURL: "http://platform.invalid", Env: environment("HTTP_PROXY", proxy.URL, "NO_PROXY", "platform.invalid")})
	proxied = 0
	isFault[*fault.ConnectionError](t, tr.Login(t.Context()))
	if proxied != 0 {
		t.Error("NO_PROXY was not looked at")
	}
	for _, o := range []Options{{Proxy: proxy.URL}, {Proxy: "http://ann:proxy-password@127.0.0.1:1"}} {
		o.BaseURL = "https://platform.invalid"
		tr, _ := open(t, o)
		err := tr.Login(t.Context())
		if f := isFault[*fault.ConnectionError](t, err); !strings.Contains(f.Hint, "--proxy") || strings.Contains(err.Error(), "proxy-password") {
			t.Errorf("%v, %s", err, f.Hint)
		}
	}
	_, err := New(Options{BaseURL: "http://host", Proxy: "ann:proxy-password@host", Credentials: goodUser})
	isFault[*fault.ConfigError](t, err)
}

func TestAddresses(t *testing.T) {
	for raw, want := range map[string]string{
		"https://h":              "https://h/s/r",
		" https://H.example/ ":   "https://h.example/s/r",
		"https://h:8443/":        "https://h:8443/s/r",
		"https://h//a//b/":       "https://h/a/b/s/r",
		"http://[::1]:80/p%2Fq/": "http://[::1]:80/p%2Fq/s/r",
	} {
		base, err := parseBase(raw)
		if err != nil {
			t.Errorf("%q: %v", raw, err)
			continue
		}
		u, err := (&Transport{base: base}).locate("//s//r", url.Values{})
		if err != nil || u.String() != want {
			t.Errorf("%q: %s %v, want %s", raw, u, err, want)
		}
	}
	for _, raw := range []string{"", "h.example", "h:80", "ftp://h", "https://", "https:///p", "https://ann:pass-word@h", "https://h?x=1", "https://h#f", "http://h:port", "::"} {
		_, err := parseBase(raw)
		if f := isFault[*fault.ConfigError](t, err); !strings.Contains(f.Hint, "https://") || strings.Contains(err.Error(), "pass-word") {
			t.Errorf("%q: %v, %s", raw, err, f.Hint)
		}
	}
	base, _ := parseBase("https://h/p")
	for _, path := range []string{"/projects/..", "/projects/%2e%2E/x", "/a/./b", "/%zz"} {
		if _, err := (&Transport{base: base}).locate(path, nil); err == nil {
			t.Errorf("%s was taken", path)
		}
	}
}

func TestPlainHTTPIsWarnedAbout(t *testing.T) {
	for address, want := range map[string]bool{"http://host.invalid": true, "http://127.0.0.1:1": false, "http://localhost": false, "https://host.invalid": false} {
		var log bytes.Buffer
		open(t, Options{BaseURL: address, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if got := strings.Contains(log.String(), "unencrypted"); got != want {
			t.Errorf("%s: warned %v", address, got)
		}
	}
}

func TestPacerSlowsDownAndRecovers(t *testing.T) {
	var p pacer
	for range 100 {
		p.answered(verdict{overloaded: true})
	}
	if p.interval != longestInterval {
		t.Error(p.interval)
	}
	for range 10 {
		p.answered(verdict{})
	}
	if p.interval != 0 {
		t.Error(p.interval)
	}
}
