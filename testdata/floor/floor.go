// Package floor is a platform that keeps nothing: it answers the routes of
// uploads and datasets and discards the bytes. Benchmarks measure the client
// against it.
package floor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// Server is such a platform. Any credentials will do.
type Server struct {
	URL   string
	Bytes atomic.Int64 // of files received

	// Records is the number of datasets that a search finds.
	Records int

	mu          sync.Mutex
	first, last time.Time // when the first request came and the last was answered

	latency time.Duration
	created atomic.Int64
}

// Serve starts a server that answers after some latency.
func Serve(tb testing.TB, latency time.Duration) *Server {
	s := &Server{latency: latency}
	server := httptest.NewServer(s)
	tb.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

var buffers = sync.Pool{New: func() any { return new([256 << 10]byte) }}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/token") {
		s.mu.Lock()
		if s.first.IsZero() {
			s.first = time.Now()
		}
		s.mu.Unlock()
		defer func() {
			s.mu.Lock()
			s.last = time.Now()
			s.mu.Unlock()
		}()
	}
	time.Sleep(s.latency)
	if r.Method == http.MethodPut {
		buffer := buffers.Get().(*[256 << 10]byte)
		defer buffers.Put(buffer)
		for {
			n, err := r.Body.Read(buffer[:])
			s.Bytes.Add(int64(n))
			if err != nil {
				return
			}
		}
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	switch route := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]; route {
	case "token":
		io.WriteString(w, `{"access_token":"a","token_type":"Bearer","expires_in":3600}`)
	case "describe-user":
		io.WriteString(w, `{"_id":"`+s.id()+`","company":"`+s.id()+`"}`)
	case "projects":
		io.WriteString(w, `{"project":{"_id":"`+s.id()+`","name":"project"}}`)
	case "create-dataset":
		w.Write(s.dataset(body))
	case "create-datasets":
		var list [][]byte
		gjson.GetBytes(body, "datasets").ForEach(func(_, d gjson.Result) bool {
			list = append(list, s.dataset([]byte(d.Raw)))
			return true
		})
		fmt.Fprintf(w, "[%s]", bytes.Join(list, []byte(",")))
	case "init-upload-component", "get-upload-part-url":
		fmt.Fprintf(w, `{"put_url":"%s/storage/%d","headers":{"Content-MD5":"x"}}`, s.URL, s.created.Add(1))
	case "create-multipart-upload":
		parts := max(1, (gjson.GetBytes(body, "total_size").Int()-1)/max(1, gjson.GetBytes(body, "chunk_size").Int())+1)
		fmt.Fprintf(w, `{"total_parts":%d}`, parts)
	case "complete-upload-component", "complete-multipart-upload":
		io.WriteString(w, `{}`)
	default: // a search
		s.search(w, body)
	}
}

// Span is the time from the first request to the last answer since it was asked for
// last: a client's start and its login are outside.
func (s *Server) Span() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	span := s.last.Sub(s.first)
	s.first = time.Time{}
	return span
}

func (s *Server) id() string { return fmt.Sprintf("%024x", s.created.Add(1)) }

// dataset is a dataset as it was sent, with an identifier.
func (s *Server) dataset(sent []byte) []byte {
	sent = bytes.TrimSpace(sent)
	if !json.Valid(sent) || len(sent) < 3 {
		return []byte("null")
	}
	return append([]byte(`{"_id":"`+s.id()+`",`), sent[1:]...)
}
