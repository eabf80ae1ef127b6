package transfer

import (
	"bytes"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"transect/client/fault"
)

// memoryJournal keeps uploads for as long as a test lasts.
type memoryJournal struct {
	mu      sync.Mutex
	uploads map[Destination]*memoryUpload
}

type memoryUpload struct {
	BegunUpload
	file File
}

func (j *memoryJournal) Find(d Destination, f File) *BegunUpload {
	j.mu.Lock()
	defer j.mu.Unlock()
	u := j.uploads[d]
	if u == nil {
		return nil
	}
	b := u.BegunUpload
	b.Done = maps.Clone(b.Done)
	b.SamePath, b.Unchanged = u.file.Path == f.Path, u.file == f
	return &b
}

func (j *memoryJournal) Begin(d Destination, f File, b BegunUpload) int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.uploads == nil {
		j.uploads = map[Destination]*memoryUpload{}
	}
	b.ID, b.Done = rand.Int64(), map[int]bool{}
	j.uploads[d] = &memoryUpload{b, f}
	return b.ID
}

func (j *memoryJournal) Confirm(d Destination, id int64, part int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if u := j.uploads[d]; u != nil && u.ID == id {
		u.Done[part] = true
	}
}

func (j *memoryJournal) Forget(d Destination, id int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if u := j.uploads[d]; u != nil && (id == 0 || u.ID == id) {
		delete(j.uploads, d)
	}
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
	transfers := fast(s, Options{Journal: &memoryJournal{}, Budget: NewBudget(1)})
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
			transfers := fast(s, Options{Journal: &memoryJournal{}, Budget: NewBudget(1)})
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

// TestChangedFileStartsOver: only a file of the same content is resumed.
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
			journal := &memoryJournal{}
			transfers := fast(s, Options{Journal: journal, Budget: NewBudget(1), Logger: slog.New(slog.NewTextHandler(&log, nil))})
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
				clear(s.parts) // as the platform does when another upload begins
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
			if len(journal.uploads) != 0 {
				t.Error("a completed upload is remembered")
			}
		})
	}
}
