package transfer

import (
	"bytes"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"transect/client/fault"
	"transect/client/journal"
)

// newJournal returns a journal and a function that lists its files.
func newJournal(t *testing.T) (j *journal.Journal, files func() string) {
	state := t.TempDir()
	return journal.New(state, nil), func() string { return entries(t, filepath.Join(state, "uploads")) }
}

// refusePart answers the first attempt at a part with a final status.
func refusePart(part int) func(http.ResponseWriter, *http.Request, int, int) bool {
	return func(w http.ResponseWriter, _ *http.Request, n, attempt int) bool {
		if n == part && attempt == 1 {
			w.WriteHeader(400)
			return true
		}
		return false
	}
}

func TestJournalSkipsConfirmedParts(t *testing.T) {
	s := newService(t)
	s.onPut = refusePart(3)
	path, content := fileOf(t, 14*MiB)
	kept, _ := newJournal(t)
	transfers := fast(s, Options{Journal: kept, Budget: NewBudget(1)})
	u := Upload{Path: path, Multipart: true, ChunkSize: 5 * MiB}
	_, err := transfers.Upload(t.Context(), u)
	isFault[*fault.UploadError](t, err)
	up, err := transfers.Upload(t.Context(), u)
	if err != nil || up.Resumed != 2 {
		t.Fatal(up, err)
	}
	if s.puts.Load() != 4 || !bytes.Equal(s.completed, content) || strings.Join(s.routes(), " ") != "create-multipart-upload complete-multipart-upload" {
		t.Errorf("%d puts, calls %v", s.puts.Load(), s.routes())
	}
}

func TestUploadThePlatformLostStartsOver(t *testing.T) {
	for name, status := range map[string]int{"missing parts": 400, "unknown": 404, "replaced": 409} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			s.onPut = refusePart(3)
			path, content := fileOf(t, 14*MiB)
			kept, _ := newJournal(t)
			transfers := fast(s, Options{Journal: kept, Budget: NewBudget(1)})
			var progress atomic.Int64
			u := Upload{Path: path, Multipart: true, ChunkSize: 5 * MiB}
			if _, err := transfers.Upload(t.Context(), u); err == nil {
				t.Fatal("it did not break off")
			}
			s.mu.Lock()
			clear(s.parts)
			s.refuseComplete = status
			s.mu.Unlock()
			u.Progress = func(n int64) { progress.Add(n) }
			up, err := transfers.Upload(t.Context(), u)
			if err != nil || up.Resumed != 0 {
				t.Fatal(up, err)
			}
			if !bytes.Equal(s.completed, content) || progress.Load() != int64(len(content)) {
				t.Errorf("%d bytes arrived, %d counted", len(s.completed), progress.Load())
			}
		})
	}
}

// TestChangedFileStartsOver: only a file with the same content is resumed.
func TestChangedFileStartsOver(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(path string) error
		resumed int
		warned  bool
	}{
		"touched":  {func(p string) error { return os.Chtimes(p, time.Time{}, time.Now().Add(-time.Hour)) }, 2, false},
		"content":  {func(p string) error { return os.WriteFile(p, make([]byte, 14*MiB), 0o600) }, 0, true},
		"longer":   {func(p string) error { return os.WriteFile(p, make([]byte, 15*MiB), 0o600) }, 0, true},
		"one part": {func(p string) error { return os.WriteFile(p, make([]byte, 3*MiB), 0o600) }, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			s.onPut = refusePart(3)
			path, _ := fileOf(t, 14*MiB)
			var log bytes.Buffer
			kept, files := newJournal(t)
			transfers := fast(s, Options{Journal: kept, Budget: NewBudget(1), Logger: slog.New(slog.NewTextHandler(&log, nil))})
			u := Upload{Path: path, Multipart: true, ChunkSize: 5 * MiB}
			if _, err := transfers.Upload(t.Context(), u); err == nil {
				t.Fatal("it did not break off")
			}
			s.onPut = nil
			if err := c.change(path); err != nil {
				t.Fatal(err)
			}
			s.mu.Lock()
			if c.resumed == 0 {
				clear(s.parts) // like the platform when another upload begins
			}
			s.mu.Unlock()
			up, err := transfers.Upload(t.Context(), u)
			if err != nil || up.Resumed != c.resumed {
				t.Error(up, err)
			}
			if content, _ := os.ReadFile(path); !bytes.Equal(s.completed, content) {
				t.Errorf("%d bytes arrived", len(s.completed))
			}
			if strings.Contains(log.String(), "changed since its upload began") != c.warned {
				t.Errorf("log: %s", log.String())
			}
			if files() != "" {
				t.Error("a completed upload is remembered")
			}
		})
	}
}
