package pattern

import "strings"

// classEnd returns where the single character or class that starts at p ends.
func (m *Matcher) classEnd(p int) int {
	pat := m.Pattern
	c := pat[p]
	p++
	switch c {
	case '%':
		if p == len(pat) {
			m.fail(ErrEndsWithEscape)
		}
		return p + 1
	case '[':
		if p < len(pat) && pat[p] == '^' {
			p++
		}
		for first := true; first || pat[p] != ']'; first = false {
			if p >= len(pat) {
				m.fail(ErrMissingBracket)
			}
			if pat[p] == '%' {
				p++
			}
			p++
			if p >= len(pat) {
				m.fail(ErrMissingBracket)
			}
			m.step()
		}
		return p + 1
	}
	return p
}

// single reports whether c matches the pattern from p to end.
func (m *Matcher) single(c byte, p, end int) bool {
	switch m.Pattern[p] {
	case '.':
		return true
	case '%':
		return isClass(c, m.Pattern[p+1])
	case '[':
		return m.inSet(c, p, end-1)
	}
	return m.Pattern[p] == c
}

// inSet reports whether c is in the set whose brackets are at p and last.
func (m *Matcher) inSet(c byte, p, last int) bool {
	pat, in := m.Pattern, true
	p++
	if pat[p] == '^' {
		in = false
		p++
	}
	for ; p < last; p++ {
		m.step()
		switch {
		case pat[p] == '%':
			p++
			if isClass(c, pat[p]) {
				return in
			}
		case p+2 < last && pat[p+1] == '-':
			if pat[p] <= c && c <= pat[p+2] {
				return in
			}
			p += 2
		case pat[p] == c:
			return in
		}
	}
	return !in
}

func isClass(c, class byte) bool {
	var in bool
	switch class | 0x20 {
	case 'a':
		in = isLetter(c)
	case 'c':
		in = c < ' ' || c == 0x7f
	case 'd':
		in = isDigit(c)
	case 'l':
		in = c >= 'a' && c <= 'z'
	case 'p':
		in = c > ' ' && c < 0x7f && !isLetter(c) && !isDigit(c)
	case 's':
		in = strings.IndexByte(" \t\n\v\f\r", c) >= 0
	case 'u':
		in = c >= 'A' && c <= 'Z'
	case 'w':
		in = isLetter(c) || isDigit(c)
	case 'x':
		in = isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f'
	case 'z':
		in = c == 0
	default:
		return class == c
	}
	if !isLetter(class) {
		return class == c
	}
	return in == (class >= 'a')
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
