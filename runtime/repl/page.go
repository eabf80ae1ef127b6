package repl

import (
	"fmt"
	"io"
	"strings"

	"transect/client/fault"
)

// page is what is to be shown, and how far that is done.
type page struct {
	head  []string // above the lines
	lines []string
	more  int    // things behind the lines that were not even laid out
	noun  string // what a line is, for the count of what was left out
	loop  bool   // the lines are of a table, that a loop goes through too
}

func textPage(text string) *page {
	return &page{lines: strings.Split(strings.TrimRight(text, "\n"), "\n"), noun: "lines"}
}

// turn shows as much of the page as the screen holds; in a pipe, all.
func (s *Session) turn() error {
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
		fmt.Fprintf(&b, "… %d more %s: :more shows on", left, p.noun)
		if p.loop {
			b.WriteString(", for … do goes through all")
		}
		b.WriteByte('\n')
	case left > 0:
		fmt.Fprintf(&b, "… %d more: for … do goes through all\n", left)
		s.more = nil
	default:
		s.more = nil
	}
	_, err := io.WriteString(s.cfg.Interp.Options().Stdout, b.String())
	return err
}

func (s *Session) showText(text string) error {
	s.more = textPage(text)
	return s.turn()
}

// again is :more.
func (s *Session) again() error {
	if s.more == nil {
		return fault.Of(&fault.UsageError{}, "there is no more to show")
	}
	return s.turn()
}
