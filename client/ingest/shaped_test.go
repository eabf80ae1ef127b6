package ingest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"transect/client"
	"transect/client/journal"
	"transect/client/scan"
)

// shapedLine forwards connections to a server, and the bytes sent to it at a rate shared by all
// connections, each in its turn. Its buffers are small.
type shapedLine struct {
	narrowLine
	listener net.Listener
	target   string
}

func newShapedLine(t testing.TB, target string, perSecond int) *shapedLine {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	l := &shapedLine{narrowLine: narrowLine{perSecond: perSecond}, target: u.Host}
	if l.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			c, err := l.listener.Accept()
			if err != nil {
				return
			}
			go l.pass(c)
		}
	}()
	t.Cleanup(func() { _ = l.listener.Close() })
	return l
}

func (l *shapedLine) pass(c net.Conn) {
	defer c.Close()
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(16 << 10)
	}
	server, err := net.Dial("tcp", l.target)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(c, server)
		_ = c.Close()
	}()
	_, _ = io.Copy(server, struct{ io.Reader }{narrowBody{c, &l.narrowLine}})
}

func (l *shapedLine) url() string { return "http://" + l.listener.Addr().String() }

// shaped is a card and a shaped line to a world. Its uploads also use the line.
type shaped struct {
	*world
	line   *shapedLine
	folder string
	most   int // connections at a time
	log    bytes.Buffer
	mu     sync.Mutex
}

func (s *shaped) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Write(p)
}

func newShaped(t *testing.T, files, size, perSecond int) *shaped {
	t.Helper()
	s := &shaped{world: newWorld(t, nil), folder: t.TempDir()}
	s.line = newShapedLine(t, s.server.URL, perSecond)
	random, content := rand.NewChaCha8([32]byte{7}), make([]byte, size)
	for i := range files {
		_, _ = random.Read(content)
		if err := os.WriteFile(filepath.Join(s.folder, fmt.Sprintf("%03d.bin", i)), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// send ingests the card over the line, like a process with the world's state folder that is killed
// once ctx ends.
func (s *shaped) send(ctx context.Context) (*Result, error) {
	s.t.Helper()
	login := s.p.Credentials()
	log := slog.New(slog.NewTextHandler(s, nil))
	c, err := client.New(ctx, client.Settings{URL: s.line.url(), User: login.User, Password: login.Password},
		client.Options{Journal: journal.New(s.state, log), Logger: log})
	if err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan struct{})
	var counting sync.WaitGroup
	defer counting.Wait()
	defer close(ended)
	counting.Go(func() {
		for tick := time.Tick(time.Millisecond); ; {
			select {
			case <-tick:
				s.mu.Lock()
				s.most = max(s.most, c.TransferStats().Active())
				s.mu.Unlock()
			case <-ended:
				return
			}
		}
	})
	return Run(ctx, c, Options{Source: scan.Source{Root: s.folder}, Target: s.target, StateDir: s.state})
}

// sequential counts the files that a simple sender finishes over such a line in a time.
func sequential(t *testing.T, perSecond, size int, lasts time.Duration) (done int) {
	sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	defer sink.Close()
	line := newShapedLine(t, sink.URL, perSecond)
	ctx, stop := context.WithTimeout(t.Context(), lasts)
	defer stop()
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodPut, line.url(), bytes.NewReader(make([]byte, size)))
		if err != nil {
			t.Fatal(err)
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			return done
		}
		_ = a.Body.Close()
		done++
	}
}

// TestShapedLine: over a slow line, files are finished one after the other in the order of the
// card, nearly as many in a time as by a simple sender, without false messages, and a kill loses at
// most one per connection.
func TestShapedLine(t *testing.T) {
	const files, size = 29, 1_000_000
	perSecond, lasts := 3_000_000, 6*time.Second
	if os.Getenv("TRANSECT_SHAPED") != "" {
		perSecond, lasts = 300_000, time.Minute
	}
	s := newShaped(t, files, size, perSecond)
	ctx, kill := context.WithTimeout(t.Context(), lasts)
	defer kill()
	if _, err := s.send(ctx); err == nil {
		t.Fatal("it ended before it was killed")
	}
	finished, done, first := map[string]bool{}, 0, 0
	for _, d := range s.datasets() {
		if recordOf(d).Complete() {
			done++
			finished[d.Name] = true
		}
	}
	for finished[fmt.Sprintf("%03d.bin", first)] {
		first++
	}
	plain := sequential(t, perSecond, size, lasts)
	connections := s.most
	if float64(done) < 0.85*float64(plain) || first < done-connections || connections > 8 {
		t.Errorf("%d files were finished over %d connections, the first %d in order; %d by a plain sender", done, connections,
			first, plain)
	}
	if _, err := s.send(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.allHere(files)
	const requests = files * 10_000 // in addition to the files
	if lost := s.line.bytes.Load() - files*size - requests; lost > int64(connections)*size {
		t.Errorf("%d bytes were sent twice over %d connections", lost, connections)
	}
	if strings.Contains(s.log.String(), "waiting for the") {
		t.Errorf("it said:\n%s", s.log.String())
	}
}

// TestKilledPartsAreKept: the parts of a large file sent before a kill are kept, except for those in flight.
func TestKilledPartsAreKept(t *testing.T) {
	const size, part = 60 << 20, 10 << 20
	s := newShaped(t, 1, size, 10<<20)
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	var killed atomic.Bool
	go func() {
		for s.line.bytes.Load() < 35<<20 && t.Context().Err() == nil {
			time.Sleep(time.Millisecond)
		}
		killed.Store(true)
		kill()
	}()
	if _, err := s.send(ctx); err == nil || !killed.Load() {
		t.Fatal("it ended before it was killed", err)
	}
	if _, err := s.send(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.allHere(1)
	if sent := s.line.bytes.Load(); sent > size+2*part {
		t.Errorf("%d bytes were sent for a file of %d", sent, size)
	}
}
