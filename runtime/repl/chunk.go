package repl

import (
	"errors"
	"slices"
	"strings"

	"github.com/yuin/gopher-lua/parse"
)

// kind classifies an input as typed so far.
type kind int

const (
	blank      kind = iota // nothing to run
	expression             // has values to print
	statement
	unfinished // more lines are needed
	wrong      // a syntax error, whatever follows
)

// classify parses a text. An expression is run after "return".
func classify(text string) kind {
	chunk, err := parse.Parse(strings.NewReader(text), "")
	switch {
	case err == nil && len(chunk) == 0:
		return blank
	case strings.HasPrefix(strings.TrimSpace(text), "return"):
		// a second return would be an error
	default:
		_, asValue := parse.Parse(strings.NewReader("return "+text), "")
		if asValue == nil {
			return expression
		}
		if err != nil && endsTooSoon(asValue, text) {
			return unfinished
		}
	}
	switch {
	case err == nil:
		return statement
	case endsTooSoon(err, text):
		return unfinished
	}
	return wrong
}

// returnsValues reports whether a text is run for its values: an expression, even an unfinished one, so that
// the error is about its end.
func returnsValues(text string) bool {
	switch classify(text) {
	case expression:
		return true
	case unfinished:
		_, asStatement := parse.Parse(strings.NewReader(text), "")
		return !endsTooSoon(asStatement, text)
	}
	return false
}

// endsTooSoon reports whether a syntax error is the end of the text.
func endsTooSoon(err error, text string) bool {
	var p *parse.Error
	if !errors.As(err, &p) {
		return false
	}
	if p.Message == "unterminated string" { // continues only after a backslash
		return strings.HasSuffix(strings.TrimRight(text, "\r\n"), `\`)
	}
	return p.Pos.Line == parse.EOF || strings.Contains(p.Message, "unterminated multiline string")
}

// identifiersOf lists the identifiers of a text except fields and methods, without duplicates.
func identifiersOf(text string) (list []string) {
	tokens := parse.NewScanner(strings.NewReader(text), "")
	for before := 0; ; {
		t, _ := tokens.Scan(&parse.Lexer{}) // running the text reports its errors
		switch {
		case t.Type == parse.EOF:
			return list
		case t.Type == parse.TIdent && before != '.' && before != ':' && !slices.Contains(list, t.Str):
			list = append(list, t.Str)
		}
		before = t.Type
	}
}
