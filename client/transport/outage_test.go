package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"transect/client/fault"
	"transect/client/human"
	"transect/client/wait"
)

var refused = &net.OpError{Op: "dial", Err: errors.New("connection refused")}

// How long a run keeps trying, by what was set and by what fails.
func TestOutageIsBounded(t *testing.T) {
	fails := func(*http.Request) (*http.Response, error) { return nil, refused }
	gateway := func(r *http.Request) (*http.Response, error) { return plain(r, 502, ""), nil }
	page := func(r *http.Request) (*http.Response, error) { return plain(r, 200, "<!doctype html><p>log in"), nil }
	portal := func(r *http.Request) (*http.Response, error) {
		a := plain(r, 302, "")
		a.Header.Set("Location", "http://login.example/")
		return a, nil
	}
	for name, c := range map[string]struct {
		outage   time.Duration
		retries  int
		stranger bool // the host has never answered
		fail     func(*http.Request) (*http.Response, error)
		want     time.Duration // it goes on for about this long
	}{
		"default":                   {0, 0, false, fails, defaultOutage},
		"gateway":                   {0, 0, false, gateway, defaultOutage},
		"page":                      {0, 0, false, page, defaultOutage},
		"a night":                   {8 * time.Hour, 0, false, fails, 8 * time.Hour},
		"short":                     {5 * time.Second, 0, false, fails, 5 * time.Second},
		"none":                      {-1, 0, false, fails, 0},
		"counted":                   {0, 3, false, fails, (1 + 2 + 4) * firstBackoff},
		"both":                      {time.Minute, 3, false, fails, time.Minute},
		"a mistyped address":        {0, 0, true, fails, (1 + 2) * firstBackoff},
		"started during the outage": {time.Hour, 0, true, fails, time.Hour},
		"a page at the start":       {0, 0, true, page, (1 + 2) * firstBackoff},
		"a login at the start":      {time.Hour, 0, true, page, time.Hour},
		"a redirect to a login":     {time.Hour, 0, true, portal, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				away := c.stranger
				tr, err := New(Options{BaseURL: "http://local", MaxOutage: c.outage, MaxRetries: c.retries, Credentials: Credentials{AccessToken: "abcdef"},
					Logger: slog.New(slog.NewTextHandler(&log, nil)),
					RoundTripper: roundTripper(func(r *http.Request) (*http.Response, error) {
						if away {
							return c.fail(r)
						}
						return plain(r, 200, "{}"), nil
					})})
				if err != nil {
					t.Fatal(err)
				}
				if !c.stranger {
					if _, err := tr.Do(t.Context(), get("/s/r")); err != nil {
						t.Fatal(err)
					}
				}
				away = true
				begun := time.Now()
				_, err = tr.Do(t.Context(), get("/s/r"))
				if lasted := time.Since(begun); !fault.Transient(err) || lasted < c.want/2 || lasted > c.want {
					t.Errorf("%v after %s", err, lasted)
				}
				hint := fault.Find(err).Facts().Hint
				if timed := c.want >= 5*time.Second; timed != strings.Contains(hint, "an outage of "+human.Duration(c.want)) || timed != strings.Contains(hint, "--max-outage") {
					t.Errorf("the hint is %q", hint)
				}
				if lines := strings.Count(log.String(), "\n"); lines > 100 {
					t.Errorf("%d lines were shown", lines)
				}
				away = false
				if _, err := tr.Do(t.Context(), get("/s/r")); err != nil {
					t.Error(err)
				}
				if shown := strings.Contains(log.String(), "waiting for the"); shown != strings.Contains(log.String(), "the connection is back") {
					t.Errorf("shown:\n%s", log.String())
				}
			})
		})
	}
}

// What is set for outages holds for hosts that take what they are sent and answer
// nothing, or take nothing, from the start or after a while, and for storages that
// have too much to do.
func TestSilenceEndsWithTheOutage(t *testing.T) {
	const outage = 20 * time.Second
	var release chan struct{}
	silent := func(http.ResponseWriter, *http.Request) { <-release }
	full := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.WriteHeader(status)
		}
	}
	for name, c := range map[string]struct {
		known   bool // it has answered before
		late    time.Duration
		storage http.HandlerFunc // nil: it is the platform that is silent
		bytes   int
	}{
		"platform":                    {known: true},
		"platform from the start":     {},
		"after refused connections":   {known: true, late: 15 * time.Second},
		"storage takes all":           {known: true, storage: func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body); silent(w, r) }, bytes: 1000},
		"storage takes nothing":       {known: true, storage: silent, bytes: 10 << 20},
		"storage has no turn":         {known: true, storage: full(429), bytes: 1000},
		"storage has a fault":         {known: true, storage: full(500), bytes: 1000},
		"storage is not there for it": {known: true, storage: full(503), bytes: 1000},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release = make(chan struct{})
				defer func() {
					close(release)
					time.Sleep(time.Second) // until the server has closed its connections
				}()
				var hangs atomic.Bool
				tr := piped(t, Options{MaxOutage: outage, Sleep: wait.Sleep}, func(w http.ResponseWriter, r *http.Request) {
					if hangs.Load() {
						silent(w, r)
					}
					_, _ = io.WriteString(w, "{}")
				}, c.storage)
				if c.known {
					if _, err := tr.Do(t.Context(), get("/s/r")); err != nil {
						t.Fatal(err)
					}
				}
				begun := time.Now()
				var err error
				if c.storage == nil {
					hangs.Store(true)
					if c.late > 0 {
						u, _ := tr.locate("/", nil)
						tr.pacer(u).lost(time.Now(), c.late)
						begun = begun.Add(-c.late)
					}
					_, err = tr.Do(t.Context(), get("/s/r"))
				} else {
					retries := &Retries{Limit: 10, First: time.Second, Longest: 16 * time.Second}
					for err == nil {
						status, failed := put(tr, t, "http://storage.example/x", c.bytes)
						if failed == nil {
							failed = &fault.ResponseError{Status: status}
						}
						err = tr.Wait(t.Context(), retries, "http://storage.example/x", failed)
					}
				}
				if lasted := time.Since(begun); !fault.Transient(err) || lasted < outage-time.Second || lasted > outage+10*time.Second {
					t.Errorf("%v after %s", err, lasted)
				}
			})
		})
	}
}

