package transfer

import (
	"context"
	"crypto/md5" // the protocol's checksum, not a protection
	"errors"
	"hash"
	"io"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"transect/client/checksum"
	"transect/client/fault"
)

const (
	// hashSlots is how many files are hashed at a time. A long file takes several slots, as it
	// occupies two cores.
	hashSlots    = checksum.Width
	longFileSlot = hashSlots / 4
	hashBuffer   = 256 << 10 // per hash
	laneBuffer   = 32 << 10  // per hash when several run concurrently
	// maxHashWindow bounds the distance between parts hashed concurrently. They are read a second
	// time, from the page cache, which must still have them.
	maxHashWindow = 256 << 20
)

// sums are the checksums of a file and, when there are several, of each part.
type sums struct {
	whole string
	parts []string
}

// hashing computes the checksums of files being uploaded.
type hashing struct {
	slots   *semaphore.Weighted
	batcher checksum.Batcher
	stats   *Stats
	window  int64 // maxHashWindow, smaller in tests
}

func newHashing(stats *Stats) *hashing {
	return &hashing{slots: semaphore.NewWeighted(hashSlots), stats: stats, window: maxHashWindow}
}

// file hashes a file in one pass: the whole, unless given, is read in order on one core. The parts
// follow on another core, several concurrently, from the page cache.
func (h *hashing) file(ctx context.Context, src *source, p plan, given string) (sums, error) {
	r := &hashRun{hashing: h, src: src, plan: p}
	r.advanced = sync.NewCond(&r.mu)
	out := sums{whole: given}
	group, inner := errgroup.WithContext(ctx)
	defer context.AfterFunc(inner, func() { r.advance(-1) })()
	if given == "" {
		group.Go(func() (err error) {
			out.whole, err = r.whole(inner)
			return err
		})
	} else {
		r.position = p.size
	}
	if p.parts > 1 {
		out.parts = make([]string, p.parts)
		group.Go(func() error { return r.parts(inner, out.parts) })
	}
	if err := group.Wait(); err != nil {
		if ctx.Err() != nil {
			return sums{}, fault.Stopped(ctx)
		}
		return sums{}, err
	}
	return out, nil
}

// hashRun is the state of hashing one file.
type hashRun struct {
	*hashing
	src  *source
	plan plan

	mu       sync.Mutex
	advanced *sync.Cond
	position int64 // of the whole file's hash; negative when it has failed
}

func (r *hashRun) advance(to int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.position >= 0 { // a read in flight at the failure must not undo it
		r.position = to
	}
	r.advanced.Broadcast()
}

// wait blocks until the whole file is hashed up to an offset; it returns false when that failed.
func (r *hashRun) wait(offset int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.position >= 0 && r.position < offset {
		r.advanced.Wait()
	}
	return r.position >= 0
}

// read fills b from the file and adds it to a hash.
func (r *hashRun) read(ctx context.Context, h hash.Hash, b []byte, offset int64) error {
	if ctx.Err() != nil {
		return fault.Stopped(ctx)
	}
	began := time.Now()
	n, err := r.src.file.ReadAt(b, offset)
	now := r.stats.since(onDisk, began)
	switch {
	case n == len(b):
		h.Write(b) // never fails
		r.stats.since(onCPU, now)
		return nil
	case err == nil, errors.Is(err, io.EOF):
		return r.src.changed()
	}
	return r.src.unreadable(err)
}

func (r *hashRun) whole(ctx context.Context) (string, error) {
	h := md5.New()
	buffer := make([]byte, hashBuffer)
	for at := int64(0); at < r.plan.size; {
		b := buffer[:min(hashBuffer, r.plan.size-at)]
		if err := r.read(ctx, h, b, at); err != nil {
			return "", err
		}
		at += int64(len(b))
		r.advance(at)
	}
	return checksum.Hex(h), nil
}

// parts hashes the parts behind the whole file's hash, as many concurrently as fit into the window.
func (r *hashRun) parts(ctx context.Context, out []string) error {
	lanes := checksum.TakeLanes()
	defer lanes.Release()
	width := int(max(1, min(checksum.Width, r.window/r.plan.chunk)))
	buffer := make([]byte, laneBuffer)
	for first := 1; first <= r.plan.parts; first += width {
		last := min(first+width-1, r.plan.parts)
		hashes := []hash.Hash{md5.New()}
		for i := 0; i <= last-first && width > 1; i++ {
			hashes = append(hashes[:i], lanes.Hash(i))
		}
		lastOffset, _ := r.plan.span(last)
		for at := int64(0); at < r.plan.chunk; at += int64(len(buffer)) {
			if !r.wait(min(lastOffset+at+int64(len(buffer)), r.plan.size)) {
				return context.Canceled // another error is reported
			}
			for i, h := range hashes {
				offset, size := r.plan.span(first + i)
				if at >= size {
					continue // the last part is shorter
				}
				if err := r.read(ctx, h, buffer[:min(int64(len(buffer)), size-at)], offset+at); err != nil {
					return err
				}
			}
		}
		for i, h := range hashes {
			out[first+i-1] = checksum.Hex(h)
		}
	}
	return nil
}

const (
	// maxMemory bounds the file contents that all transfers together buffer.
	maxMemory = 32 * MiB
	// maxBuffered is the size of the longest file that is read only once, for its checksum, and
	// sent from memory.
	maxBuffered = maxMemory / 2
	// bufferUnit is the unit that buffer sizes are rounded up to, for reuse.
	bufferUnit = 256 << 10
)

// memory allocates and recycles buffers for file contents.
type memory struct {
	free *semaphore.Weighted
	idle sync.Pool // of *[]byte
}

func newMemory() *memory { return &memory{free: semaphore.NewWeighted(maxMemory)} }

// rounded returns the capacity of a buffer for a size.
func rounded(size int64) int64 { return (size + bufferUnit - 1) / bufferUnit * bufferUnit }

// tryAllocate returns a buffer, or nil when too little memory is free.
func (m *memory) tryAllocate(size int64) []byte {
	if size > maxBuffered || !m.free.TryAcquire(rounded(size)) {
		return nil
	}
	if b, ok := m.idle.Get().(*[]byte); ok && int64(cap(*b)) >= size {
		return (*b)[:size]
	}
	return make([]byte, size, rounded(size))
}

// release recycles a buffer.
func (m *memory) release(b []byte) {
	if b != nil {
		m.free.Release(rounded(int64(len(b))))
		m.idle.Put(&b)
	}
}
