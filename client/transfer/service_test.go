package transfer

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"transect/client/fault"
	"transect/client/transport"
)

func TestMain(m *testing.M) {
	if address := os.Getenv("TRANSECT_TEST_FETCH"); address != "" {
		fetchUntilKilled(address, os.Getenv("TRANSECT_TEST_FOLDER"))
	}
	// Concurrent hashing keeps its goroutine for reuse.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/minio/md5-simd.(*md5Server).process"))
}

// testService is a platform with its storage: it receives parts separately, checks their checksums,
// and joins them on completion.
type testService struct {
	*httptest.Server
	mu         sync.Mutex
	transports []*transport.Transport
	calls      []string // routes in order, parts left out
	create     map[string]any
	expected   map[int]string // checksum by part; 0: whole
	parts      map[int][]byte
	completed  []byte
	// refuseComplete is the status of the next completion, once.
	refuseComplete int
	asked          atomic.Int64
	signs          atomic.Int64
	puts           atomic.Int64
	inFlight       atomic.Int64
	most           int64

	// onPut may answer a storage request itself, and then returns true.
	onPut func(w http.ResponseWriter, r *http.Request, part int, attempt int) bool
	tries map[int]int
	// onGet serves downloads.
	onGet http.HandlerFunc
}

func newService(t *testing.T) *testService {
	s := &testService{expected: map[int]string{}, parts: map[int][]byte{}, tries: map[int]int{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		for _, t := range s.transports {
			t.Close()
		}
		s.Close()
	})
	return s
}

func (s *testService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked.Add(1)
	route := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	switch {
	case r.Method == http.MethodGet:
		s.mu.Lock() // the caller may be another process
		get := s.onGet
		s.mu.Unlock()
		get(w, r)
		return
	case r.Method == http.MethodPut:
		s.storage(w, r)
		return
	case route == "upload-component" || route == "upload-part":
		n, _ := strconv.Atoi(r.URL.Query().Get("part_number"))
		b, _ := io.ReadAll(r.Body)
		s.note(route)
		s.mu.Lock()
		s.expected[n] = r.URL.Query().Get("checksum")
		s.mu.Unlock()
		s.take(w, n, b)
		if route == "upload-component" {
			s.complete(w)
		}
		return
	}
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	switch route {
	case "init-upload-component", "get-upload-part-url":
		n, _ := body["part_number"].(float64)
		s.mu.Lock()
		s.expected[int(n)], _ = body["checksum"].(string)
		s.mu.Unlock()
		if n == 0 {
			s.begin(route, body)
		}
		fmt.Fprintf(w, `{"put_url":"%s/storage?part=%d&sig=s%d","headers":{"X-Part":"%d"}}`, s.URL, int(n), s.signs.Add(1), int(n))
	case "create-multipart-upload":
		s.begin(route, body)
		fmt.Fprint(w, `{"total_parts":1}`)
	case "complete-upload-component", "complete-multipart-upload":
		s.note(route)
		s.complete(w)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// begin records the start of an upload, possibly one of several.
func (s *testService) begin(route string, body map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, route)
	s.create = body
}

func (s *testService) note(route string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, route)
}

// routes may be called, like triesOf, while requests of a stopped upload still end.
func (s *testService) routes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

func (s *testService) triesOf(part int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tries[part]
}

func (s *testService) storage(w http.ResponseWriter, r *http.Request) {
	s.puts.Add(1)
	now := s.inFlight.Add(1)
	defer s.inFlight.Add(-1)
	n, _ := strconv.Atoi(r.URL.Query().Get("part"))
	s.mu.Lock()
	s.most = max(s.most, now)
	s.tries[n]++
	attempt := s.tries[n]
	s.mu.Unlock()
	if s.onPut != nil && s.onPut(w, r, n, attempt) {
		return
	}
	if r.Header.Get("X-Part") != strconv.Itoa(n) {
		w.WriteHeader(http.StatusBadRequest) // sent with another part's headers
		return
	}
	b, err := io.ReadAll(r.Body)
	if err == nil {
		s.take(w, n, b)
	}
}

func (s *testService) take(w http.ResponseWriter, n int, b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sum(b) != s.expected[n] {
		w.WriteHeader(http.StatusUnprocessableEntity)
		return
	}
	s.parts[n] = b
}

func (s *testService) complete(w http.ResponseWriter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if status := s.refuseComplete; status != 0 {
		s.refuseComplete = 0
		w.WriteHeader(status)
		return
	}
	s.completed = nil
	for n := range len(s.parts) + 1 {
		s.completed = append(s.completed, s.parts[n]...)
	}
}

func sum(b []byte) string {
	h := md5.Sum(b)
	return hex.EncodeToString(h[:])
}

// fast returns transfers that do not wait between attempts.
func fast(s *testService, o Options) *Transfers {
	o.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	return New(s.connect(o.Sleep), o)
}

// connect returns a transport to the service.
func (s *testService) connect(sleep func(context.Context, time.Duration) error) *transport.Transport {
	t, err := transport.New(transport.Options{BaseURL: s.URL, Credentials: transport.Credentials{AccessToken: "token"}, Sleep: sleep})
	if err != nil {
		panic(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.transports = append(s.transports, t)
	return t
}

func fileOf(t *testing.T, size int) (path string, content []byte) {
	t.Helper()
	content = make([]byte, size)
	for i := range content {
		content[i] = byte(i>>16 ^ i*7)
	}
	path = filepath.Join(t.TempDir(), "flight.tif")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, content
}

func isFault[F fault.Fault](t *testing.T, err error) F {
	t.Helper()
	f, ok := fault.Find(err).(F)
	if !ok {
		t.Fatalf("got %T %v, want %T", fault.Find(err), err, f)
	}
	return f
}
