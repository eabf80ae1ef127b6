package lint

import (
	"bytes"
	"errors"
	"strings"
	"unicode"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"

	"transect/runtime/vm"
	"transect/runtime/vm/compile"
	"transect/runtime/vm/mistake"
)

// maxSyntaxErrors are reported of a script.
const maxSyntaxErrors = 20

// reading is what can be read of a script.
type reading struct {
	code     []byte
	left     []byte // code, with blanks for what cannot be read
	chunk    []ast.Stmt
	problems []Problem       // syntax errors
	unread   map[string]bool // names in what cannot be read
}

// readable parses a script. After a syntax error it leaves out the outermost statement
// that holds it, and goes on when the rest does not depend on that: when its blocks and
// brackets are closed, and all statements before it are complete. Otherwise it leaves out
// the rest.
func readable(file string, code []byte) *reading {
	r := &reading{code: code, left: code, unread: map[string]bool{}}
	var starts []int
	for range maxSyntaxErrors {
		chunk, problem := parsed(file, r.left)
		if problem == nil {
			r.chunk = chunk
			return r
		}
		if starts == nil {
			r.left, starts = bytes.Clone(code), statements(code)
		}
		r.problems = append(r.problems, *problem)
		if r.leaveOut(starts, problem.Line) {
			break
		}
	}
	if chunk, problem := parsed(file, r.left); problem == nil {
		r.chunk = chunk
	}
	return r
}

// statements are the offsets of outermost statements, as far as lines tell: each begins
// with a word at the start of a line.
func statements(code []byte) []int {
	starts := []int{0}
	for _, t := range compile.Tokens(code) {
		if t.From == 0 || code[t.From-1] != '\n' && code[t.From-1] != '\r' {
			continue
		}
		switch word := string(code[t.From:t.To]); {
		case t.Kind == compile.Identifier, t.Kind == compile.Keyword && strings.Contains(
			" local if for while repeat do function return break goto ", " "+word+" "):
			starts = append(starts, t.From)
		}
	}
	return append(starts, len(code))
}

// leaveOut blanks the statement of a line, or the rest from the first statement that is
// not complete, which it returns.
func (r *reading) leaveOut(starts []int, line int) (rest bool) {
	for i, from := range starts[:len(starts)-1] {
		to := starts[i+1]
		here := bytes.Count(r.code[:to], []byte("\n")) >= line || to == len(r.code)
		err := vm.Check("", r.left[from:to])
		if err == nil && !here {
			continue
		}
		if rest = !here || err == nil || !balanced(r.left[from:to]); rest {
			to = len(r.code)
		}
		for word := range strings.FieldsFuncSeq(string(r.code[from:to]), noLetter) { // also in strings that do not end
			r.unread[word] = true
		}
		for i := from; i < to; i++ {
			if c := r.left[i]; c != '\n' && c != '\r' {
				r.left[i] = ' '
			}
		}
		return rest
	}
	return true
}

func noLetter(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// balanced reports whether blocks and brackets that begin in a source end there.
func balanced(code []byte) bool {
	depth := 0
	for _, t := range compile.Tokens(code) {
		switch string(code[t.From:t.To]) {
		case "function", "if", "do", "repeat", "(", "{", "[":
			depth++
		case "end", "until", ")", "}", "]":
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}

// parsed returns the syntax tree of a script, or its syntax error.
func parsed(file string, code []byte) ([]ast.Stmt, *Problem) {
	err := vm.Check(file, code) // it refuses more than the grammar
	var chunk []ast.Stmt
	if err == nil {
		chunk, err = parse.Parse(bytes.NewReader(code), file)
	}
	if err == nil {
		return chunk, nil
	}
	p := &Problem{File: file, Rule: Syntax, Line: 1, Column: 1, Message: err.Error()}
	var wrong *parse.Error
	var refused *compile.Error
	switch {
	case errors.As(err, &wrong) && wrong.Pos.Line == parse.EOF:
		p.Line = bytes.Count(bytes.TrimRight(code, "\r\n \t"), []byte("\n")) + 1
		p.Message, p.Hint = "unexpected end of the script", mistake.End(string(code))
	case errors.As(err, &wrong):
		p.Line, p.Column, p.Message = wrong.Pos.Line, max(wrong.Pos.Column, 1), wrong.Message
		var near string
		near, p.Hint = mistake.Near(string(code), p.Line, p.Column, wrong.Token)
		p.Message += near
		p.Column = beginning(code, p.Line, p.Column, wrong.Token)
	case errors.As(err, &refused):
		p.Line, p.Message = refused.Line, refused.Message
	}
	if p.Hint == "" {
		p.Hint = mistake.Line(string(code), p.Line)
	}
	return nil, p
}

// beginning is the column of a token, of which the parser tells the end; that of a
// string is left as it is.
func beginning(code []byte, line, column int, token string) int {
	lines := bytes.Split(code, []byte("\n"))
	if from := column - len(token); line <= len(lines) && from >= 0 && column <= len(lines[line-1]) &&
		string(lines[line-1][from:column]) == token {
		return max(from+1, 1)
	}
	return column
}
