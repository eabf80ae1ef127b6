package platform

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"transect/platform/store"
)

// A client that stalls in the middle of a body is answered 408, one that is slow
// or waits for a slow answer is not.
func TestStalledBody(t *testing.T) {
	s := inside(t, Options{})
	const timeout = 300 * time.Millisecond
	server := httptest.NewServer(limitStalls(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.p.handler.ServeHTTP(w, r)
		time.Sleep(2 * timeout)
		if r.Context().Err() != nil && r.Method == "POST" {
			t.Error("a request that was read is cancelled")
		}
	}), timeout))
	defer server.Close()
	s.base, s.http = server.URL, server.Client()
	slow, client := io.Pipe()
	go func() {
		for _, b := range []byte(`{"filter":{}}`) {
			client.Write([]byte{b})
			time.Sleep(timeout / 10)
		}
		client.Close()
	}()
	if a := s.do(s.request("POST", "/data-manager/search-datasets", slow)); a.status != 200 {
		t.Errorf("slow: %d %s", a.status, a.text)
	}
	stalled, client := io.Pipe()
	defer client.Close()
	id := s.dataset("file", store.Doc{"company": s.company}, "file")
	signed := s.ok("data-manager/init-upload-component", store.Doc{"dataset": id, "component": "file", "filename": "a", "checksum": sum(nil)})
	go client.Write([]byte("some"))
	r := s.request("PUT", store.Text(signed, "put_url"), stalled)
	for name, value := range signed["headers"].(store.Doc) {
		r.Header.Set(name, value.(string))
	}
	a := s.do(r)
	if a.status != 408 || !strings.Contains(a.text, "no byte") {
		t.Errorf("stalled: %d %s", a.status, a.text)
	}
}
