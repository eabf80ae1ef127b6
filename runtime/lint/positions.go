package lint

import (
	"bytes"

	"github.com/yuin/gopher-lua/parse"
)

// positions finds the columns of names, which the tree does not hold: names
// are asked for in the order they stand in the script.
type positions struct {
	names []name      // in order
	start int         // all before are taken
	first map[int]int // line to the column of its first token
}

type name struct {
	text string
	place
	literal bool // a text or number
	taken   bool
}

func newPositions(code []byte) *positions {
	p := &positions{first: map[int]int{}}
	scanner, lexer := parse.NewScanner(bytes.NewReader(code), ""), &parse.Lexer{}
	for {
		token, err := scanner.Scan(lexer)
		if err != nil || token.Type == parse.EOF {
			return p
		}
		lexer.PrevTokenType = token.Type
		at := place{token.Pos.Line, max(token.Pos.Column, 1)}
		if p.first[at.line] == 0 {
			p.first[at.line] = at.column
		}
		switch token.Type {
		case parse.TIdent:
			p.names = append(p.names, name{text: token.Str, place: at})
		case parse.TString, parse.TNumber:
			p.names = append(p.names, name{text: token.Str, place: at, literal: true})
		}
	}
}

// of gives the next place of a name from a line on, or the line's beginning.
func (p *positions) of(line int, text string) place { return p.next(line, text, false) }

// literal gives the next place of a text or number.
func (p *positions) literal(line int, text string) place { return p.next(line, text, true) }

func (p *positions) next(line int, text string, literal bool) place {
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
		return n.place
	}
	return p.line(line)
}

// line gives the first token of a line.
func (p *positions) line(line int) place { return place{line, max(p.first[line], 1)} }
