package lint

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"

	"transect/runtime/engine/compile"
	"transect/runtime/vm"
	"transect/runtime/vm/mistake"
)

// maxSyntaxErrors limits the syntax errors reported for a script.
const maxSyntaxErrors = 20

// reading is the parseable part of a script.
type reading struct {
	code     []byte
	left     []byte // code, with unparseable parts blanked
	chunk    []ast.Stmt
	problems []Problem       // syntax errors
	unread   map[string]bool // names that unparsed parts may assign
	unnamed  bool            // unparsed parts may declare any name
}

// readable parses a script. After a syntax error it drops the line of the error, or the previous one, if the
// enclosing outermost statement parses without it. Otherwise it drops that statement, and continues if the
// rest does not depend on it: its blocks and brackets are closed, and all statements before it are complete.
// Otherwise it drops the rest.
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

// statements returns the offsets of outermost statements, as far as lines show: each begins with a word at
// the start of a line.
func statements(code []byte) []int {
	starts := []int{0}
	for _, t := range compile.Tokens(code) {
		if t.From > 0 && (code[t.From-1] == '\n' || code[t.From-1] == '\r') && begins(code, t) {
			starts = append(starts, t.From)
		}
	}
	return append(starts, len(code))
}

// begins reports whether a statement can begin with a token.
func begins(code []byte, t compile.Token) bool {
	return t.Kind == compile.Identifier || t.Kind == compile.Keyword && strings.Contains(
		" local if for while repeat do function return break goto ", " "+string(code[t.From:t.To])+" ")
}

// leaveOut blanks the statement of a line, or the rest from the first incomplete statement, and reports
// whether it blanked the rest.
func (r *reading) leaveOut(starts []int, line int) (rest bool) {
	for i, from := range starts[:len(starts)-1] {
		to := starts[i+1]
		here := bytes.Count(r.code[:to], []byte("\n")) >= line || to == len(r.code)
		err := vm.Check("", r.left[from:to])
		if err == nil && !here {
			continue
		}
		if here && err != nil && r.leaveOutLine(from, to, line) {
			return false
		}
		if rest = !here || err == nil || !balanced(r.left[from:to]); rest {
			to = len(r.code)
		}
		r.blank(from, to)
		return rest
	}
	return true
}

// leaveOutLine blanks only a line of a statement, or the previous one, if the statement parses without it and
// the reachability of what follows does not change; or it makes the line a correct one, if the next error is on a
// later line and nothing else can be its cause.
func (r *reading) leaveOutLine(from, to, line int) bool {
	end := len(r.left)
	for lines := bytes.SplitAfter(r.left, []byte("\n")); len(lines) > line; lines = lines[:len(lines)-1] {
		end -= len(lines[len(lines)-1])
	}
	for range 2 {
		start := bytes.LastIndexByte(r.left[:max(end-1, 0)], '\n') + 1
		if start < from || end > to {
			return false
		}
		before, text := r.left[from:start], r.left[start:end]
		if start > from && inBlock(before) && simple(text) && vm.Check("", slices.Concat(before, r.left[end:to])) == nil {
			r.blank(start, end)
			return true
		}
		if instead, ok := repaired(text); ok && (start == from || goesOn(before)) &&
			follows(r.left[end:], has(instead, "return")) &&
			r.later(slices.Concat(before, instead, r.left[end:to]), from, line) {
			r.blank(start, end)
			copy(r.left[start:], instead)
			return true
		}
		end = start
	}
	return false
}

// later reports whether a statement, which begins at an offset, has closed blocks and brackets, and no error up to a
// line.
func (r *reading) later(statement []byte, from, line int) bool {
	if !balanced(statement) {
		return false
	}
	_, problem := parsed("", statement)
	return problem == nil || problem.Line+bytes.Count(r.code[:from], []byte("\n")) > line
}

// headers are the beginnings of lines that open a block, and correct lines that open the same kind.
var headers = []struct{ begins, instead string }{
	{"if ", "if _ then"}, {"elseif ", "elseif _ then"}, {"while ", "while _ do"}, {"for ", "while _ do"},
	{"function ", "function _()"}, {"local function ", "function _()"},
}

// repaired returns a correct line of the same length in place of a whole statement or the beginning of a block. ok is
// false for other lines, such as parts of an expression.
func repaired(line []byte) (instead []byte, ok bool) {
	tokens := slices.DeleteFunc(compile.Tokens(line), func(t compile.Token) bool {
		return t.Kind == compile.Comment && !bytes.HasPrefix(line[t.From:], []byte("--["))
	})
	missing, closed := closing(line)
	if len(tokens) == 0 || !closed || !whole(line, tokens) {
		return nil, false
	}
	instead = blanked(line)
	from, last := tokens[0].From, tokens[len(tokens)-1]
	for _, h := range headers {
		opens := missing == " end" || missing == "" && strings.HasSuffix(h.instead, "do")
		mixed := strings.HasSuffix(h.instead, ")") && has(line, "then", "do")
		begins := bytes.HasPrefix(line[from:], []byte(h.begins))
		if begins && opens && !mixed && !has(line, "end", "break", "return", "goto") {
			from = min(from, max(0, last.To-len(h.instead))) // in place of the indentation, too
			return instead, copy(instead[from:last.To], h.instead) == len(h.instead)
		}
	}
	if first := string(line[from:tokens[0].To]); first == "return" {
		copy(instead[from:], first)
		return instead, missing == ""
	}
	return instead, missing == "" && simple(line)
}

