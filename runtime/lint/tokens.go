package lint

import (
	"bytes"

	"github.com/yuin/gopher-lua/parse"
)

// tokens finds the columns of names, which the syntax tree does not have: names
// are looked up in the order of the script.
type tokens struct {
	names []name      // in order
	start int         // all before it are used
	first map[int]int // line to the column of its first token
}

type name struct {
	text string
	position
	literal bool // a string or number
	taken   bool
}

func newTokens(code []byte) *tokens {
	p := &tokens{first: map[int]int{}}
	scanner, lexer := parse.NewScanner(bytes.NewReader(code), ""), &parse.Lexer{}
	for {
		token, err := scanner.Scan(lexer)
		if err != nil || token.Type == parse.EOF {
			return p
		}
		lexer.PrevTokenType = token.Type
		at := position{token.Pos.Line, max(token.Pos.Column, 1)}
		if p.first[at.line] == 0 {
			p.first[at.line] = at.column
		}
		switch token.Type {
		case parse.TIdent:
			p.names = append(p.names, name{text: token.Str, position: at})
		case parse.TString, parse.TNumber:
			p.names = append(p.names, name{text: token.Str, position: at, literal: true})
		}
	}
}

// of returns the next position of a name from a line on, or the start of the
// line.
func (p *tokens) of(line int, text string) position { return p.next(line, text, false) }

// literal returns the next position of a string or number.
func (p *tokens) literal(line int, text string) position { return p.next(line, text, true) }

func (p *tokens) next(line int, text string, literal bool) position {
	for p.start < len(p.names) && p.names[p.start].taken {
		p.start++
	}
	for i := p.start; i < len(p.names); i++ {
		n := &p.names[i]
		if n.line < line || n.taken || n.text != text || n.literal != literal {
			continue
		}
		if n.line > line+20 {
			break
		}
		n.taken = true
		return n.position
	}
	return p.line(line)
}

// line returns the first token of a line.
func (p *tokens) line(line int) position { return position{line, max(p.first[line], 1)} }
