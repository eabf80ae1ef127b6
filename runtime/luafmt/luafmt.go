// Package luafmt formats Lua: two spaces per level, one space around operators, at most one blank line,
// strings in double quotes. Line breaks stay, so that errors report the same lines, and comments stay
// unchanged.
//
// The printer works on tokens (compile.Tokens) and keeps a stack of open brackets, blocks, and heads of if,
// while and for. Begin reading with Source.
package luafmt

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"transect/runtime/engine/compile"
	"transect/runtime/vm"
)

// errChanged reports a bug in this package: its output has other tokens.
var errChanged = errors.New("formatting would change the program; it was left as it is")

// Source formats a script. Lines end like the first one. It returns an error for code that does not compile.
func Source(name string, code []byte) ([]byte, error) {
	code = bytes.TrimPrefix(code, []byte("\xef\xbb\xbf"))
	if bytes.Count(code, []byte("\r")) != bytes.Count(code, []byte("\r\n")) {
		return source(name, code)
	}
	// Lua reads both the same, within strings as well.
	formatted, err := source(name, bytes.ReplaceAll(code, []byte("\r\n"), []byte("\n")))
	if first, _, _ := bytes.Cut(code, []byte("\n")); bytes.HasSuffix(first, []byte("\r")) {
		formatted = bytes.ReplaceAll(formatted, []byte("\n"), []byte("\r\n"))
	}
	return formatted, err
}

func source(name string, code []byte) ([]byte, error) {
	var first []byte // for the shell
	if bytes.HasPrefix(code, []byte("#")) {
		end := bytes.IndexByte(code, '\n') + 1
		if end == 0 {
			return code, nil
		}
		first, code = code[:end], code[end:]
	}
	if all := append(slices.Repeat([]byte("\n"), min(len(first), 1)), code...); vm.Check(name, all) != nil {
		return nil, vm.SyntaxError(name, all, vm.Check(name, all))
	}
	p := &printer{code: code, tokens: compile.Tokens(code)}
	p.print()
	out := p.out.Bytes()
	if !slices.Equal(texts(code, p.tokens), texts(out, compile.Tokens(out))) {
		return nil, errChanged
	}
	return append(first, out...), nil
}

// texts returns the tokens of a source as they are printed.
func texts(code []byte, tokens []compile.Token) []string {
	list := make([]string, len(tokens))
	for i, t := range tokens {
		list[i] = printed(code, t)
	}
	return list
}

// printed returns the text of a token: a string without quotes in it gets double ones.
func printed(code []byte, t compile.Token) string {
	text := string(code[t.From:t.To])
	switch {
	case t.Kind == compile.Comment && !long(text):
		return strings.TrimRight(text, " \t\v\f\r")
	case t.Kind == compile.Text && text[0] == '\'' && !strings.ContainsAny(text[1:len(text)-1], `'"`):
		return `"` + text[1:len(text)-1] + `"`
	}
	return text
}

// long reports whether a comment is in long brackets.
func long(comment string) bool {
	rest, bracket := strings.CutPrefix(comment, "--[")
	return bracket && strings.HasPrefix(strings.TrimLeft(rest, "="), "[")
}

// open is an open bracket or block.
type open struct {
	by     string // (, {, [, do, then, function, …
	called bool   // a bracket around arguments or fields that may span lines
	indent int    // of the line it is on
}

type printer struct {
	code   []byte
	tokens []compile.Token
	out    bytes.Buffer
	stack  []open
	indent int    // of the current line
	last   string // the previous token, except comments
	before string // the one before last
	opened bool   // last begins a block or a list
	unary  bool   // last is an operator before its only operand
	kind   compile.Kind
}

func (p *printer) print() {
	line := 0 // line of the previous token
	comment := ""
	for i, t := range p.tokens {
		text := printed(p.code, t)
		switch {
		case i == 0:
			p.indent = p.level(i)
		case t.Line > line:
			if t.Line > line+1 && (comment != "" || !p.opened) && !p.closes(i) {
				p.out.WriteByte('\n')
			}
			p.out.WriteByte('\n')
			p.indent = p.level(i)
			p.out.WriteString(strings.Repeat("  ", p.indent))
		case t.Kind == compile.Comment || comment != "" || p.spaced(text, t.Kind):
			p.out.WriteByte(' ')
		}
		p.out.WriteString(text)
		comment = ""
		if t.Kind == compile.Comment {
			comment = text
		} else {
			p.nest(text, t.Kind)
		}
		line = t.Line + strings.Count(text, "\n")
	}
	if p.out.Len() > 0 {
		p.out.WriteByte('\n')
	}
}

// closes reports whether a token ends a block or a bracket.
func (p *printer) closes(i int) bool {
	t := p.tokens[i]
	return t.Kind != compile.Comment && slices.Contains(closers, string(p.code[t.From:t.To]))
}

