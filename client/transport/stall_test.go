package transport

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"transect/client/fault"
)

// narrow is a server whose connections hold little that was not read yet.
func narrow(t *testing.T, h http.HandlerFunc) *httptest.Server {
	s := httptest.NewUnstartedServer(h)
	s.Config.ConnState = func(c net.Conn, state http.ConnState) {
		if tcp, ok := c.(*net.TCPConn); ok && state == http.StateNew {
			_ = tcp.SetReadBuffer(64 << 10)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func put(tr *Transport, t *testing.T, address string, size int) (int, error) {
	content := bytes.Repeat([]byte("x"), size)
	r, err := tr.Storage(t.Context(), http.MethodPut, address, nil,
		func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }, int64(size), nil)
	if err != nil {
		return 0, err
	}
	return r.StatusCode, r.Body.Close()
}

func TestStalledSendingIsBrokenOff(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	storage := narrow(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/silent" {
			_, _ = io.CopyN(io.Discard, r.Body, 100_000)
		} else {
			_, _ = io.Copy(io.Discard, r.Body) // all came, and no answer
		}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	tr, _ := open(t, Options{BaseURL: newPlatform(t, nil).URL, Stall: 200 * time.Millisecond})
	for _, path := range []string{"/stuck", "/silent"} {
		_, err := put(tr, t, storage.URL+path, 16<<20)
		f := isFault[*fault.TimeoutError](t, err)
		if !strings.Contains(f.Error(), "no byte moved for 200ms") {
			t.Errorf("%s: %v", path, f)
		}
	}
}

// TestSlowSendingIsLeftAlone: it takes many times what a stall may last.
func TestSlowSendingIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := piped(t, Options{Stall: 600 * time.Millisecond}, nil, func(_ http.ResponseWriter, r *http.Request) {
			for {
				if _, err := io.CopyN(io.Discard, r.Body, 200_000); err != nil {
					return
				}
				time.Sleep(40 * time.Millisecond)
			}
		})
		began := time.Now()
		if status, err := put(tr, t, "http://storage.example/", 12<<20); err != nil || status != 200 {
			t.Error(status, err)
		}
		if took := time.Since(began); took < 1200*time.Millisecond {
			t.Errorf("it was not slow: %s", took)
		}
	})
}

func TestStalledReceivingIsBrokenOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		var late atomic.Bool
		tr := piped(t, Options{Stall: 200 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
			if late.Load() {
				time.Sleep(500 * time.Millisecond) // it makes the file first
			}
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write(make([]byte, 500))
			w.(http.Flusher).Flush()
			if late.Load() {
				_, _ = w.Write(make([]byte, 500))
				return
			}
			<-release
		}, nil)
		get := Request{Method: http.MethodGet, Path: "/s/file", Repeatable: true}
		r, err := tr.Stream(t.Context(), get)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if len(b) != 500 || err == nil || !strings.Contains(err.Error(), "no byte moved") {
			t.Errorf("%d bytes, %v", len(b), err)
		}
		late.Store(true)
		if r, err = tr.Stream(t.Context(), get); err != nil {
			t.Fatal(err)
		}
		time.Sleep(400 * time.Millisecond) // who receives is busy: that is no stall
		b, err = io.ReadAll(r.Body)
		_ = r.Body.Close()
		if len(b) != 1000 || err != nil {
			t.Errorf("%d bytes, %v", len(b), err)
		}
	})
}

func TestRequestRate(t *testing.T) {
	p := newPlatform(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) })
	tr, waited := open(t, Options{BaseURL: p.URL, Rate: 10})
	for range 21 {
		if _, err := tr.Do(t.Context(), get("/s/x")); err != nil {
			t.Fatal(err)
		}
	}
	// Nobody really slept: each request waits for all before it.
	if n := len(waited.all); n < 20 || waited.all[n-1] < time.Second || waited.all[n-1] > 2300*time.Millisecond {
		t.Errorf("%d waits, %v", n, waited.all)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// TestHangIsShown: a host that has taken a request and answers none of them is
// shown as such, and its return; one that answers others meanwhile is not.
func TestHangIsShown(t *testing.T) {
	for name, busy := range map[string]bool{"hangs": false, "answers others": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				var mu sync.Mutex
				var log strings.Builder
				logger := slog.New(slog.NewTextHandler(writer(func(p []byte) (int, error) {
					mu.Lock()
					defer mu.Unlock()
					return log.Write(p)
				}), nil))
				tr := piped(t, Options{Logger: logger}, func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/s/slow" {
						<-release
					}
					_, _ = io.WriteString(w, "{}")
				}, nil)
				tr.silent = 500 * time.Millisecond
				ended := make(chan error)
				go func() {
					_, err := tr.Do(t.Context(), get("/s/slow"))
					ended <- err
				}()
				for range 40 { // two checks of the probe
					time.Sleep(50 * time.Millisecond)
					if busy {
						_, _ = tr.Do(t.Context(), get("/s/quick"))
					}
				}
				close(release)
				if err := <-ended; err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				shown, back := strings.Contains(log.String(), "waiting for the platform, "), strings.Contains(log.String(), "the platform answers again")
				if shown == busy || back == busy {
					t.Errorf("shown:\n%s", log.String())
				}
			})
		})
	}
}
