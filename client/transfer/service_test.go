package transfer

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
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
)

func TestMain(m *testing.M) {
	if address := os.Getenv("TRANSECT_TEST_FETCH"); address != "" {
		fetchUntilKilled(address, os.Getenv("TRANSECT_TEST_FOLDER"))
	}
	// Hashing side by side keeps what it needs for the next time.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/minio/md5-simd.(*md5Server).process"))
}

// testService is a platform with its storage: it takes parts apart from each
// other, checks their checksums, and joins them on completion.
type testService struct {
	*httptest.Server
	mu        sync.Mutex
	calls     []string // routes in order, parts left out
	create    map[string]any
	expected  map[int]string // checksum by part; 0: whole
	parts     map[int][]byte
	completed []byte
	// refuseComplete is the status of the next completion, once.
	refuseComplete int
	asked          atomic.Int64
	signs          atomic.Int64
	puts           atomic.Int64
	inFlight       atomic.Int64
	most           int64

	// onPut may answer a storage request itself; it says whether it did.
	onPut func(w http.ResponseWriter, r *http.Request, part int, attempt int) bool
	tries map[int]int
	// onGet serves downloads.
	onGet http.HandlerFunc
}

func newService(t *testing.T) *testService {
	s := &testService{expected: map[int]string{}, parts: map[int][]byte{}, tries: map[int]int{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		s.Close()
	})
	return s
}

func (s *testService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked.Add(1)
	route := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	switch {
	case r.Method == http.MethodGet:
		s.mu.Lock() // the one who asks may be another process
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

// begin notes what an upload, one of several perhaps, was begun with.
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

// routes and triesOf may be asked while requests of a stopped upload still end.
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

// Call, Post, Put and Get make the service a Caller over real HTTP.
func (s *testService) Call(ctx context.Context, service, route string, body, out any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := s.do(ctx, http.MethodPost, s.URL+"/"+service+"/"+route, nil, bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return err
	}
	defer func() { _ = r.Body.Close() }()
	if r.StatusCode >= 300 {
		return refusal(r.StatusCode)
	}
	if out == nil {
		_, err = io.Copy(io.Discard, r.Body)
		return err
	}
	return json.NewDecoder(r.Body).Decode(out)
}

func (s *testService) Post(ctx context.Context, path string, query url.Values, body func() (io.ReadCloser, error), size int64) error {
	status, err := s.send(ctx, http.MethodPost, s.URL+path+"?"+query.Encode(), nil, body, size)
	if err == nil && status == http.StatusServiceUnavailable { // the client's core repeats it
		status, err = s.send(ctx, http.MethodPost, s.URL+path+"?"+query.Encode(), nil, body, size)
	}
	switch {
	case err != nil && ctx.Err() == nil && fault.Find(err) == nil:
		err = fault.Of(&fault.ConnectionError{}, "%w", err)
	case err == nil && status >= 300:
		err = refusal(status)
	}
	return err
}

func (s *testService) Put(ctx context.Context, address string, header http.Header, body func() (io.ReadCloser, error), size int64) (int, error) {
	return s.send(ctx, http.MethodPut, address, header, body, size)
}

func (s *testService) send(ctx context.Context, method, address string, header http.Header, body func() (io.ReadCloser, error), size int64) (int, error) {
	b, err := body()
	if err != nil {
		return 0, err
	}
	r, err := s.do(ctx, method, address, header, b, size)
	if err != nil {
		return 0, err
	}
	_ = r.Body.Close()
	return r.StatusCode, nil
}

func (s *testService) Get(ctx context.Context, path string, query url.Values, part Span) (*http.Response, error) {
	header := part.Header()
	header.Set("Accept-Encoding", "identity")
	r, err := s.do(ctx, http.MethodGet, s.URL+path+"?"+query.Encode(), header, nil, 0)
	if err == nil && r.StatusCode >= 400 {
		_ = r.Body.Close()
		return nil, refusal(r.StatusCode)
	}
	return r, err
}

func (s *testService) do(ctx context.Context, method, address string, header http.Header, body io.Reader, size int64) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, err
	}
	if header != nil {
		r.Header = header
	}
	if size > 0 {
		r.ContentLength = size
	}
	return http.DefaultClient.Do(r)
}

func refusal(status int) error {
	f := fault.Of(&fault.ResponseError{}, "status %d", status)
	f.Status = status
	return f
}

// fast makes transfers that do not wait between attempts.
func fast(s *testService, o Options) *Transfers {
	o.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	return New(s, o)
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
