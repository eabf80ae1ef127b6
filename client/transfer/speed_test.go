package transfer

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"time"

	"pgregory.net/rapid"

	"transect/client/fault"
	"transect/client/files"
)

// TestHashing: the checksums are right, however a file is split.
func TestHashing(t *testing.T) {
	path, content := fileOf(t, 21*MiB+12345)
	for _, p := range []plan{
		{chunk: 21*MiB + 12345, parts: 1}, {chunk: 5 * MiB, parts: 5}, {chunk: 20 * MiB, parts: 2}, {chunk: MiB, parts: 22},
		{chunk: maxHashWindow, parts: 1}, {chunk: 9 * MiB, parts: 3},
	} {
		p.size = int64(len(content))
		for _, given := range []string{"", sum(content)} {
			src, err := openSource(path, files.Tree{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := newHashing(NewStats()).file(t.Context(), src, p, given)
			src.close()
			if err != nil || got.whole != sum(content) || p.parts > 1 && len(got.parts) != p.parts {
				t.Fatalf("%+v: %v %v", p, got, err)
			}
			for i, part := range got.parts {
				if offset, size := p.span(i + 1); part != sum(content[offset:offset+size]) {
					t.Errorf("%+v: part %d is wrong", p, i+1)
				}
			}
		}
	}
}

// TestHashingLongParts: parts too long to be hashed concurrently.
func TestHashingLongParts(t *testing.T) {
	path, content := fileOf(t, 7*MiB+1)
	for _, given := range []string{"", sum(content)} {
		src, err := openSource(path, files.Tree{})
		if err != nil {
			t.Fatal(err)
		}
		h := newHashing(NewStats())
		h.window = MiB
		got, err := h.file(t.Context(), src, plan{size: 7*MiB + 1, chunk: 5 * MiB, parts: 2}, given)
		src.close()
		if err != nil || got.whole != sum(content) || got.parts[0] != sum(content[:5*MiB]) || got.parts[1] != sum(content[5*MiB:]) {
			t.Error(got, err)
		}
	}
}

// TestManyFiles uploads files whose checksums are computed in batches, from
// memory and, where too little is free, from the files.
func TestManyFiles(t *testing.T) {
	s := newService(t)
	transfers := fast(s, Options{})
	if !transfers.memory.free.TryAcquire(maxMemory - 20*bufferUnit) {
		t.Fatal("memory is in use")
	}
	var wait sync.WaitGroup
	for i := range 60 {
		path, content := fileOf(t, 100_000+i*7919)
		wait.Go(func() {
			up, err := transfers.Upload(t.Context(), Upload{Path: path, Multipart: true, MD5: ""})
			if f := fault.Find(err); f != nil && f.Name() != "ResponseError" || err == nil && up.MD5 != sum(content) {
				t.Error(up, err) // the service only mixes up the files of one component
			}
		})
	}
	wait.Wait()
	if !transfers.memory.free.TryAcquire(20 * bufferUnit) {
		t.Error("memory was not returned")
	}
}

func TestMemoryIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMemory()
		var lent [][]byte
		bytes := int64(0)
		for range 60 {
			if len(lent) > 0 && rapid.Bool().Draw(t, "back") {
				last := lent[len(lent)-1]
				bytes -= int64(len(last))
				m.release(last)
				lent = lent[:len(lent)-1]
				continue
			}
			size := rapid.Int64Range(1, 20*MiB).Draw(t, "size")
			if b := m.tryAllocate(size); b != nil {
				lent = append(lent, b)
				if bytes += size; int64(len(b)) != size || bytes > maxMemory {
					t.Fatalf("%d bytes lent, %d in the last buffer", bytes, len(b))
				}
			}
		}
	})
}

