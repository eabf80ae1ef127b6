package pattern

import (
	"strings"
)

const (
	unfinished = -1
	position   = -2
)

// Capture is the match of one pair of parentheses.
type Capture struct {
	Start, Len int
	Position   bool // "()": the offset Start, from 0
}

// Level returns the number of captures of the last match.
func (m *Matcher) Level() int { return m.level }

// Capture returns capture i of the last match, from 0.
func (m *Matcher) Capture(i int) (Capture, error) {
	if i >= m.level {
		return Capture{}, ErrCaptureIndex
	}
	switch c := m.captures[i]; c.length {
	case unfinished:
		return Capture{}, ErrUnfinished
	case position:
		return Capture{Start: c.start, Position: true}, nil
	default:
		return Capture{Start: c.start, Len: c.length}, nil
	}
}

func (m *Matcher) open(s, p, what int) int {
	if m.level >= maxCaptures {
		m.fail(ErrTooMany)
	}
	m.captures[m.level].start, m.captures[m.level].length = s, what
	m.level++
	e := m.match(s, p)
	if e < 0 {
		m.level--
	}
	return e
}

func (m *Matcher) close(s, p int) int {
	i := m.level - 1
	for ; i >= 0 && m.captures[i].length != unfinished; i-- {
	}
	if i < 0 {
		m.fail(ErrInvalidCapture)
	}
	m.captures[i].length = s - m.captures[i].start
	e := m.match(s, p)
	if e < 0 {
		m.captures[i].length = unfinished
	}
	return e
}

// again matches the text of capture %1 … %9.
func (m *Matcher) again(s int, digit byte) int {
	i := int(digit) - '1'
	if i < 0 || i >= m.level || m.captures[i].length == unfinished {
		m.fail(ErrCaptureIndex)
	}
	c := m.captures[i]
	if c.length < 0 || !strings.HasPrefix(m.Text[s:], m.Text[c.start:c.start+c.length]) {
		return -1
	}
	return s + c.length
}
