package platform

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"transect/platform/internal/store"
)

// TestCancelUpload cancels a request whose body never ends.
func TestCancelUpload(t *testing.T) {
	s := inside(t, Options{})
	id := s.dataset("file", store.Doc{"company": s.company}, "file")
	signed := s.ok("data-manager/init-upload-component", store.Doc{
		"dataset": id, "component": "file", "filename": "a", "checksum": sum(nil)})
	ctx, cancel := context.WithCancel(t.Context())
	body, writer := io.Pipe()
	defer writer.Close()
	r := s.request("PUT", store.Text(signed, "put_url"), body).WithContext(ctx)
	for name, value := range signed["headers"].(store.Doc) {
		r.Header.Set(name, value.(string))
	}
	go func() {
		writer.Write([]byte("some bytes"))
		cancel()
	}()
	start := time.Now()
	_, err := s.http.Do(r)
	if !errors.Is(err, context.Canceled) || time.Since(start) > 5*time.Second {
		t.Errorf("got %v after %v", err, time.Since(start))
	}
	if _, err := body.Read(make([]byte, 1)); err == nil {
		t.Error("the request's body is still open")
	}
}

// TestCancelDownload cancels, and closes early, a response being streamed.
func TestCancelDownload(t *testing.T) {
	s := inside(t, Options{})
	id := s.dataset("file", store.Doc{"company": s.company}, "file")
	content := noise(32 << 20) // more than sockets buffer: the end is not read before the cancel
	s.upload(id, "file", "a", content)
	get := func(ctx context.Context) *http.Response {
		r := s.request("GET", "/data-manager/download-component?dataset="+id+"&component=file", nil).WithContext(ctx)
		response, err := s.http.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if response.ContentLength != int64(len(content)) {
			t.Errorf("length %d", response.ContentLength)
		}
		if _, err := io.ReadFull(response.Body, make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
		return response
	}
	ctx, cancel := context.WithCancel(t.Context())
	response := get(ctx)
	cancel()
	if _, err := io.Copy(io.Discard, response.Body); !errors.Is(err, context.Canceled) {
		t.Errorf("reading on after cancel: %v", err)
	}
	response.Body.Close()
	if err := get(t.Context()).Body.Close(); err != nil {
		t.Error(err)
	}
	s.get("/data-manager/describe-nothing") // and the platform goes on
}

// TestCloseEndsRequests closes a platform under a reader.
func TestCloseEndsRequests(t *testing.T) {
	s := inside(t, Options{})
	id := s.dataset("file", store.Doc{"company": s.company}, "file")
	s.upload(id, "file", "a", noise(5<<20))
	response, err := s.http.Do(s.request("GET", "/data-manager/download-component?dataset="+id+"&component=file", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	closed := make(chan error, 1)
	go func() { closed <- s.p.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("Close waits for a reader")
	}
	if _, err := s.http.Do(s.request("POST", "/dxauth/describe-user", strings.NewReader("{}"))); err == nil {
		t.Error("a closed platform answers")
	}
}
