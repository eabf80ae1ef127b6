package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// witness is a proxy between runs and the platform that records what has been
// acknowledged: parts and uploads through the platform with the answer to their
// bytes, other files sent whole with their completion. They are identified by
// checksum, whatever URL and dataset they went to.
//
// An answer that the run had not read when it was killed does not count: a
// socket closed with unread bytes resets its connection, one that has read all
// closes it in order (see wasRead).
type witness struct {
	*httptest.Server
	multipart map[string]bool // checksums of parts; all others are of whole files

	mu     sync.Mutex
	acked  map[string]bool
	unread map[string]bool   // acknowledged to a dead run
	again  []string          // sent although acknowledged
	twice  int               // number of those in unread that were sent again
	of     map[string]string // dataset: checksum of the whole file being sent
	flying int               // requests with bytes in flight
	open   int               // connections
	bytes  int64             // received by the platform
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
	w.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		c := r.Context().Value(watched{}).(*watchedConn)
		c.answers("") // who asks on has read the answer before
		w.once.Do(func() { w.began = time.Now(); close(w.first) })
		code := &statusCode{ResponseWriter: rw, status: http.StatusOK}
		if r.Method == http.MethodPut || strings.HasSuffix(r.URL.Path, "/upload-component") || strings.HasSuffix(r.URL.Path, "/upload-part") {
			w.put(proxy, code, r, c)
			return
		}
		w.call(proxy, code, r)
	}))
	w.Listener = watchedListener{w.Listener, w}
	w.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, watched{}, c) }
	w.Start()
	t.Cleanup(w.Close)
	return w
}

type watched struct{}

type watchedListener struct {
	net.Listener
	witness *witness
}

func (l watchedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.witness.mu.Lock()
	defer l.witness.mu.Unlock()
	l.witness.open++
	return &watchedConn{Conn: c, witness: l.witness}, nil
}

// watchedConn is a connection of a run.
type watchedConn struct {
	net.Conn
	witness *witness
	mu      sync.Mutex
	sum     string // of the part that the answer acknowledges which is not known to be read
	closed  bool
}

func (c *watchedConn) answers(sum string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sum = sum
}

func (c *watchedConn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.closed = true
		read := c.sum == "" || wasRead(c.Conn)
		c.witness.mu.Lock()
		defer c.witness.mu.Unlock()
		if c.witness.open--; !read {
			delete(c.witness.acked, c.sum)
			c.witness.unread[c.sum] = true
		}
	}
	return c.Conn.Close()
}

// begin starts over with files whose parts have these checksums.
func (w *witness) begin(multipart map[string]bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.multipart, w.acked, w.unread, w.again, w.twice = multipart, map[string]bool{}, map[string]bool{}, nil, 0
	w.of, w.bytes = map[string]string{}, 0
	w.first, w.once = make(chan struct{}), &sync.Once{}
}

func (w *witness) put(proxy http.Handler, rw *statusCode, r *http.Request, c *watchedConn) {
	sum := r.URL.Query().Get("checksum")
	w.mu.Lock()
	if w.acked[sum] {
		w.again = append(w.again, sum)
	}
	if w.unread[sum] {
		w.twice++
	}
	w.flying++
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.flying--
		if rw.status == http.StatusOK {
			w.bytes += r.ContentLength
			if w.multipart[sum] || r.Method == http.MethodPost {
				w.acked[sum] = true
				c.answers(sum)
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

// inFlight is true while a request with bytes is in flight.
func (w *witness) inFlight() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.flying > 0
}

// quiet is true once all requests and connections of a killed run have ended.
func (w *witness) quiet() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.flying == 0 && w.open == 0
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
