package compile

import (
	"bytes"
	"fmt"
	"slices"
)

// Check refuses source code that the parser reads otherwise than Lua 5.1 without a
// word: escapes beyond a byte, numbers that run into names, and a bracket on a new
// line, which may be meant as the beginning of a statement. It also returns lines that
// the parser does not keep.
func Check(code []byte) (lines *SourceLines, err error) {
	s := &scanner{code: code, line: 1, lines: SourceLines{texts: map[int]int{}}}
	defer func() {
		if e, ok := recover().(*Error); ok {
			lines, err = nil, e
		}
	}()
	s.scan()
	return &s.lines, nil
}

// Kind classifies tokens.
type Kind byte

// The kinds of tokens.
const (
	Symbol Kind = iota
	Identifier
	Keyword
	Number
	Text
	Comment
)

// Token is a token of a source, or a comment, from its first byte to the one after it.
type Token struct {
	Kind     Kind
	From, To int
	Line     int // on which it begins, from 1
}

// Tokens lists the tokens of a source, which need not compile.
func Tokens(code []byte) (list []Token) {
	s := &scanner{code: code, line: 1, lines: SourceLines{texts: map[int]int{}}}
	s.found = func(t Token) {
		if n := len(list) - 1; n >= 0 && t.Kind == Symbol && joined(code, list[n], t) {
			list[n].To = t.To
		} else {
			list = append(list, t)
		}
	}
	s.scan()
	return list
}

// joined reports whether a byte continues the symbol before it: == but not )).
func joined(code []byte, symbol, next Token) bool {
	if symbol.Kind != Symbol || symbol.To != next.From {
		return false
	}
	switch string(code[symbol.From:next.To]) {
	case "==", "~=", "<=", ">=", "::":
		return true
	}
	return false
}

// scanner goes through the tokens of a source. What it cannot read is left to the
// parser to complain about.
type scanner struct {
	code     []byte
	at, line int
	lines    SourceLines
	found    func(Token) // receives each token; then nothing is refused

	callable bool     // the last token ends an expression that arguments may follow
	ended    int      // line of the last token
	names    bool     // within the names of a local statement
	function int      // 1 behind "function", 2 in the name that follows it
	open     []opener // brackets
}

type opener struct {
	bracket    byte
	arguments  bool // of a call
	parameters bool
}

// Keywords are the words of Lua that cannot be names.
var Keywords = []string{"and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in",
	"local", "nil", "not", "or", "repeat", "return", "then", "true", "until", "while"}

func (s *scanner) fail(format string, args ...any) {
	if s.found == nil {
		panic(&Error{s.line, fmt.Sprintf(format, args...)})
	}
}

func (s *scanner) peek(n int) byte {
	if s.at+n < len(s.code) {
		return s.code[s.at+n]
	}
	return 0
}

func (s *scanner) scan() {
	for s.at < len(s.code) {
		c, t := s.code[s.at], Token{From: s.at, Line: s.line}
		switch {
		case c == '\n' || c == '\r':
			s.newline()
			continue
		case c == ' ' || c == '\t' || c == '\v' || c == '\f':
			s.at++
			continue
		case c == '-' && s.peek(1) == '-':
			s.comment()
			t.Kind = Comment
		case isDigit(c) || c == '.' && isDigit(s.peek(1)):
			s.number()
			s.token(false)
			t.Kind = Number
		case isLetter(c):
			t.Kind = s.word()
		case c == '"' || c == '\'':
			s.text(c)
			s.textToken(t.Line)
			t.Kind = Text
		case c == '[' && (s.peek(1) == '[' || s.peek(1) == '=') && s.long():
			s.textToken(t.Line)
			t.Kind = Text
		default:
			s.symbol(c)
			for c == '.' && s.at < t.From+3 && s.peek(0) == '.' { // "a"..5 has no number .5
				s.at++
			}
		}
		if t.To = min(s.at, len(s.code)); s.found != nil {
			s.found(t)
		}
	}
}

// token notes the last token, after which an expression may be called or not.
func (s *scanner) token(callable bool) {
	s.callable, s.ended, s.names = callable, s.line, false
}

func (s *scanner) newline() {
	c := s.code[s.at]
	s.at++
	if next := s.peek(0); (next == '\n' || next == '\r') && next != c {
		s.at++
	}
	s.line++
}

func (s *scanner) comment() {
	s.at += 2
	if s.peek(0) == '[' && s.long() {
		return
	}
	for s.at < len(s.code) && s.code[s.at] != '\n' && s.code[s.at] != '\r' {
		s.at++
	}
}

