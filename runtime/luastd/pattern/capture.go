package pattern

import (
	"strings"
)

const (
	unfinished = -1
	position   = -2
)

// Capture is what one pair of parentheses matched.
type Capture struct {
	Start, Len int
	Position   bool // "()": the offset Start, from 0
}

// Captures gives what the last match captured.
func (m *Matcher) Captures() ([]Capture, error) {
	list := make([]Capture, m.level)
	for i := range list {
		c := m.captures[i]
		switch c.length {
		case unfinished:
			return nil, ErrUnfinished
		case position:
			list[i] = Capture{Start: c.start, Position: true}
		default:
			list[i] = Capture{Start: c.start, Len: c.length}
		}
	}
	return list, nil
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

// again matches what capture %1 … %9 matched.
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
