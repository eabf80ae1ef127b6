package lint

import (
	"bytes"
	"cmp"

	"github.com/yuin/gopher-lua/parse"

	"transect/client"
	"transect/client/declare"
)

// tokens assigns columns to names, which the syntax tree lacks. The walk visits all names and constants in
// the order of the source, and each takes the next one.
type tokens struct {
	names   []Name           // with strings and numbers, in order
	next    int              // all before it are taken
	index   map[position]int // into names
	visited func(i int)      // for tests
	first   map[int]int      // line to the column of its first token
}

// Name is an identifier, a string or a number in a script, with its meaning.
type Name struct {
	Text         string
	Line, Column int
	Literal      bool   // a string or number
	Declared     int    // where its variable is declared, an index; otherwise -1
	Global       bool   // a global variable
	Reference    string // its name in the reference: projects.search, Dataset.name; for an argument, the callee's
	Parameter    string // the name of an argument
	Module       string // of the workspace: the module that it is, or is a field of
	Member       bool   // it is a field of Module
	Table        int    // for a field: where the variable it is read from is declared, an index; otherwise -1
	Assigned     bool   // a value is assigned to it
	About        string // for a variable: what is known about its value
}

func newTokens(code []byte) *tokens {
	p := &tokens{first: map[int]int{}, index: map[position]int{}}
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
		case parse.TIdent, parse.TString, parse.TNumber:
			p.index[at] = len(p.names)
			p.names = append(p.names, Name{Text: token.Str, Line: at.line, Column: at.column, Declared: -1, Table: -1,
				Literal: token.Type != parse.TIdent})
		}
	}
}

// of returns the next position of a name from a line on, or the start of the line.
func (p *tokens) of(line int, text string) position {
	return p.take(line, text, func(n *Name) bool { return !n.Literal })
}

// key returns the position of a key: a name, or a string in brackets.
func (p *tokens) key(line int, text string) position {
	return p.take(line, text, func(*Name) bool { return true })
}

// literal returns the next position of a string or number.
func (p *tokens) literal(line int, text string) position {
	return p.take(line, text, func(n *Name) bool { return n.Literal })
}

func (p *tokens) take(line int, text string, is func(*Name) bool) position {
	for i := p.next; i < len(p.names) && p.names[i].Line <= line+20; i++ {
		if n := &p.names[i]; n.Line >= line && n.Text == text && is(n) {
			if p.visited != nil {
				p.visited(i)
			}
			p.next = i + 1
			return position{n.Line, n.Column}
		}
	}
	return p.line(line)
}

// at returns the name at a position, or a dummy.
func (p *tokens) at(at position) *Name {
	if i, ok := p.index[at]; ok {
		return &p.names[i]
	}
	return &Name{}
}

// declare records the declaration of a variable.
func (p *tokens) declare(at position, known fact) {
	if i, ok := p.index[at]; ok {
		p.names[i].Declared = i
		p.names[i].means(known)
	}
}

// declaredAt returns the index of the name at a position, or -1.
func (p *tokens) declaredAt(at position) int {
	if i, ok := p.index[at]; ok {
		return i
	}
	return -1
}

// means records the fact about the value of a name.
func (n *Name) means(f fact) {
	n.Reference, n.Module = f.reference(), cmp.Or(f.local, n.Module)
	n.About = f.kind
	switch record := declare.Singular(f.records); {
	case f.resource:
		n.About = record
	case f.list && record != "":
		n.About = "list of " + record
	case f.each != 0 && record != "":
		n.About = "iterator of " + record
	case f.object != nil:
		n.About = f.object.Name
	}
}

// reference returns the name of a value in the reference, or "".
func (f fact) reference() string {
	switch {
	case f.sdk:
		return "sdk"
	case f.module != nil:
		return f.module.Name
	case f.manager != nil:
		return f.manager.Name
	case f.operation != nil:
		return f.operation.FullName()
	case f.function != nil && f.kind == "function":
		return f.full
	case f.resource || f.list || f.each != 0:
		if t := client.RecordTypeOf(f.records); t != nil {
			return t.Name
		}
	}
	return ""
}

// line returns the first token of a line.
func (p *tokens) line(line int) position { return position{line, max(p.first[line], 1)} }
