package vm

import (
	"sync"
	"testing"
)

// Goroutines that ask at the same time share the room that there is.
func TestBuffersShareTheMemory(t *testing.T) {
	const limit, piece = 64 << 20, 8 << 20
	m := newMemory(limit, nil)
	pieces := make(chan []byte, 64)
	var group sync.WaitGroup
	for range cap(pieces) {
		group.Go(func() {
			if b := m.buffer(piece, 0); b != nil {
				pieces <- b
			}
		})
	}
	group.Wait()
	if n := len(pieces); n == 0 || n > limit/piece+limit/8/piece {
		t.Errorf("%d pieces were allowed, %d fit", n, limit/piece)
	}
}
