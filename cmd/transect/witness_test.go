package main

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// witness is a proxy between runs and the platform that writes down what the
// platform has acknowledged: a part with the answer to its bytes, a file sent
// whole with its completion. Checksums say which part or file it is, whatever
// address and dataset it went to.
type witness struct {
	*httptest.Server
	multipart map[string]bool // checksums of parts; all others are of whole files

	mu     sync.Mutex
	acked  map[string]bool
	again  []string          // sent although acknowledged
	of     map[string]string // dataset: checksum of the whole file on its way
	flying int               // requests with bytes, under way
	bytes  int64             // taken by the platform
	first  chan struct{}     // closed by the first request
	began  time.Time         // when that came
	once   *sync.Once
}

func newWitness(t *testing.T, platform string) *witness {
	t.Helper()
	to, err := url.Parse(platform)
	if err != nil {
		t.Fatal(err)
	}
	// The host stays the one asked for, so that signed addresses lead here.
	proxy := &httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = r.In.Host },
		ErrorLog:     log.New(io.Discard, "", 0), // of killed clients
		ErrorHandler: func(rw http.ResponseWriter, _ *http.Request, _ error) { rw.WriteHeader(http.StatusBadGateway) },
	}
	w := &witness{}
	w.begin(nil)
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.once.Do(func() { w.began = time.Now(); close(w.first) })
		code := &statusCode{ResponseWriter: rw, status: http.StatusOK}
		if r.Method == http.MethodPut {
			w.put(proxy, code, r)
			return
		}
		w.call(proxy, code, r)
	}))
	t.Cleanup(w.Close)
	return w
}

// begin forgets everything, for files of which these are the parts.
func (w *witness) begin(multipart map[string]bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.multipart, w.acked, w.again, w.of, w.bytes = multipart, map[string]bool{}, nil, map[string]string{}, 0
	w.first, w.once = make(chan struct{}), &sync.Once{}
}

func (w *witness) put(proxy http.Handler, rw *statusCode, r *http.Request) {
	sum := r.URL.Query().Get("checksum")
	w.mu.Lock()
	if w.acked[sum] {
		w.again = append(w.again, sum)
	}
	w.flying++
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.flying--
		if rw.status == http.StatusOK {
			w.bytes += r.ContentLength
			if w.multipart[sum] {
				w.acked[sum] = true
			}
		}
	}()
	proxy.ServeHTTP(rw, r)
}

func (w *witness) call(proxy http.Handler, rw *statusCode, r *http.Request) {
	begun, completed := strings.HasSuffix(r.URL.Path, "/init-upload-component"), strings.HasSuffix(r.URL.Path, "/complete-upload-component")
	if !begun && !completed {
		proxy.ServeHTTP(rw, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil { // the client was killed
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var asked struct{ Dataset, Checksum string }
	_ = json.Unmarshal(body, &asked) // of no dataset, then
	proxy.ServeHTTP(rw, r)
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case rw.status != http.StatusOK:
	case begun:
		w.of[asked.Dataset] = asked.Checksum
	default:
		w.acked[w.of[asked.Dataset]] = true
	}
}

// inFlight tells whether bytes are on their way.
func (w *witness) inFlight() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.flying > 0
}

type statusCode struct {
	http.ResponseWriter
	status int
}

func (s *statusCode) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

func (s *statusCode) Unwrap() http.ResponseWriter { return s.ResponseWriter }
