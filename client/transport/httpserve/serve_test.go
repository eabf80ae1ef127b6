package httpserve

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// serve serves a handler that refuses whoever has no token, and returns its address.
func serve(t *testing.T, limits Limits, h http.HandlerFunc) (address string) {
	t.Helper()
	listener, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Server{Handler: h, Limits: limits}.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String()
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	return conn
}

// A body that stalls holds no connection, whether its length is declared or not, and
// whether the handler reads it, answers before it, or answers without it.
func TestStalledBodyEndsTheConnection(t *testing.T) {
	t.Parallel()
	const stall = 200 * time.Millisecond
	address := serve(t, Limits{Stall: stall, Rest: stall}, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/read":
			if _, err := io.ReadAll(r.Body); err != nil {
				w.WriteHeader(http.StatusRequestTimeout)
			}
		case "/stream":
			io.WriteString(w, "news")
			http.NewResponseController(w).Flush()
			io.ReadAll(r.Body)
		default:
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
	for path, status := range map[string]string{"/read": " 408 ", "/stream": " 200 ", "/refused": " 401 "} {
		for name, body := range map[string]string{"declared": "Content-Length: 1000\r\n\r\nsome", "chunked": "Transfer-Encoding: chunked\r\n\r\n4\r\nsome\r\n"} {
			t.Run(path+" "+name, func(t *testing.T) {
				t.Parallel()
				conn := dial(t, address)
				io.WriteString(conn, "POST "+path+" HTTP/1.1\r\nHost: x\r\n"+body)
				line, _ := bufio.NewReader(conn).ReadString('\n')
				if !strings.Contains(line, status) {
					t.Errorf("answered %q, want%s", line, status)
				}
				if _, err := io.Copy(io.Discard, conn); err != nil {
					t.Errorf("the connection is still open: %v", err)
				}
			})
		}
	}
}

// A request whose body was read may take its time, and the connection serves others
// afterwards.
func TestBodyThatWasReadLimitsNothing(t *testing.T) {
	t.Parallel()
	const stall = 200 * time.Millisecond
	address := serve(t, Limits{Stall: stall, Rest: stall}, func(_ http.ResponseWriter, r *http.Request) {
		io.ReadAll(r.Body)
		time.Sleep(2 * stall)
		if r.Context().Err() != nil {
			t.Error("a request that was read is cancelled")
		}
	})
	conn := dial(t, address)
	answers := bufio.NewReader(conn)
	for range 2 {
		io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nsome")
		response, err := http.ReadResponse(answers, nil)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatal(response, err)
		}
		time.Sleep(2 * stall)
	}
}

// One peer cannot take all connections; those it closes are free again.
func TestConnectionsOfAPeerAreBounded(t *testing.T) {
	t.Parallel()
	address := serve(t, Limits{Connections: 3}, func(http.ResponseWriter, *http.Request) {})
	answered := func(conn net.Conn) bool {
		io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		_, err := http.ReadResponse(bufio.NewReader(conn), nil)
		return err == nil
	}
	var open []net.Conn
	for i := range 3 {
		open = append(open, dial(t, address))
		if !answered(open[i]) {
			t.Fatalf("connection %d is refused", i+1)
		}
	}
	if answered(dial(t, address)) {
		t.Error("a fourth connection is answered")
	}
	open[0].Close()
	for deadline := time.Now().Add(10 * time.Second); !answered(dial(t, address)); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a closed connection is still counted")
		}
	}
}
