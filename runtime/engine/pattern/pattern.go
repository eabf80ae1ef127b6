// Package pattern matches Lua 5.1 patterns. It is written by hand because
// patterns with several repetitions can take exponential time: the matcher reports
// its steps, so that the caller can interrupt it.
package pattern

import (
	"errors"
	"strings"
)

const (
	maxCaptures = 32
	maxDepth    = 20_000 // nested repetitions and captures
	report      = 1024   // steps between two calls of Matcher.Steps
)

// Errors of patterns.
var (
	ErrEndsWithEscape = errors.New("malformed pattern (ends with '%')")
	ErrMissingBracket = errors.New("malformed pattern (missing ']')")
	ErrUnbalanced     = errors.New("unbalanced pattern")
	ErrMissingSet     = errors.New("missing '[' after '%f' in pattern")
	ErrUnfinished     = errors.New("unfinished capture")
	ErrInvalidCapture = errors.New("invalid pattern capture")
	ErrCaptureIndex   = errors.New("invalid capture index")
	ErrTooMany        = errors.New("too many captures")
	ErrTooComplex     = errors.New("pattern too complex")
)

// Matcher matches one pattern against one text.
type Matcher struct {
	Text, Pattern string
	// Steps is called regularly with the number of steps since the last call. It panics to stop matching.
	// Optional.
	Steps func(n int)

	level    int
	captures [maxCaptures]struct{ start, length int }
	depth    int
	steps    int
}

// failure carries an error of the pattern up to Match.
type failure struct{ err error }

func (m *Matcher) fail(err error) { panic(failure{err}) }

// Match matches at one offset of the text and returns the end of the match, or -1.
func (m *Matcher) Match(at int) (end int, err error) { return m.matchFrom(at, 0) }

// Find searches from an offset on. A pattern that starts with ^ matches only there.
func (m *Matcher) Find(from int) (start, end int, err error) {
	first, anchored := 0, strings.HasPrefix(m.Pattern, "^")
	if anchored {
		first = 1
	}
	for at := from; at <= len(m.Text); at++ {
		end, err := m.matchFrom(at, first)
		if err != nil || end >= 0 {
			return at, end, err
		}
		if anchored {
			break
		}
	}
	return -1, -1, nil
}

// MatchAnchored is like Match, but ignores a leading ^.
func (m *Matcher) MatchAnchored(at int) (end int, err error) {
	return m.matchFrom(at, len(m.Pattern)-len(strings.TrimPrefix(m.Pattern, "^")))
}

func (m *Matcher) matchFrom(at, first int) (end int, err error) {
	defer func() {
		if p := recover(); p != nil {
			f, ok := p.(failure)
			if !ok {
				panic(p)
			}
			err = f.err
		}
	}()
	m.level, m.depth = 0, 0
	return m.match(at, first), nil
}

func (m *Matcher) step() {
	m.steps++
	if m.steps >= report {
		n := m.steps
		m.steps = 0
		if m.Steps != nil {
			m.Steps(n)
		}
	}
}

// match matches the pattern from p at offset s of the text.
func (m *Matcher) match(s, p int) int {
	if m.depth++; m.depth > maxDepth {
		m.fail(ErrTooComplex)
	}
	defer func() { m.depth-- }()
	pat := m.Pattern
	for {
		m.step()
		if p == len(pat) {
			return s
		}
		switch pat[p] {
		case '(':
			if p+1 < len(pat) && pat[p+1] == ')' {
				return m.open(s, p+2, position)
			}
			return m.open(s, p+1, unfinished)
		case ')':
			return m.close(s, p+1)
		case '$':
			if p+1 == len(pat) {
				if s == len(m.Text) {
					return s
				}
				return -1
			}
		case '%':
			if p+1 == len(pat) {
				m.fail(ErrEndsWithEscape)
			}
			switch c := pat[p+1]; {
			case c == 'b':
				if s = m.balance(s, p+2); s < 0 {
					return -1
				}
				p += 4
				continue
			case c == 'f':
				p += 2
				if p >= len(pat) || pat[p] != '[' {
					m.fail(ErrMissingSet)
				}
				end := m.classEnd(p)
				var before, here byte
				if s > 0 {
					before = m.Text[s-1]
				}
				if s < len(m.Text) {
					here = m.Text[s]
				}
				if m.inSet(before, p, end-1) || !m.inSet(here, p, end-1) {
					return -1
				}
				p = end
				continue
			case c >= '0' && c <= '9':
				if s = m.again(s, c); s < 0 {
					return -1
				}
				p += 2
				continue
			}
		}
		end := m.classEnd(p)
		here := s < len(m.Text) && m.single(m.Text[s], p, end)
		var repeat byte
		if end < len(pat) {
			repeat = pat[end]
		}
		switch repeat {
		case '?':
			if here {
				if e := m.match(s+1, end+1); e >= 0 {
					return e
				}
			}
			p = end + 1
		case '*':
			return m.longest(s, p, end)
		case '+':
			if !here {
				return -1
			}
			return m.longest(s+1, p, end)
		case '-':
			return m.shortest(s, p, end)
		default:
			if !here {
				return -1
			}
			s, p = s+1, end
		}
	}
}

func (m *Matcher) longest(s, p, end int) int {
	n := 0
	for s+n < len(m.Text) && m.single(m.Text[s+n], p, end) {
		n++
		m.step()
	}
	for ; n >= 0; n-- {
		if e := m.match(s+n, end+1); e >= 0 {
			return e
		}
	}
	return -1
}

func (m *Matcher) shortest(s, p, end int) int {
	for {
		if e := m.match(s, end+1); e >= 0 {
			return e
		}
		if s >= len(m.Text) || !m.single(m.Text[s], p, end) {
			return -1
		}
		s++
	}
}

func (m *Matcher) balance(s, p int) int {
	if p+1 >= len(m.Pattern) {
		m.fail(ErrUnbalanced)
	}
	first, last := m.Pattern[p], m.Pattern[p+1]
	if s >= len(m.Text) || m.Text[s] != first {
		return -1
	}
	inside := 1
	for i := s + 1; i < len(m.Text); i++ {
		m.step()
		switch m.Text[i] {
		case last:
			if inside--; inside == 0 {
				return i + 1
			}
		case first:
			inside++
		}
	}
	return -1
}
