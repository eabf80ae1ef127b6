package repl

import (
	"fmt"
	"io"
	"math"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
)

// page is output that is shown a screen at a time. Lines are formatted when they
// are shown: a large value costs no more than what is seen of it.
type page struct {
	head   []string                                         // heading, on the first screen
	render func(L *lua.LState, from, n int) (list []string) // the lines after the first, at most n
	// left returns the number of lines after the shown ones; known is false if it is unknown
	left   func(shown int) (n int, known bool)
	noun   string                   // unit of the number of remaining lines
	loop   bool                     // the lines are a list that a loop can go through
	colour func(line string) string // of a line, on a terminal
	text   bool                     // rendering runs no Lua
	shown  int
}

func textPage(text string) *page {
	return linesPage(strings.Split(strings.TrimRight(text, "\n"), "\n"))
}

func linesPage(lines []string) *page {
	return &page{noun: "lines", colour: plain, text: true,
		render: func(_ *lua.LState, from, n int) []string {
			from = min(from, len(lines))
			return lines[from : from+min(n, len(lines)-from)]
		},
		left: func(shown int) (int, bool) { return len(lines) - shown, true }}
}

func plain(line string) string { return line }

// next formats the next lines, at most n. Texts need no interpreter: help() shows
// one while Lua runs.
func (s *Session) next(p *page, n int) (lines []string, err error) {
	if p.text {
		lines = p.render(nil, p.shown, n)
		p.shown += len(lines)
		return lines, nil
	}
	_, err = s.run(func() ([]lua.LValue, error) {
		return nil, s.lua.Do(func(L *lua.LState) error {
			lines = p.render(L, p.shown, n)
			return nil
		})
	})
	p.shown += len(lines)
	return lines, err
}

// showPage shows as much of the page as fits the screen; in a pipe, all.
func (s *Session) showPage() error {
	p := s.more
	if p == nil {
		return nil
	}
	room := math.MaxInt32
	if s.cfg.Terminal {
		_, height := s.size()
		room = max(10, height-3) - len(p.head)
	}
	lines, err := s.next(p, room)
	if err != nil {
		s.more = nil
		return err
	}
	ended := len(lines) < room
	if !ended {
		left, known := p.left(p.shown)
		ended = known && left == 0
	}
	var b strings.Builder
	for _, line := range p.head {
		b.WriteString(s.colours().head(line) + "\n")
	}
	for _, line := range lines {
		if s.cfg.Colours {
			line = p.colour(line)
		}
		b.WriteString(line + "\n")
	}
	p.head = nil
	if ended {
		s.more = nil
	} else {
		b.WriteString(s.colours().dim + s.rest(p) + s.colours().off + "\n")
		s.fresh = true
	}
	_, err = io.WriteString(s.cfg.Interp.Options().Stdout, b.String())
	return err
}

// rest returns a line about the remaining output.
func (s *Session) rest(p *page) string {
	text := "… more " + p.noun
	if left, known := p.left(p.shown); known {
		text = fmt.Sprintf("… %d more %s", left, p.noun)
		if left == 1 {
			text = strings.TrimSuffix(text, "s")
		}
	}
	text += ": Enter or :more shows them, :page opens a pager"
	if p.loop {
		text += ", a for loop visits all"
	}
	return text
}

func (s *Session) showText(text string) error {
	s.more = textPage(text)
	s.last = *s.more
	return s.showPage()
}

// showMore implements :more.
func (s *Session) showMore() error {
	if s.more == nil {
		return fault.Of(&fault.UsageError{}, "there is no more output")
	}
	return s.showPage()
}

// Edge is a writer that tracks whether the last line was ended: the editor would draw its prompt over an open
// line.
type Edge struct {
	mu   sync.Mutex
	to   io.Writer
	open bool
}

// NewEdge returns an Edge for a stream.
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
