package ingest

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"transect/client/scan"
)

// narrowLine reads the bodies of all uploads at a total rate.
type narrowLine struct {
	perSecond int
	mu        sync.Mutex
	free      time.Time
	bytes     atomic.Int64
}

func (l *narrowLine) wrap(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			r.Body = narrowBody{r.Body, l}
		}
		h.ServeHTTP(w, r)
	})
}

type narrowBody struct {
	io.ReadCloser
	line *narrowLine
}

func (b narrowBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p[:min(len(p), 8<<10)])
	l := b.line
	l.bytes.Add(int64(n))
	l.mu.Lock()
	if now := time.Now(); l.free.Before(now) {
		l.free = now
	}
	l.free = l.free.Add(time.Duration(n) * time.Second / time.Duration(l.perSecond))
	until := l.free
	l.mu.Unlock()
	time.Sleep(time.Until(until))
	return n, err
}

// TestTwoMachinesOneCard: two machines that send the same card over a narrow line at the same time,
// or one after the other, send hardly any file twice, and both find all of them uploaded in the
// end.
func TestTwoMachinesOneCard(t *testing.T) {
	const files, size = 29, 100_000
	for name, late := range map[string]int64{"at once": 0, "later": 4} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			line := &narrowLine{perSecond: 1_000_000}
			w := newWorld(t, line.wrap)
			folder := t.TempDir()
			random := rand.NewChaCha8([32]byte{1})
			for i := range files {
				content := make([]byte, size)
				_, _ = random.Read(content)
				if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%02d.bin", i)), content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var machines sync.WaitGroup
			results := [2]*Result{}
			for i := range results {
				if i > 0 {
					for line.bytes.Load() < late*size {
						time.Sleep(time.Millisecond)
					}
				}
				c, o := w.client(), Options{Source: scan.Source{Root: folder}, Target: w.target, StateDir: t.TempDir()}
				machines.Go(func() {
					var err error
					if results[i], err = Run(t.Context(), c, o); err != nil {
						t.Error(err)
					}
				})
			}
			machines.Wait()
			sent := int64(0)
			for i, r := range results {
				if r == nil || r.Counts.Bad() > 0 || r.Counts.Uploaded+r.Counts.AlreadyThere != files {
					t.Errorf("machine %d: %+v", i+1, r)
					continue
				}
				sent += r.Counts.Uploaded
			}
			if most := int64(files * size * 12 / 10); line.bytes.Load() > most || sent > files {
				t.Errorf("%d bytes arrived of %d, %d files were sent", line.bytes.Load(), files*size, sent)
			}
			w.allHere(files)
		})
	}
}
