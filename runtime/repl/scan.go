package repl

import (
	"strconv"
	"strings"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

// cursor describes the code at the cursor for completion.
type cursor struct {
	comment bool
	quoted  bool   // in a string
	text    string // content of that string so far
	path    []any  // names and numbers before the word: projects, search
	sep     string // before the word: ".", ":" or ""
	word    string // the name being typed
	call    []any  // the function whose arguments are typed
	table   bool   // in a table of named arguments
	key     string // the argument whose value is being typed
	given   map[string]bool
	of      []any    // the function in one of whose arguments a table is typed
	within  []string // from that argument to the table: filter, name
	index   bool     // in the brackets of a key
}

// frame is an open bracket.
type frame struct {
	open  int   // its token
	call  []any // the called function
	outer []any // the indexed expression
	only  any   // the only literal in it, for an index
	count int   // number of tokens
	key   string
	given map[string]bool
}

// scanner goes through the tokens before the cursor.
type scanner struct {
	frames []*frame
	path   []any  // of the last expression; nil when unknown
	sep    string // the dot or colon after it
	value  bool   // an expression just ended
}

// mark is a name at the end of the scanned text: the token that ends with it is
// the one at the cursor. In a comment there is none.
const mark = "_cursor_"

// scan describes the end of a text.
func scan(src string) cursor {
	s := &scanner{frames: []*frame{{}}}
	tokens := parse.NewScanner(strings.NewReader(src+mark), "")
	for {
		t, err := tokens.Scan(&parse.Lexer{})
		before, found := strings.CutSuffix(t.Str, mark)
		switch {
		case t.Type == parse.EOF, t.Type == 0 && tokens.Pos.Line == parse.EOF: // the error of a comment without an end
			return cursor{comment: true}
		case found && t.Type == parse.TString && err != nil:
			return s.inString(before)
		case found && t.Type == parse.TIdent:
			at := s.cursor()
			at.word = before
			return at
		}
		s.token(t)
	}
}

func (s *scanner) top() *frame { return s.frames[len(s.frames)-1] }

func (s *scanner) cursor() cursor {
	f := s.top()
	at := cursor{call: f.call, table: f.open == '{', key: f.key, given: f.given, index: f.open == '['}
	for i := len(s.frames) - 1; i >= 0; i-- {
		outer := s.frames[i]
		if outer.open == '{' && outer.call != nil {
			at.of = outer.call
			for _, inner := range s.frames[i : len(s.frames)-1] {
				if inner.open == '{' {
					at.within = append(at.within, inner.key)
				}
			}
			break
		}
	}
	if s.sep != "" {
		at.path, at.sep = s.path, s.sep
	}
	return at
}

func (s *scanner) inString(content string) cursor {
	at := s.cursor()
	at.quoted, at.text, at.path, at.sep = true, content, nil, ""
	if s.value && len(s.path) > 0 { // f"text"
		at.call, at.key, at.table = s.path, "", false
	}
	return at
}

func (s *scanner) token(t ast.Token) {
	f := s.top()
	f.count++
	path, value := s.path, s.value
	s.path, s.value = nil, false
	switch {
	case t.Type == parse.TString:
		f.only, s.value = t.Str, true
	case t.Type == parse.TNumber:
		f.only, s.value = nil, true
		if n, err := strconv.Atoi(t.Str); err == nil {
			f.only = n
		}
	case t.Type == parse.TIdent, keywords[t.Str]:
		switch {
		case s.sep != "" && path != nil:
			s.path, s.value = append(path[:len(path):len(path)], t.Str), true
		case s.sep != "":
			s.value = true
		case t.Type == parse.TIdent:
			s.path, s.value = []any{t.Str}, true
		default:
			s.value = t.Type == parse.TEnd || t.Type == parse.TNil || t.Type == parse.TTrue || t.Type == parse.TFalse
		}
	case t.Type == '.' || t.Type == ':':
		s.path, s.sep = path, string(rune(t.Type))
		return
	case t.Type == '(' || t.Type == '{' || t.Type == '[':
		inner := &frame{open: t.Type, given: map[string]bool{}}
		switch {
		case t.Type == '[':
			inner.outer = path
		case value:
			inner.call = path
		case t.Type == '{' && f.open == '(':
			inner.call = f.call // f(x, { … })
		}
		s.frames = append(s.frames, inner)
	case t.Type == ')' || t.Type == '}' || t.Type == ']':
		s.frames = s.frames[:max(1, len(s.frames)-1)]
		s.value = true
		if t.Type == ']' && f.outer != nil && f.only != nil && f.count == 2 { // the literal and the bracket
			s.path = append(f.outer[:len(f.outer):len(f.outer)], f.only)
		}
	case t.Type == ',' || t.Type == ';':
		f.key = ""
	case t.Type == '=':
		if name, ok := single(path); ok && f.open == '{' && f.key == "" {
			f.key = name
			f.given[name] = true
		}
	}
	s.sep = ""
}

func single(path []any) (string, bool) {
	if len(path) != 1 {
		return "", false
	}
	name, ok := path[0].(string)
	return name, ok
}

var keywords = map[string]bool{"and": true, "break": true, "do": true, "else": true, "elseif": true, "end": true,
	"false": true,
	"for":   true, "function": true, "if": true, "in": true, "local": true, "nil": true, "not": true, "or": true,
	"repeat": true,
	"return": true, "then": true, "true": true, "until": true, "while": true}