// long skips a text or a comment in long brackets; false when there is none.
func (s *scanner) long() bool {
	level := 1
	for s.peek(level) == '=' {
		level++
	}
	if s.peek(level) != '[' {
		return false
	}
	end := append(append([]byte("]"), bytes.Repeat([]byte("="), level-1)...), ']')
	n := bytes.Index(s.code[s.at+level+1:], end)
	stop := len(s.code)
	if n >= 0 {
		stop = s.at + level + 1 + n + len(end)
	}
	for s.at < stop {
		if c := s.code[s.at]; c == '\n' || c == '\r' {
			s.newline()
		} else {
			s.at++
		}
	}
	return true
}

func (s *scanner) text(quote byte) {
	for s.at++; s.at < len(s.code) && s.code[s.at] != quote; {
		switch c := s.code[s.at]; {
		case c == '\n' || c == '\r':
			return // the parser reports that it does not end
		case c != '\\':
			s.at++
		default:
			s.at++
			s.escape()
		}
	}
	s.at++
}

func (s *scanner) escape() {
	c := s.peek(0)
	switch {
	case c == '\n' || c == '\r':
		s.newline()
	case isDigit(c):
		value := 0
		for n := 0; n < 3 && isDigit(s.peek(0)); n++ {
			value = 10*value + int(s.peek(0)-'0')
			s.at++
		}
		if value > 255 {
			s.fail(`escape sequence too large near '\%d': a text holds bytes, from 0 to 255`, value)
		}
	default:
		s.at++
	}
}

func (s *scanner) number() {
	first := s.at
	for s.at < len(s.code) {
		c := s.code[s.at]
		if !isDigit(c) && !isLetter(c) && c != '.' {
			break
		}
		s.at++
		if (c == 'e' || c == 'E') && (s.peek(0) == '+' || s.peek(0) == '-') {
			s.at++
		}
	}
	if text := string(s.code[first:s.at]); !isNumber(text) {
		s.fail("malformed number near '%s'", text)
	}
}

func (s *scanner) word() Kind {
	first := s.at
	for s.at < len(s.code) && (isLetter(s.code[s.at]) || isDigit(s.code[s.at])) {
		s.at++
	}
	word := string(s.code[first:s.at])
	names, function := s.names || s.function > 0, s.function
	if slices.Contains(Keywords, word) {
		s.token(false)
		s.names = word == "local" || word == "goto"
		s.function = 0
		if word == "function" {
			s.function = 1
		}
		return Keyword
	}
	s.token(!names)
	s.names = names && function == 0
	if function > 0 {
		s.function = 2
	}
	return Identifier
}

// textToken scans a text, which may be the argument of a call.
func (s *scanner) textToken(line int) {
	argument := s.callable
	if argument {
		s.lines.calls = append(s.lines.calls, line)
	}
	if s.line > line {
		s.lines.texts[line] = s.line
	}
	s.token(argument)
}

func (s *scanner) symbol(c byte) {
	s.at++
	function, names := s.function, s.names
	s.function = 0
	switch c {
	case '(', '{', '[':
		o := opener{bracket: c, parameters: c == '(' && function > 0, arguments: c != '[' && s.callable}
		if o.arguments {
			if c == '(' && s.ended != s.line {
				s.fail("ambiguous syntax (function call x new statement) near '(': " +
					"put the bracket on the line of what it calls, or a ; before it")
			}
			s.lines.calls = append(s.lines.calls, s.line)
		}
		s.open = append(s.open, o)
		s.token(false)
	case ')', '}', ']':
		o := opener{}
		if n := len(s.open); n > 0 {
			o, s.open = s.open[n-1], s.open[:n-1]
		}
		s.token(c == ')' && !o.parameters || c == ']' || o.arguments)
	default:
		s.token(false)
		s.names = names && c == ','
		if (c == '.' || c == ':') && function > 0 {
			s.function = function
		}
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' }

// isNumber reports whether a text is a number literal.
func isNumber(text string) bool {
	digits := func(is func(c byte) bool) int {
		n := 0
		for n < len(text) && is(text[n]) {
			n++
		}
		text = text[n:]
		return n
	}
	if len(text) > 2 && text[0] == '0' && text[1]|0x20 == 'x' {
		text = text[2:]
		return digits(func(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }) > 0 && text == ""
	}
	n := digits(isDigit)
	if text != "" && text[0] == '.' {
		text = text[1:]
		n += digits(isDigit)
	}
	if n > 0 && text != "" && text[0]|0x20 == 'e' {
		text = text[1:]
		if text != "" && (text[0] == '+' || text[0] == '-') {
			text = text[1:]
		}
		n = digits(isDigit)
	}
	return n > 0 && text == ""
}
