package repl

import (
	"io"
	"sync"
)

// Edge writes on, and knows whether the last line was ended: a prompt behind
// half a line would be drawn over it.
type Edge struct {
	mu   sync.Mutex
	to   io.Writer
	open bool
}

// NewEdge makes one before a stream.
func NewEdge(to io.Writer) *Edge { return &Edge{to: to} }

func (e *Edge) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(p) > 0 {
		e.open = p[len(p)-1] != '\n'
	}
	return e.to.Write(p)
}

// newline ends a line that was left open.
func (e *Edge) newline() {
	e.mu.Lock()
	open := e.open
	e.mu.Unlock()
	if open {
		_, _ = e.Write([]byte("\n")) // the prompt that follows would fail too
	}
}
