package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"transect/client/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testPlatform issues tokens and lets each test answer the rest.
type testPlatform struct {
	*httptest.Server
	tokens   atomic.Int64 // token requests so far
	lifetime atomic.Int64 // seconds
	mu       sync.Mutex
	valid    string
}

func newPlatform(t *testing.T, handle http.HandlerFunc) *testPlatform {
	p := &testPlatform{}
	p.Server = httptest.NewServer(p.handler(handle))
	t.Cleanup(p.Close)
	return p
}

func (p *testPlatform) handler(handle http.HandlerFunc) http.Handler {
	p.lifetime.Store(3600)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /dxauth/oauth/token", p.issue)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		valid := p.valid
		p.mu.Unlock()
		if r.Header.Get("Authorization") != "Bearer "+valid {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"code":"InvalidToken","message":"no such token"}`)
			return
		}
		// The server notices a client that leaves only after the body.
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		handle(w, r)
	})
	return mux
}

// piped opens a transport to a platform, and to a storage at storage.example, over pipes,
// for tests in a bubble of synctest. The handlers may be nil where nothing is sent.
func piped(t *testing.T, o Options, platform, storage http.HandlerFunc) *Transport {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/", (&testPlatform{}).handler(platform))
	mux.HandleFunc("storage.example/", func(w http.ResponseWriter, r *http.Request) { storage(w, r) })
	l := &pipes{dialed: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: mux}
	served := make(chan error)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		_ = server.Close()
		<-served
	})
	o.BaseURL, o.Dial = "http://platform.example", l.dial
	tr, _ := open(t, o)
	return tr
}

// pipes is a listener on connections without a network.
type pipes struct {
	dialed chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *pipes) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case l.dialed <- there:
		return here, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.dialed:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipes) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes"} }

func (p *testPlatform) issue(w http.ResponseWriter, r *http.Request) {
	var grant map[string]string
	id, secret, _ := r.BasicAuth()
	if json.NewDecoder(r.Body).Decode(&grant) != nil || id != "client-1" || secret != "client-secret-1" ||
		grant["grant_type"] == "password" && grant["password"] != "right-password" {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error":"invalid_grant","error_description":"wrong: %s"}`, grant["password"])
		return
	}
	p.mu.Lock()
	p.valid = fmt.Sprintf("token-number-%d", p.tokens.Add(1))
	valid := p.valid
	p.mu.Unlock()
	fmt.Fprintf(w, `{"access_token":%q,"token_type":"bearer","expires_in":%d,"refresh_token":"refresh-me-not"}`, valid, p.lifetime.Load())
}

// expire makes the current token worthless.
func (p *testPlatform) expire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.valid = "none"
}

var goodUser = Credentials{User: "ann", Password: "right-password", ClientID: "client-1", ClientSecret: "client-secret-1"}

// open makes a transport whose waits are noted instead of waited for.
func open(t *testing.T, o Options) (*Transport, *waits) {
	t.Helper()
	w := &waits{}
	if o.Sleep == nil {
		o.Sleep = w.sleep
	}
	if o.Credentials == (Credentials{}) {
		o.Credentials = goodUser
	}
	if o.Env == nil {
		o.Env = func(string) (string, bool) { return "", false }
	}
	tr, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.Close)
	return tr, w
}

type waits struct {
	mu  sync.Mutex
	all []time.Duration
}

func (w *waits) sleep(ctx context.Context, d time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, d)
	return ctx.Err()
}

func (w *waits) longest() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	var d time.Duration
	for _, x := range w.all {
		d = max(d, x)
	}
	return d
}

func isFault[F fault.Fault](t *testing.T, err error) F {
	t.Helper()
	f, ok := fault.Find(err).(F)
	if !ok {
		t.Fatalf("got %T %v, want %T", fault.Find(err), err, f)
	}
	if f.Facts().Hint == "" && f.Name() != "CancelledError" && f.Name() != "TimeoutError" {
		t.Errorf("%v has no hint", err)
	}
	return f
}

func get(path string) Request {
	return Request{Operation: "things.search", Repeatable: true, Path: path, Body: []byte(`{}`)}
}

func create(path string) Request {
	return Request{Operation: "things.create", Path: path, Body: []byte(`{}`)}
}
