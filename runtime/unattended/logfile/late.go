package logfile

import (
	"io"
	"sync"
)

// Late takes lines for a log that is still being opened, so that nobody has to
// wait for it.
type Late struct {
	mu      sync.Mutex
	to      io.Writer // nil until it is known
	waiting []byte
}

// Write hands p on, or keeps it until it is known where to.
func (l *Late) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.to != nil {
		return l.to.Write(p)
	}
	l.waiting = append(l.waiting, p...)
	return len(p), nil
}

// Open says where the lines go: those that waited, and all further ones.
func (l *Late) Open(to io.Writer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) > 0 {
		_, _ = to.Write(l.waiting) // logs keep their own errors
	}
	l.to, l.waiting = to, nil
}
