package ingest

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// A server in between that does not let small files through in one request, in
// whatever way it says so, costs a few requests: they go to the storage.
func TestAtOnceStoppedInBetween(t *testing.T) {
	for name, refuse := range map[string]http.HandlerFunc{
		"body limit": func(w http.ResponseWriter, r *http.Request) {
			conn := hijacked(w)
			io.WriteString(conn, "HTTP/1.1 413 Request Entity Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			conn.Close() // with bytes unread: a reset
		},
		"page": func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			io.WriteString(w, "<!doctype html><title>Portal</title>")
		},
		"not acceptable": func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			w.WriteHeader(http.StatusNotAcceptable)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stopped atomic.Int64
			w := newWorld(t, func(h http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if strings.HasSuffix(r.URL.Path, "/upload-component") && r.ContentLength > 1000 {
						stopped.Add(1)
						refuse(w, r)
						return
					}
					h.ServeHTTP(w, r)
				})
			})
			r := w.run(numbered(t, 20, 900_000))
			w.expect(r, 20, 0, 0, 0)
			w.allHere(20)
			if stopped.Load() == 0 {
				t.Error("none was tried in one request")
			}
			if r.Counts.Bytes != 20*900_000 {
				t.Errorf("%d bytes", r.Counts.Bytes)
			}
		})
	}
}

func hijacked(w http.ResponseWriter) net.Conn {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	return conn
}
