package transfer

import (
	"io"
	"sync"

	"golang.org/x/sync/semaphore"
)

const (
	// Memory is lent in blocks of this size; all transfers together hold at
	// most memoryBlocks of them.
	memoryBlock  = 256 << 10
	memoryBlocks = 128
	// maxBuffered is the size of the longest file that is read once, for its
	// checksum, and sent from memory.
	maxBuffered = memoryBlocks / 2 * memoryBlock
)

// memory is the memory for contents of files.
type memory struct {
	free *semaphore.Weighted
	mu   sync.Mutex
	idle [][]byte
}

func newMemory() *memory { return &memory{free: semaphore.NewWeighted(memoryBlocks)} }

// buffered is a file in memory.
type buffered struct {
	memory *memory
	blocks [][]byte
	size   int64
}

// tryAllocate returns memory for a file, nil when too little is free.
func (m *memory) tryAllocate(size int64) *buffered {
	n := (size + memoryBlock - 1) / memoryBlock
	if size > maxBuffered || !m.free.TryAcquire(n) {
		return nil
	}
	f := &buffered{memory: m, size: size, blocks: make([][]byte, 0, n)}
	m.mu.Lock()
	defer m.mu.Unlock()
	for range n {
		if last := len(m.idle) - 1; last >= 0 {
			f.blocks = append(f.blocks, m.idle[last])
			m.idle = m.idle[:last]
		} else {
			f.blocks = append(f.blocks, make([]byte, memoryBlock))
		}
	}
	return f
}

// contents are the blocks, the last one as long as the file goes.
func (f *buffered) contents() [][]byte {
	blocks := append([][]byte(nil), f.blocks...)
	last := len(blocks) - 1
	blocks[last] = blocks[last][:f.size-int64(last)*memoryBlock]
	return blocks
}

// ReadAt copies bytes of the file; a block at most.
func (f *buffered) ReadAt(b []byte, offset int64) (int, error) {
	if offset >= f.size {
		return 0, io.EOF
	}
	b = b[:min(int64(len(b)), f.size-offset)]
	return copy(b, f.blocks[offset/memoryBlock][offset%memoryBlock:]), nil
}

// release returns the memory. Releasing again does nothing.
func (f *buffered) release() {
	if f == nil || f.blocks == nil {
		return
	}
	f.memory.mu.Lock()
	f.memory.idle = append(f.memory.idle, f.blocks...)
	f.memory.mu.Unlock()
	f.memory.free.Release(int64(len(f.blocks)))
	f.blocks = nil
}
