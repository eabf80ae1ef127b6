package repl

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"transect/client/fault"
)

// page is output that is shown a screen at a time.
type page struct {
	head  []string // heading, on the first screen
	lines []string
	more  int    // rows that were not laid out
	noun  string // unit of the number of remaining lines
	loop  bool   // the lines are a list that a loop can go through
}

func textPage(text string) *page {
	return &page{lines: strings.Split(strings.TrimRight(text, "\n"), "\n"), noun: "lines"}
}

// showPage shows as much of the page as fits the screen; in a pipe, all.
func (s *Session) showPage() error {
	p := s.more
	if p == nil {
		return nil
	}
	fits := len(p.lines)
	if s.cfg.Terminal {
		_, height := s.size()
		if room := max(10, height-3) - len(p.head); fits > room {
			fits = room
		}
	}
	var b strings.Builder
	for _, line := range append(p.head, p.lines[:fits]...) {
		b.WriteString(line + "\n")
	}
	p.head, p.lines = nil, p.lines[fits:]
	switch left := len(p.lines) + p.more; {
	case len(p.lines) > 0:
		fmt.Fprintf(&b, "… %d more %s: :more shows them", left, p.noun)
		if p.loop {
			b.WriteString(", a for loop visits all")
		}
		b.WriteByte('\n')
	case left > 0:
		fmt.Fprintf(&b, "… %d more: a for loop visits all\n", left)
		s.more = nil
	default:
		s.more = nil
	}
	_, err := io.WriteString(s.cfg.Interp.Options().Stdout, b.String())
	return err
}

func (s *Session) showText(text string) error {
	s.more = textPage(text)
	return s.showPage()
}

// showMore is :more.
func (s *Session) showMore() error {
	if s.more == nil {
		return fault.Of(&fault.UsageError{}, "there is no more output")
	}
	return s.showPage()
}

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
