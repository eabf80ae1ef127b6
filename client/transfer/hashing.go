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
	// hashSlots are for files being hashed at a time: as many as fill the lanes
	// of the CPU. A long file takes several, as it keeps two cores busy.
	hashSlots    = 16
	longFileSlot = 4
	// lanes is how many parts of one file are hashed side by side.
	lanes = checksum.Width
	// windowAtMost bounds how far apart such parts may lie. They are read a
	// second time from the system's cache, where they must still be.
	windowAtMost = 256 << 20
	hashBuffer   = 256 << 10
)

// hashing computes MD5s: of many files, or many parts, side by side on the
// lanes of the CPU where that is faster than each for itself.
type hashing struct {
	slots  *semaphore.Weighted
	stats  *Stats
	window int64 // see windowAtMost

	gathering *gathering
}

func newHashing(stats *Stats) *hashing {
	return &hashing{slots: semaphore.NewWeighted(hashSlots), stats: stats, window: windowAtMost, gathering: &gathering{stats: stats}}
}

// enter waits for slots. The function gives them back.
func (h *hashing) enter(ctx context.Context, slots int64) (func(), error) {
	if h.slots.Acquire(ctx, slots) != nil {
		return nil, fault.Stopped(ctx)
	}
	return func() { h.slots.Release(slots) }, nil
}

// pass is one reading of a file for its checksums.
type pass struct {
	*hashing
	src  *source
	plan plan

	mu      sync.Mutex
	further *sync.Cond
	at      int64 // read so far by the hash of the whole
	failed  bool
}

// file hashes a file that is not held: the whole unless given, and its parts.
// The hash of the whole reads ahead, once, in order; it cannot be shared among
// cores. The parts follow on another core, several side by side, from what the
// system still has in memory.
func (h *hashing) file(ctx context.Context, src *source, p plan, given string) (sums, error) {
	out := sums{whole: given}
	r := &pass{hashing: h, src: src, plan: p}
	r.further = sync.NewCond(&r.mu)
	if given != "" {
		r.at = p.size
	}
	apart := p.parts > 1 && min(lanes, int64(p.parts))*p.chunk <= h.window
	group, inner := errgroup.WithContext(ctx)
	stop := context.AfterFunc(inner, r.fail)
	defer stop()
	if apart {
		out.parts = make([]string, p.parts)
		group.Go(func() error { return r.parts(inner, out.parts) })
	} else if p.parts > 1 {
		out.parts = make([]string, p.parts)
	}
	if given == "" || p.parts > 1 && !apart {
		group.Go(func() (err error) {
			var whole string
			if apart || p.parts == 1 {
				whole, err = r.whole(inner)
			} else {
				whole, err = r.together(inner, out.parts, given == "")
			}
			if given == "" {
				out.whole = whole
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		if ctx.Err() != nil {
			return sums{}, fault.Stopped(ctx)
		}
		return sums{}, err
	}
	return out, nil
}

func (r *pass) fail() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = true
	r.further.Broadcast()
}

// reached notes how far the whole was read.
func (r *pass) reached(at int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at = at
	r.further.Broadcast()
}

// wait returns when the whole was read to a byte, false when it never will be.
func (r *pass) wait(until int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.at < until && !r.failed {
		r.further.Wait()
	}
	return !r.failed
}

// read fills b from the file.
func (r *pass) read(ctx context.Context, b []byte, offset int64) error {
	if ctx.Err() != nil {
		return fault.Stopped(ctx)
	}
	from := time.Now()
	n, err := r.src.file.ReadAt(b, offset)
	r.stats.since(onDisk, from)
	switch {
	case n == len(b):
		return nil
	case err == nil, errors.Is(err, io.EOF):
		return r.src.changed()
	}
	return fault.Of(&fault.UploadError{}, "cannot read %s: %w", r.src.path, fault.Reason(err))
}

// whole hashes the file from its first to its last byte.
func (r *pass) whole(ctx context.Context) (string, error) {
	d := md5.New()
	buffer := make([]byte, hashBuffer)
	for at := int64(0); at < r.plan.size; {
		b := buffer[:min(hashBuffer, r.plan.size-at)]
		if err := r.read(ctx, b, at); err != nil {
			return "", err
		}
		from := time.Now()
		d.Write(b)
		r.stats.since(onCPU, from)
		at += int64(len(b))
		r.reached(at)
	}
	return checksum.Hex(d), nil
}

// parts hashes the parts, a few side by side, behind the hash of the whole.
func (r *pass) parts(ctx context.Context, out []string) error {
	buffer := make([]byte, hashBuffer/2)
	for first := 1; first <= r.plan.parts; first += lanes {
		last := min(first+lanes-1, r.plan.parts)
		offset, size := r.plan.span(last)
		if !r.wait(offset + size) {
			return context.Canceled // another error is the one to tell
		}
		if err := r.sideBySide(ctx, first, last, buffer, out); err != nil {
			return err
		}
	}
	return nil
}

func (r *pass) sideBySide(ctx context.Context, first, last int, buffer []byte, out []string) error {
	digests := make([]hash.Hash, last-first+1)
	side := checksum.Take()
	defer side.Give()
	for i := range digests {
		digests[i] = side.Hash(i)
	}
	_, longest := r.plan.span(first)
	for at := int64(0); at < longest; at += int64(len(buffer)) {
		for i, d := range digests {
			offset, size := r.plan.span(first + i)
			if at >= size {
				continue // the last part is shorter
			}
			b := buffer[:min(int64(len(buffer)), size-at)]
			if err := r.read(ctx, b, offset+at); err != nil {
				return err
			}
			from := time.Now()
			d.Write(b)
			r.stats.since(onCPU, from)
		}
	}
	for i, d := range digests {
		out[first+i-1] = checksum.Hex(d)
	}
	return nil
}

// together hashes long parts one after the other, and the whole on another
// core, from the same buffers.
func (r *pass) together(ctx context.Context, out []string, alsoWhole bool) (string, error) {
	buffer := make([]byte, hashBuffer)
	filled := make(chan []byte)
	whole := md5.New()
	both := make(chan struct{}) // the whole is done with the buffer
	group := errgroup.Group{}
	group.Go(func() error {
		for b := range filled {
			from := time.Now()
			if alsoWhole {
				whole.Write(b)
			}
			r.stats.since(onCPU, from)
			both <- struct{}{}
		}
		return nil
	})
	err := func() error {
		defer close(filled)
		for n := 1; n <= r.plan.parts; n++ {
			offset, size := r.plan.span(n)
			part := md5.New()
			for at := int64(0); at < size; {
				b := buffer[:min(hashBuffer, size-at)]
				if err := r.read(ctx, b, offset+at); err != nil {
					return err
				}
				filled <- b
				from := time.Now()
				part.Write(b)
				r.stats.since(onCPU, from)
				<-both
				at += int64(len(b))
			}
			out[n-1] = checksum.Hex(part)
		}
		return nil
	}()
	group.Wait()
	return checksum.Hex(whole), err
}
