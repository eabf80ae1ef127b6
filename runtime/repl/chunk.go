package repl

import (
	"errors"
	"regexp"
	"strings"
	"sync"

	"github.com/yuin/gopher-lua/parse"
)

// kind is what a text is, as far as it was typed.
type kind int

const (
	blank      kind = iota // nothing to run
	expression             // has values to show
	statement
	unfinished // more lines are needed
	wrong      // no Lua, whatever follows
)

// classify tells what a text is. One that is an expression is run behind
// "return".
func classify(text string) kind {
	chunk, err := parse.Parse(strings.NewReader(text), "")
	switch {
	case err == nil && len(chunk) == 0:
		return blank
	case strings.HasPrefix(strings.TrimSpace(text), "return"):
		// behind another return it could only be wrong
	default:
		_, asValue := parse.Parse(strings.NewReader("return "+text), "")
		if asValue == nil {
			return expression
		}
		if err != nil && goesOn(asValue, text) {
			return unfinished
		}
	}
	switch {
	case err == nil:
		return statement
	case goesOn(err, text):
		return unfinished
	}
	return wrong
}

// shows tells whether a text is run for its values: an expression, also one
// that is not finished, so that the error is about its end.
func shows(text string) bool {
	switch classify(text) {
	case expression:
		return true
	case unfinished:
		_, asStatement := parse.Parse(strings.NewReader(text), "")
		return !goesOn(asStatement, text)
	}
	return false
}

// goesOn tells whether an error is that the text ended too soon.
func goesOn(err error, text string) bool {
	var p *parse.Error
	if !errors.As(err, &p) {
		return false
	}
	if p.Message == "unterminated string" { // goes on in the next line only behind a backslash
		return strings.HasSuffix(strings.TrimRight(text, "\r\n"), `\`)
	}
	return p.Pos.Line == parse.EOF || strings.Contains(p.Message, "unterminated multiline string")
}

var word = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`) })

// names lists the words of a text, each once.
func names(text string) []string {
	var list []string
	seen := map[string]bool{}
	for _, w := range word().FindAllString(text, -1) {
		if !seen[w] {
			seen[w] = true
			list = append(list, w)
		}
	}
	return list
}
