package logfile

import (
	"fmt"
	"io"
	"sync"
)

// Held keeps what is written to two streams until it is known whether anybody
// wants to see it. Of much output the end is kept.
type Held struct {
	Most int // bytes

	mu      sync.Mutex
	pieces  []piece
	size    int
	dropped int64
}

type piece struct {
	stream int
	text   []byte
}

// Stream gives a writer of stream n.
func (h *Held) Stream(n int) io.Writer { return heldStream{h, n} }

type heldStream struct {
	held   *Held
	number int
}

func (s heldStream) Write(p []byte) (int, error) {
	h := s.held
	h.mu.Lock()
	defer h.mu.Unlock()
	if last := len(h.pieces) - 1; last >= 0 && h.pieces[last].stream == s.number && len(h.pieces[last].text) < 4096 {
		h.pieces[last].text = append(h.pieces[last].text, p...)
	} else {
		h.pieces = append(h.pieces, piece{s.number, append([]byte(nil), p...)})
	}
	h.size += len(p)
	for h.size > h.Most && len(h.pieces) > 1 {
		h.size -= len(h.pieces[0].text)
		h.dropped += int64(len(h.pieces[0].text))
		h.pieces = h.pieces[1:]
	}
	return len(p), nil
}

// Release writes what was kept to the streams, in its order.
func (h *Held) Release(streams ...io.Writer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.dropped > 0 {
		fmt.Fprintf(streams[len(streams)-1], "(%d bytes of output before this are left out)\n", h.dropped)
	}
	for _, p := range h.pieces {
		_, _ = streams[p.stream].Write(p.text) // nobody is left to tell
	}
	h.pieces = nil
}
