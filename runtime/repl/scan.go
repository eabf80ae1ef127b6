package repl

import (
	"strconv"
	"strings"
)

// place is where the cursor is in a text of Lua: what Tab completes depends on it.
type place struct {
	comment bool
	quote   string // what a text the cursor is in began with, or ""
	text    string // what is in the quotes so far
	path    []any  // names and numbers that lead to the word: projects, search
	sep     string // what stands before the word: ".", ":" or ""
	word    string // the name being typed
	call    []any  // the function whose arguments these are
	table   bool   // the cursor is in a table of named arguments
	key     string // the argument whose value is being typed
	given   map[string]bool
}

// frame is a bracket that is open.
type frame struct {
	open  byte
	call  []any // what is called with it
	outer []any // what is indexed by it
	only  any   // the one literal in it, for an index
	count int   // tokens in it
	key   string
	given map[string]bool
}

// scanner goes through a text once, up to the cursor.
type scanner struct {
	src    string
	pos    int
	frames []*frame
	path   []any  // of the expression that just ended; nil is unknown or none
	sep    string // a dot or a colon behind it
	value  bool   // an expression just ended
}

// scan finds out where the end of the text is.
func scan(src string) place {
	s := &scanner{src: src, frames: []*frame{{}}}
	for s.pos < len(src) {
		if at, ended := s.token(); ended {
			return at
		}
	}
	return s.place()
}

func (s *scanner) top() *frame { return s.frames[len(s.frames)-1] }

func (s *scanner) place() place {
	f := s.top()
	p := place{call: f.call, table: f.open == '{', key: f.key, given: f.given}
	if s.sep != "" {
		p.path, p.sep = s.path, s.sep
	}
	return p
}

// token reads one; ended means that the cursor is inside of it.
func (s *scanner) token() (place, bool) {
	c := s.src[s.pos]
	switch {
	case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		s.pos++
	case strings.HasPrefix(s.src[s.pos:], "--"):
		return s.comment()
	case c == '"' || c == '\'':
		return s.text()
	case c == '[' && longBracket(s.src[s.pos:]) > 0:
		return s.long(longBracket(s.src[s.pos:]))
	case isLetter(c):
		return s.name()
	case c >= '0' && c <= '9':
		s.number()
	default:
		s.symbol(c)
	}
	return place{}, false
}

func (s *scanner) comment() (place, bool) {
	rest := s.src[s.pos+2:]
	if n := longBracket(rest); n > 0 {
		end := strings.Index(rest, closing(n))
		if end < 0 {
			return place{comment: true}, true
		}
		s.pos += 2 + end + n
		return place{}, false
	}
	end := strings.IndexByte(rest, '\n')
	if end < 0 {
		return place{comment: true}, true
	}
	s.pos += 2 + end
	return place{}, false
}

// inText is the place of a cursor inside a text.
func (s *scanner) inText(quote, content string) place {
	p := s.place()
	p.quote, p.text, p.path, p.sep = quote, content, nil, ""
	if s.value && len(s.path) > 0 { // f"text"
		p.call, p.key, p.table = s.path, "", false
	}
	return p
}

func (s *scanner) text() (place, bool) {
	quote := s.src[s.pos]
	for i := s.pos + 1; i < len(s.src); i++ {
		switch s.src[i] {
		case '\\':
			i++
		case quote:
			s.literal(s.src[s.pos+1 : i])
			s.pos = i + 1
			return place{}, false
		}
	}
	return s.inText(string(quote), s.src[s.pos+1:]), true
}

func (s *scanner) long(n int) (place, bool) {
	end := strings.Index(s.src[s.pos:], closing(n))
	if end < 0 {
		return s.inText(s.src[s.pos:s.pos+n], s.src[s.pos+n:]), true
	}
	s.literal(nil)
	s.pos += end + n
	return place{}, false
}

// literal notes a constant: the value of an index, or the end of a call.
func (s *scanner) literal(v any) {
	f := s.top()
	f.count++
	f.only = v
	s.path, s.sep, s.value = nil, "", true
}

func (s *scanner) name() (place, bool) {
	start := s.pos
	for s.pos < len(s.src) && (isLetter(s.src[s.pos]) || s.src[s.pos] >= '0' && s.src[s.pos] <= '9') {
		s.pos++
	}
	name := s.src[start:s.pos]
	if s.pos == len(s.src) {
		p := s.place()
		p.word = name
		return p, true
	}
	f := s.top()
	f.count++
	switch {
	case s.sep != "":
		if s.path != nil {
			s.path = append(append([]any{}, s.path...), name)
		}
		s.value = true
	case keywords[name]:
		s.path, s.value = nil, name == "end" || name == "nil" || name == "true" || name == "false"
	default:
		s.path, s.value = []any{name}, true
	}
	s.sep = ""
	return place{}, false
}

func (s *scanner) number() {
	start := s.pos
	for s.pos < len(s.src) && (isLetter(s.src[s.pos]) || s.src[s.pos] >= '0' && s.src[s.pos] <= '9' || s.src[s.pos] == '.') {
		s.pos++
	}
	n, err := strconv.Atoi(s.src[start:s.pos])
	s.literal(nil)
	if err == nil {
		s.top().only = n
	}
}

func (s *scanner) symbol(c byte) {
	s.pos++
	f := s.top()
	f.count++
	switch c {
	case '.', ':':
		s.sep = string(c)
		if s.pos < len(s.src) && s.src[s.pos] == '.' { // concatenation, or what follows all arguments
			s.pos++
			s.sep, s.path, s.value = "", nil, false
		}
		return
	case '(', '{', '[':
		s.open(c)
		return
	case ')', '}', ']':
		s.close(c)
		return
	case ',', ';':
		f.key = ""
	case '=':
		if s.pos < len(s.src) && s.src[s.pos] == '=' {
			s.pos++
		} else if name, ok := single(s.path); ok && f.open == '{' && f.key == "" {
			f.key = name
			f.given[name] = true
		}
	}
	s.path, s.sep, s.value = nil, "", false
}

func (s *scanner) open(c byte) {
	f := &frame{open: c, given: map[string]bool{}}
	switch {
	case c == '[':
		f.outer = s.path
	case s.value:
		f.call = s.path
	case c == '{' && s.top().open == '(':
		f.call = s.top().call // f(x, { … })
	}
	s.frames = append(s.frames, f)
	s.path, s.sep, s.value = nil, "", false
}

func (s *scanner) close(c byte) {
	f := s.top()
	if len(s.frames) > 1 {
		s.frames = s.frames[:len(s.frames)-1]
	}
	s.path, s.sep, s.value = nil, "", true
	if c == ']' && f.outer != nil && f.only != nil && f.count == 2 { // the literal and the bracket
		s.path = append(append([]any{}, f.outer...), f.only)
	}
}

func single(path []any) (string, bool) {
	if len(path) != 1 {
		return "", false
	}
	name, ok := path[0].(string)
	return name, ok
}

// longBracket is the length of [[ or [==[ at the start, or 0.
func longBracket(s string) int {
	i := 1
	for i < len(s) && s[i] == '=' {
		i++
	}
	if s == "" || s[0] != '[' || i >= len(s) || s[i] != '[' {
		return 0
	}
	return i + 1
}

func closing(n int) string { return "]" + strings.Repeat("=", n-2) + "]" }

func isLetter(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

var keywords = map[string]bool{"and": true, "break": true, "do": true, "else": true, "elseif": true, "end": true, "false": true,
	"for": true, "function": true, "if": true, "in": true, "local": true, "nil": true, "not": true, "or": true, "repeat": true,
	"return": true, "then": true, "true": true, "until": true, "while": true}