// TestOneBudgetForFilesAndParts: concurrent requests to the storage stay within it.
func TestOneBudgetForFilesAndParts(t *testing.T) {
	s := newService(t)
	s.onPut = func(_ http.ResponseWriter, r *http.Request, _, _ int) bool {
		time.Sleep(2 * time.Millisecond)
		_, _ = io.Copy(io.Discard, r.Body)
		return true
	}
	transfers := fast(s, Options{Budget: NewBudget(4)})
	long, _ := fileOf(t, 26*MiB)
	var wait sync.WaitGroup
	for i := range 24 {
		path := long
		if i > 1 {
			path, _ = fileOf(t, 20_000)
		}
		wait.Go(func() {
			if _, err := transfers.Upload(t.Context(), Upload{Path: path, Multipart: true, ChunkSize: 5 * MiB}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if s.most > 4 || s.most < 3 {
		t.Errorf("%d at a time of 4", s.most)
	}
	if n := transfers.Stats.Active(); n != 0 {
		t.Errorf("%d active at the end", n)
	}
}

func TestLimiter(t *testing.T) {
	s := NewStats()
	now := time.Now()
	s.now, s.start = func() time.Time { return now }, now
	if s.Limiter() != "" {
		t.Error("an idle run is limited by ", s.Limiter())
	}
	for _, a := range []activity{onDisk, onCPU, onServer, onLimit, onNetwork} {
		for range 4 { // move earlier time out of the window
			now = now.Add(limiterWindow)
			s.add(a, 3*time.Second)
			s.add(onNetwork, time.Second)
			s.Limiter()
		}
		if got := s.Limiter(); got != activityNames[a] {
			t.Errorf("limited by %s, reported is %q", activityNames[a], got)
		}
	}
	for range 3 {
		now = now.Add(limiterWindow)
		s.Limiter()
	}
	if got := s.Limiter(); got != "" {
		t.Errorf("an idle run is limited by %q", got)
	}
}

// TestStatsCount counts retries and repeated bytes, and nothing else.
func TestStatsCount(t *testing.T) {
	s := newService(t)
	s.onPut = func(w http.ResponseWriter, r *http.Request, part, attempt int) bool {
		if part == 2 && attempt == 1 {
			_, _ = io.Copy(io.Discard, r.Body)
			w.WriteHeader(500) // after the bytes arrived
			return true
		}
		return false
	}
	path, content := fileOf(t, 11*MiB)
	transfers := fast(s, Options{})
	var progress atomic.Int64
	_, err := transfers.Upload(t.Context(), Upload{Path: path, Multipart: true, ChunkSize: 5 * MiB, Progress: func(n int64) { progress.Add(n) }})
	if err != nil {
		t.Fatal(err)
	}
	stats := transfers.Stats
	if stats.Retries() != 1 || stats.Sent() != int64(len(content))+5*MiB || progress.Load() != int64(len(content)) {
		t.Errorf("%d retries, %d bytes transferred, %d counted", stats.Retries(), stats.Sent(), progress.Load())
	}
	for _, a := range []activity{onCPU, onDisk, onServer} {
		if stats.spent[a].Load() <= 0 {
			t.Errorf("no time spent on %s", activityNames[a])
		}
	}
}

// TestLimitedUpload: a limit holds for all files together.
func TestLimitedUpload(t *testing.T) {
	s := newService(t)
	limit, err := ParseBandwidth("1M")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	now := time.Now()
	began := now
	limit.now = func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	limit.sleep = func(ctx context.Context, d time.Duration) error {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(max(d, 0))
		return ctx.Err()
	}
	transfers := fast(s, Options{Bandwidth: limit, Budget: NewBudget(1)})
	for i := range 3 {
		path, _ := fileOf(t, MiB+i)
		if _, err := transfers.Upload(t.Context(), Upload{Path: path}); err != nil {
			t.Fatal(err)
		}
	}
	if took := now.Sub(began).Seconds(); took < 2.7 || took > 3.5 {
		t.Errorf("3 MiB at 1 MiB/s took %.2f s", took)
	}
}

func TestTooManyPartsGrow(t *testing.T) {
	p, err := planFor(100*GiB, Upload{Multipart: true}, false)
	if err != nil || p.parts > MaxParts || p.chunk <= DefaultChunk {
		t.Errorf("%+v %v", p, err)
	}
	if _, err := planFor(51*1024*GiB, Upload{Path: "x", Multipart: true}, false); fault.Find(err) == nil {
		t.Error(fmt.Sprint("planned: ", err))
	}
}
