// Package complete finds completions at a position in a script: it parses the code before the cursor, and
// uses the declared arguments of operations and functions, their choices, and the fields that searches
// accept. The prompt resolves names by live values, the language server by declarations.
package complete

import (
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"

	"transect/runtime/engine/compile"
)

// Cursor describes the code at the cursor.
type Cursor struct {
	Comment  bool
	Quoted   bool   // in a string
	Text     string // content of that string so far
	Path     []any  // names and numbers before the word: projects, search
	Sep      string // before the word: ".", ":" or ""
	Word     string // the name being typed
	Call     []any  // the function whose arguments are typed
	Argument int    // the number of arguments before
	Table    bool   // in a table of named arguments
	Key      string // the argument whose value is being typed
	Given    map[string]bool
	Of       []any    // the function in one of whose arguments a table is typed
	Within   []string // from that argument to the table: filter, name
	Index    bool     // in the brackets of a key
}

// frame is an open bracket.
type frame struct {
	open  int   // its token
	call  []any // the called function
	outer []any // the indexed expression
	only  any   // the only literal in it, for an index
	count int   // number of tokens
	args  int   // number of commas
	key   string
	given map[string]bool
}

// scanner scans the tokens before the cursor.
type scanner struct {
	frames []*frame
	path   []any  // of the last expression; nil when unknown
	sep    string // the dot or colon after it
	value  bool   // an expression just ended
}

// mark is appended to the scanned text: the token that ends with it is the one at the cursor. In a comment
// there is none.
const mark = "_cursor_"

// Scan describes the cursor at the end of a text.
func Scan(src string) Cursor {
	s := &scanner{frames: []*frame{{}}}
	tokens := parse.NewScanner(strings.NewReader(src+mark), "")
	for {
		t, err := tokens.Scan(&parse.Lexer{})
		before, found := strings.CutSuffix(t.Str, mark)
		switch {
		case t.Type == parse.EOF, t.Type == 0 && tokens.Pos.Line == parse.EOF: // the error of an unterminated comment
			return Cursor{Comment: true}
		case found && t.Type == parse.TString && err != nil:
			return s.inString(before)
		case found && t.Type == parse.TIdent:
			at := s.cursor()
			at.Word = before
			return at
		}
		s.token(t)
	}
}

func (s *scanner) top() *frame { return s.frames[len(s.frames)-1] }

func (s *scanner) cursor() Cursor {
	f := s.top()
	at := Cursor{Call: f.call, Argument: f.args, Table: f.open == '{', Key: f.key, Given: f.given, Index: f.open == '['}
	for i := len(s.frames) - 1; i >= 0; i-- {
		outer := s.frames[i]
		if outer.open == '{' && outer.call != nil {
			at.Of = outer.call
			for _, inner := range s.frames[i : len(s.frames)-1] {
				if inner.open == '{' {
					at.Within = append(at.Within, inner.key)
				}
			}
			break
		}
	}
	if s.sep != "" {
		at.Path, at.Sep = s.path, s.sep
	}
	return at
}

func (s *scanner) inString(content string) Cursor {
	at := s.cursor()
	at.Quoted, at.Text, at.Path, at.Sep = true, content, nil, ""
	if s.value && len(s.path) > 0 { // f"text"
		at.Call, at.Key, at.Table = s.path, "", false
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
	case t.Type == parse.TIdent, slices.Contains(compile.Keywords, t.Str):
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
		f.args++
	case t.Type == '=':
		if name, ok := Single(path); ok && f.open == '{' && f.key == "" {
			f.key = name
			f.given[name] = true
		}
	}
	s.sep = ""
}

// Single returns the name of a path with one element.
func Single(path []any) (string, bool) {
	if len(path) != 1 {
		return "", false
	}
	name, ok := path[0].(string)
	return name, ok
}