var closers = []string{")", "}", "]", "end", "else", "elseif", "until", "then", "do"}

// level returns the indentation of a line that begins with a token. A comment is indented like the token
// after it.
func (p *printer) level(i int) int {
	top := open{indent: -1}
	if n := len(p.stack); n > 0 {
		top = p.stack[n-1]
	}
	commented := p.tokens[i].Kind == compile.Comment
	for i < len(p.tokens) && p.tokens[i].Kind == compile.Comment {
		i++
	}
	if i == len(p.tokens) {
		return 0
	}
	t := p.tokens[i]
	text := string(p.code[t.From:t.To])
	switch {
	case p.closes(i) && (text != "do" || top.by == "while" || top.by == "for"):
		if commented {
			return top.indent + 1
		}
		return top.indent
	case p.continues(top, text, t.Kind):
		return top.indent + 2
	}
	return top.indent + 1
}

// continues reports whether a token on a new line continues a statement, or an item of a list, from an
// earlier line.
func (p *printer) continues(top open, text string, kind compile.Kind) bool {
	switch top.by {
	case "if", "elseif", "while", "for":
		return false
	case "(", "{", "[":
		return top.called && p.last != top.by && p.last != "," && p.last != ";"
	}
	switch p.last {
	case "", ";", "break":
		return false
	case "return":
		return true
	}
	if p.opened {
		return false
	}
	binary := kind == compile.Symbol && text != "(" && text != ";" && text != "::" || text == "and" || text == "or" ||
		text == "in"
	operand := p.kind == compile.Symbol && !slices.Contains([]string{")", "}", "]", "...", labelEnd}, p.last) ||
		p.kind == compile.Keyword && slices.Contains([]string{"and", "or", "not", "in", "local", "until", "goto",
			"function"}, p.last)
	argument := p.callable() && (kind == compile.Text || text == "{" || text == "(")
	return binary || operand || argument
}

// callable reports whether the last token may end an expression that can be called.
func (p *printer) callable() bool {
	return p.kind == compile.Identifier || p.kind == compile.Text || slices.Contains([]string{")", "]", "}"}, p.last)
}

// spaced reports whether a space precedes a token on the same line.
func (p *printer) spaced(text string, kind compile.Kind) bool {
	switch {
	case p.kind == compile.Symbol && (p.last == "." || p.last == ":" || p.last == "("), p.last == "[" && text[0] != '[':
		return false
	case p.unary:
		return text[0] == '-' && p.last == "-"
	case p.last == "::":
		return false
	case text == "::":
		return !p.label()
	case kind != compile.Symbol:
		return true
	}
	switch text {
	case ",", ";", ")", "]", ".", ":":
		return false
	case "}":
		return p.last != "{"
	case "(":
		return !p.callable() && p.last != "function"
	case "[", "{":
		return !p.callable()
	}
	return true
}

// labelEnd is the :: after the name of a label.
const labelEnd = "::end"

// label reports whether the last token is the name within ::name::.
func (p *printer) label() bool { return p.kind == compile.Identifier && p.before == "::" }

// nest updates the state after a printed token.
func (p *printer) nest(text string, kind compile.Kind) {
	called := p.callable() || p.last == "function" || text == "{"
	p.unary = kind == compile.Symbol && (text == "#" || text == "-" && !p.callable() && p.kind != compile.Number &&
		!slices.Contains([]string{"...", "end", "nil", "true", "false"}, p.last))
	p.opened = false
	if kind == compile.Symbol || kind == compile.Keyword {
		switch text {
		case "(", "{", "[", "function", "if", "while", "for", "repeat":
			p.push(text, called, p.indent)
		case "do":
			if n := len(p.stack); n > 0 && (p.stack[n-1].by == "while" || p.stack[n-1].by == "for") {
				p.push(text, false, p.pop())
			} else {
				p.push(text, false, p.indent)
			}
		case "then", "else", "elseif":
			p.push(text, false, p.pop())
		case ")", "}", "]", "end", "until":
			p.pop()
			if n := len(p.stack) - 1; text == ")" && n >= 0 && p.stack[n].by == "function" { // its parameters end
				p.stack[n].by, p.opened = "body", true
			}
		}
	}
	if text == "::" && p.label() {
		text = labelEnd
	}
	p.before, p.last, p.kind = p.last, text, kind
}

func (p *printer) push(by string, called bool, indent int) {
	p.stack, p.opened = append(p.stack, open{by, called, indent}), true
}

// pop removes the top of the stack and returns the indentation of its line.
func (p *printer) pop() int {
	n := len(p.stack) - 1
	indent := p.stack[n].indent
	p.stack = p.stack[:n]
	return indent
}
