package transfer

import (
	"sync"

	"golang.org/x/sync/semaphore"
)

const (
	// maxMemory bounds what all transfers together hold of files in memory.
	maxMemory = 32 * MiB
	// maxBuffered is the size of the longest file that is read once, for its
	// checksum, and sent from memory.
	maxBuffered = maxMemory / 2
	// bufferUnit is what sizes of buffers are rounded up to, for reuse.
	bufferUnit = 256 << 10
)

// memory is the memory for contents of files.
type memory struct {
	free *semaphore.Weighted
	idle sync.Pool // of *[]byte
}

func newMemory() *memory { return &memory{free: semaphore.NewWeighted(maxMemory)} }

// rounded is the capacity of a buffer of some size.
func rounded(size int64) int64 { return (size + bufferUnit - 1) / bufferUnit * bufferUnit }

// tryAllocate returns a buffer, nil when too little memory is free.
func (m *memory) tryAllocate(size int64) []byte {
	if size > maxBuffered || !m.free.TryAcquire(rounded(size)) {
		return nil
	}
	if b, ok := m.idle.Get().(*[]byte); ok && int64(cap(*b)) >= size {
		return (*b)[:size]
	}
	return make([]byte, size, rounded(size))
}

// release returns a buffer for reuse.
func (m *memory) release(b []byte) {
	if b != nil {
		m.free.Release(rounded(int64(len(b))))
		m.idle.Put(&b)
	}
}
