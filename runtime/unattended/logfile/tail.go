package logfile

import (
	"bytes"
	"strings"
	"sync"
)

// Tail keeps the last lines written to it.
type Tail struct {
	Most  int // lines
	Bytes int // in all

	mu    sync.Mutex
	lines [][]byte
	size  int
}

// Write takes one line.
func (t *Tail) Write(line []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := line
	if len(kept) > t.Bytes {
		kept = kept[len(kept)-t.Bytes:]
	}
	t.lines = append(t.lines, bytes.Clone(kept))
	t.size += len(kept)
	for len(t.lines) > t.Most || t.size > t.Bytes {
		t.size -= len(t.lines[0])
		t.lines = t.lines[1:]
	}
	return len(line), nil
}

// String is what was kept.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(bytes.Join(t.lines, nil)), "�")
}