// A request that fails while others succeed does not wait for an outage to end.
func TestFailuresBetweenAnswersAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tried := 0
		tr, err := New(Options{BaseURL: "http://local", MaxOutage: 100 * time.Hour, Credentials: Credentials{AccessToken: "abcdef"},
			RoundTripper: roundTripper(func(r *http.Request) (*http.Response, error) {
				if r.URL.Path == "/s/bad" {
					tried++
					return nil, io.ErrUnexpectedEOF
				}
				return plain(r, 200, "{}"), nil
			})})
		if err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithCancel(t.Context())
		go func() {
			for ctx.Err() == nil {
				_, _ = tr.Do(ctx, get("/s/good"))
				time.Sleep(50 * time.Millisecond)
			}
		}()
		_, err = tr.Do(t.Context(), get("/s/bad"))
		end()
		time.Sleep(time.Second) // until the others have ended
		if isFault[*fault.ConnectionError](t, err); tried != 1+defaultRetries {
			t.Errorf("tried %d times", tried)
		}
	})
}

// After a create, an answer that is a page says that it may have been done.
func TestPageInTheMiddle(t *testing.T) {
	page := &atomic.Bool{}
	p := newPlatform(t, func(w http.ResponseWriter, r *http.Request) {
		if page.Load() {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<html>maintenance</html>")
			return
		}
		_, _ = io.WriteString(w, "{}")
	})
	tr, waited := open(t, Options{BaseURL: p.URL})
	if _, err := tr.Do(t.Context(), create("/s/r")); err != nil {
		t.Fatal(err)
	}
	page.Store(true)
	_, err := tr.Do(t.Context(), create("/s/r"))
	if f := isFault[*fault.ConnectionError](t, err); !strings.Contains(f.Hint, "it may have been done") || !strings.Contains(f.Error(), "web page") || len(waited.all) != 0 {
		t.Errorf("%v, hint %s, %d waits", f, f.Hint, len(waited.all))
	}
	_, err = tr.Do(t.Context(), get("/s/r"))
	if f := isFault[*fault.ConnectionError](t, err); strings.Contains(f.Hint, "may have been done") || len(waited.all) == 0 {
		t.Errorf("%v, hint %s, %d waits", f, f.Hint, len(waited.all))
	}
}

// A host that takes a connection and reads nothing is told of before the request
// has failed.
func TestUnresponsiveHostIsShown(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	shown := make(chan string, 1)
	log := slog.New(slog.NewTextHandler(writerFunc(func(b []byte) {
		select {
		case shown <- string(b):
		default:
		}
	}), nil))
	tr, _ := open(t, Options{BaseURL: "http://" + l.Addr().String(), Logger: log, Credentials: Credentials{AccessToken: "abcdef"}})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		r := get("/s/r")
		r.Body = bytes.Repeat([]byte(" "), 32<<20) // more than the system buffers
		_, err := tr.Do(ctx, r)
		done <- err
	}()
	if line := <-shown; !strings.Contains(line, "waiting for the network") || !strings.Contains(line, "does not respond") {
		t.Error(line)
	}
	cancel()
	if isFault[*fault.CancelledError](t, <-done); t.Context().Err() != nil {
		t.Error("never cancelled")
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(b []byte) (int, error) { f(b); return len(b), nil }

// A refused download shows what the storage says, without its signature.
func TestStorageRefusalOfADownload(t *testing.T) {
	storage := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, "\ufeff"+`<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Request has expired</Message>`+
			`<StringToSign>GET to-sign</StringToSign><SignatureProvided>0badc0ffee</SignatureProvided></Error>`)
	}))
	defer storage.Close()
	p := newPlatform(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, storage.URL+"/x?sig=abc", http.StatusFound)
	})
	tr, _ := open(t, Options{BaseURL: p.URL})
	_, err := tr.Stream(t.Context(), Request{Method: http.MethodGet, Path: "/s/r", Repeatable: true})
	f := isFault[*fault.ResponseError](t, err)
	data, _ := f.Data.(string)
	if f.Code != "AccessDenied" || !strings.Contains(f.Error(), "Request has expired") || strings.Contains(data, "0badc0ffee") || strings.Contains(data, "to-sign") {
		t.Errorf("%v, data %v", f, f.Data)
	}
}
