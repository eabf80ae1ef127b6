package repl

import (
	"strconv"
	"strings"
)

// cursor describes the code at the cursor for completion.
type cursor struct {
	comment bool
	quote   string // opening quote of the string at the cursor, or ""
	text    string // content of that string so far
	path    []any  // names and numbers before the word: projects, search
	sep     string // before the word: ".", ":" or ""
	word    string // the name being typed
	call    []any  // the function whose arguments are typed
	table   bool   // in a table of named arguments
	key     string // the argument whose value is being typed
	given   map[string]bool
}

// frame is an open bracket.
type frame struct {
	open  byte
	call  []any // the called function
	outer []any // the indexed expression
	only  any   // the only literal in it, for an index
	count int   // number of tokens
	key   string
	given map[string]bool
}

// scanner scans a text up to the cursor.
type scanner struct {
	src    string
	pos    int
	frames []*frame
	path   []any  // of the last expression; nil when unknown
	sep    string // the dot or colon after it
	value  bool   // an expression just ended
}

// scan describes the end of a text.
func scan(src string) cursor {
	s := &scanner{src: src, frames: []*frame{{}}}
	for s.pos < len(src) {
		if at, ended := s.token(); ended {
			return at
		}
	}
	return s.cursor()
}

func (s *scanner) top() *frame { return s.frames[len(s.frames)-1] }

func (s *scanner) cursor() cursor {
	f := s.top()
	p := cursor{call: f.call, table: f.open == '{', key: f.key, given: f.given}
	if s.sep != "" {
		p.path, p.sep = s.path, s.sep
	}
	return p
}

// token scans one token; ended means that the cursor is inside it.
func (s *scanner) token() (cursor, bool) {
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
	return cursor{}, false
}

func (s *scanner) comment() (cursor, bool) {
	rest := s.src[s.pos+2:]
	if n := longBracket(rest); n > 0 {
		end := strings.Index(rest, closing(n))
		if end < 0 {
			return cursor{comment: true}, true
		}
		s.pos += 2 + end + n
		return cursor{}, false
	}
	end := strings.IndexByte(rest, '\n')
	if end < 0 {
		return cursor{comment: true}, true
	}
	s.pos += 2 + end
	return cursor{}, false
}

// inString is a cursor inside a string.
func (s *scanner) inString(quote, content string) cursor {
	p := s.cursor()
	p.quote, p.text, p.path, p.sep = quote, content, nil, ""
	if s.value && len(s.path) > 0 { // f"text"
		p.call, p.key, p.table = s.path, "", false
	}
	return p
}

func (s *scanner) text() (cursor, bool) {
	quote := s.src[s.pos]
	for i := s.pos + 1; i < len(s.src); i++ {
		switch s.src[i] {
		case '\\':
			i++
		case quote:
			s.literal(s.src[s.pos+1 : i])
			s.pos = i + 1
			return cursor{}, false
		}
	}
	return s.inString(string(quote), s.src[s.pos+1:]), true
}

func (s *scanner) long(n int) (cursor, bool) {
	end := strings.Index(s.src[s.pos:], closing(n))
	if end < 0 {
		return s.inString(s.src[s.pos:s.pos+n], s.src[s.pos+n:]), true
	}
	s.literal(nil)
	s.pos += end + n
	return cursor{}, false
}

// literal records a constant: the value of an index, or the end of a call.
func (s *scanner) literal(v any) {
	f := s.top()
	f.count++
	f.only = v
	s.path, s.sep, s.value = nil, "", true
}

func (s *scanner) name() (cursor, bool) {
	start := s.pos
	for s.pos < len(s.src) && (isLetter(s.src[s.pos]) || s.src[s.pos] >= '0' && s.src[s.pos] <= '9') {
		s.pos++
	}
	name := s.src[start:s.pos]
	if s.pos == len(s.src) {
		p := s.cursor()
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
	return cursor{}, false
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
		if s.pos < len(s.src) && s.src[s.pos] == '.' { // concatenation, or varargs
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
