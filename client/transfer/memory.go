package transfer

import (
	"io"
	"sync"

	"golang.org/x/sync/semaphore"
)

const (
	// memoryBlock is the unit memory is lent in, memoryBlocks how many there are:
	// what all transfers together hold of files.
	memoryBlock  = 256 << 10
	memoryBlocks = 128
	// heldAtMost is the longest file that is read once and sent from memory.
	heldAtMost = memoryBlocks / 2 * memoryBlock
)

// memory lends blocks to whatever holds bytes of files, never more than it has.
type memory struct {
	free *semaphore.Weighted
	mu   sync.Mutex
	idle [][]byte
}

func newMemory() *memory { return &memory{free: semaphore.NewWeighted(memoryBlocks)} }

// tryHold gives room for size bytes, or nil when that is lent already.
func (m *memory) tryHold(size int64) *held {
	n := (size + memoryBlock - 1) / memoryBlock
	if size > heldAtMost || !m.free.TryAcquire(n) {
		return nil
	}
	h := &held{memory: m, size: size}
	m.mu.Lock()
	defer m.mu.Unlock()
	for range n {
		if last := len(m.idle) - 1; last >= 0 {
			h.blocks = append(h.blocks, m.idle[last])
			m.idle = m.idle[:last]
		} else {
			h.blocks = append(h.blocks, make([]byte, memoryBlock))
		}
	}
	return h
}

// held is a file in memory.
type held struct {
	memory *memory
	blocks [][]byte
	size   int64
}

// block is the i-th stretch of the file.
func (h *held) block(i int) []byte {
	return h.blocks[i][:min(memoryBlock, h.size-int64(i)*memoryBlock)]
}

// ReadAt reads from memory.
func (h *held) ReadAt(b []byte, offset int64) (int, error) {
	if offset >= h.size {
		return 0, io.EOF
	}
	return copy(b, h.block(int(offset / memoryBlock))[offset%memoryBlock:]), nil
}

func (h *held) release() {
	if h == nil || h.blocks == nil {
		return
	}
	h.memory.mu.Lock()
	h.memory.idle = append(h.memory.idle, h.blocks...)
	h.memory.mu.Unlock()
	h.memory.free.Release(int64(len(h.blocks)))
	h.blocks = nil
}
