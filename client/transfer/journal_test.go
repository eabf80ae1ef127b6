package transfer

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"transect/client/fault"
)

// memoryJournal keeps entries for as long as a test lasts.
type memoryJournal struct {
	mu      sync.Mutex
	entries map[string]*memoryEntry
}

type memoryEntry struct {
	mu             sync.Mutex
	whole          string
	parts          []string
	started, ended string
	done           map[int]bool
}

func (j *memoryJournal) Open(f File, p Place, chunk int64) Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	key := fmt.Sprint(f.Path, f.Size, f.ModTime.UnixNano(), p, chunk)
	if j.entries == nil {
		j.entries = map[string]*memoryEntry{}
	}
	if j.entries[key] == nil {
		j.entries[key] = &memoryEntry{done: map[int]bool{}}
	}
	return j.entries[key]
}

func (j *memoryJournal) Begin(f File, p Place, chunk int64) Entry { return j.Open(f, p, chunk) }

func (e *memoryEntry) locked(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f()
}

func (e *memoryEntry) Sums() (string, []string) { return e.whole, e.parts }
func (e *memoryEntry) Hashed(whole string, parts []string) {
	e.whole, e.parts = whole, parts
}
func (e *memoryEntry) Started(whole string) bool { return e.started == whole }
func (e *memoryEntry) Start(whole string)        { e.started, e.done = whole, map[int]bool{} }
func (e *memoryEntry) Done(n int) (done bool)    { e.locked(func() { done = e.done[n] }); return done }
func (e *memoryEntry) Confirm(n int)             { e.locked(func() { e.done[n] = true }) }
func (e *memoryEntry) Finished() string          { return e.ended }
func (e *memoryEntry) Finish(whole string)       { e.started, e.ended, e.done = "", whole, map[int]bool{} }
func (e *memoryEntry) Forget()                   { e.started, e.ended, e.done = "", "", map[int]bool{} }
func (e *memoryEntry) Changed() bool             { return false }

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

func TestFinishedIsSkippedOnlyWhenAsked(t *testing.T) {
	for _, size := range []int{MiB, 11 * MiB} {
		s := newService(t)
		path, content := fileOf(t, size)
		transfers := fast(s, Options{Journal: &memoryJournal{}})
		u := Upload{Path: path, Multipart: true, ChunkSize: 5 * MiB}
		for range 2 {
			if up, err := transfers.Upload(t.Context(), u); err != nil || up.Skipped {
				t.Fatal(up, err)
			}
		}
		asked := len(s.routes())
		u.SkipFinished = true
		up, err := transfers.Upload(t.Context(), u)
		if err != nil || !up.Skipped || up.MD5 != sum(content) || len(s.routes()) != asked {
			t.Error(up, err, s.routes())
		}
		u.MD5 = strings.Repeat("0", 32)
		if up, _ := transfers.Upload(t.Context(), u); up.Skipped {
			t.Error("skipped although another checksum was asked for")
		}
		u.MD5 = ""
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
		if up, err := transfers.Upload(t.Context(), u); err != nil || up.Skipped {
			t.Error("skipped although it changed", err)
		}
	}
}
