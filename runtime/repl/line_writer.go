package repl

import (
	"io"
	"sync"
)

// Edge is a writer that knows whether the last line was ended: the editor would
// draw its prompt over an open line.
type Edge struct {
	mu   sync.Mutex
	to   io.Writer
	open bool
}

// NewEdge makes an Edge for a stream.
func NewEdge(to io.Writer) *Edge { return &Edge{to: to} }

func (e *Edge) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(p) > 0 {
		e.open = p[len(p)-1] != '\n'
	}
	return e.to.Write(p)
}

// newline ends an open line.
func (e *Edge) newline() {
	e.mu.Lock()
	open := e.open
	e.mu.Unlock()
	if open {
		_, _ = e.Write([]byte("\n")) // the prompt that follows would fail, too
	}
}