// blanked returns a copy of code with spaces in place of everything but line ends.
func blanked(code []byte) []byte {
	code = bytes.Clone(code)
	for i, c := range code {
		if c != '\n' && c != '\r' {
			code[i] = ' '
		}
	}
	return code
}

// whole reports whether a line ends where an expression or the header of a block ends, and no text or comment in it
// goes on on the next one.
func whole(line []byte, tokens []compile.Token) bool {
	for _, t := range tokens {
		text := string(line[t.From:t.To])
		open := t.Kind == compile.Text && (len(text) < 2 || text[0] == '[' || text[len(text)-1] != text[0])
		if open || t.Kind == compile.Comment {
			return false
		}
	}
	last := tokens[len(tokens)-1]
	switch text := string(line[last.From:last.To]); last.Kind {
	case compile.Identifier, compile.Number, compile.Text:
		return true
	case compile.Keyword:
		return slices.Contains([]string{"end", "nil", "true", "false", "then", "do"}, text)
	default:
		return strings.ContainsAny(text, ")]}")
	}
}

// goesOn reports whether a source ends in a block, and another statement may follow there: not after a return, which
// would be the error itself.
func goesOn(code []byte) bool {
	missing, _ := closing(code)
	return inBlock(code) && vm.Check("", slices.Concat(code, []byte("local _"+missing))) == nil
}

// follows reports whether code goes on with a statement, or the end of a block or of the code; after the last
// statement of a block with an end only.
func follows(code []byte, last bool) bool {
	for _, t := range compile.Tokens(code) {
		if text := string(code[t.From:t.To]); t.Kind != compile.Comment {
			return !last && begins(code, t) && text != "do" ||
				slices.Contains([]string{"end", "else", "elseif", "until"}, text)
		}
	}
	return true
}

// inBlock reports whether a source ends in a block, between two statements.
func inBlock(code []byte) bool {
	missing, ok := closing(code)
	return ok && strings.HasPrefix(missing, " ") && vm.Check("", append(bytes.Clone(code), missing...)) == nil
}

// simple reports whether a line may be a statement after which control continues.
func simple(line []byte) bool {
	tokens := compile.Tokens(line)
	return len(tokens) > 0 && begins(line, tokens[0]) && !has(line, "break", "return", "goto", "then", "else")
}

// has reports whether code contains one of some tokens.
func has(code []byte, tokens ...string) bool {
	return slices.ContainsFunc(compile.Tokens(code), func(t compile.Token) bool {
		return slices.Contains(tokens, string(code[t.From:t.To]))
	})
}

// blank blanks a part of the code.
func (r *reading) blank(from, to int) {
	if code := r.code[from:to]; bytes.Count(code, []byte("\n")) > 1 || has(code, "=", "local", "function", "for") {
		for word := range strings.FieldsFuncSeq(string(code), noLetter) { // also in unterminated strings
			r.unread[word] = true
		}
		for _, t := range compile.Tokens(code) {
			r.unnamed = r.unnamed || declares(code[t.From:]) && !readableNames().Match(code[t.From:])
		}
	}
	copy(r.left[from:], blanked(r.left[from:to]))
}

// declares reports whether code begins with a keyword that declares names.
func declares(code []byte) bool {
	return slices.ContainsFunc([]string{"local ", "for ", "function ", "function("}, func(word string) bool {
		return bytes.HasPrefix(code, []byte(word))
	})
}

// readableNames matches code that begins with a declaration whose names can all be read.
var readableNames = sync.OnceValue(func() *regexp.Regexp {
	const names = `[A-Za-z_]\w*(\s*,\s*[A-Za-z_]\w*)*`
	return regexp.MustCompile(`^(local\s+` + names + `\s*([=;\n\r]|$|--)|local\s+function\s|for\s+` + names +
		`\s*(=|in\b)|function\s*[\w.:]*\s*\(\s*(` + names + `\s*(,\s*\.\.\.\s*)?|\.\.\.\s*)?\))`)
})

func noLetter(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// balanced reports whether all blocks and brackets in a source are closed.
func balanced(code []byte) bool {
	missing, ok := closing(code)
	return ok && missing == ""
}

// closing returns what closes the open blocks and brackets at the end of a source; ok is false when one is
// closed that was not opened.
func closing(code []byte) (missing string, ok bool) {
	var open []string
	ends := map[string]string{"function": " end", "if": " end", "do": " end", "repeat": " until true",
		"(": ")", "{": "}", "[": "]"}
	for _, t := range compile.Tokens(code) {
		switch token := string(code[t.From:t.To]); token {
		case "end", "until", ")", "}", "]":
			if len(open) == 0 {
				return "", false
			}
			open = open[:len(open)-1]
		default:
			if end := ends[token]; end != "" {
				open = append(open, end)
			}
		}
	}
	slices.Reverse(open)
	return strings.Join(open, ""), true
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

// beginning returns the column where a token begins; the parser reports its end. For strings it returns the
// column unchanged.
func beginning(code []byte, line, column int, token string) int {
	lines := bytes.Split(code, []byte("\n"))
	if from := column - len(token); line <= len(lines) && from >= 0 && column <= len(lines[line-1]) &&
		string(lines[line-1][from:column]) == token {
		return max(from+1, 1)
	}
	return column
}
