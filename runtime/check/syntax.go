package check

import (
	"bytes"
	"errors"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

// parsed gives the tree of a script, or what is wrong with it.
func parsed(file string, code []byte) ([]ast.Stmt, *Problem) {
	chunk, err := parse.Parse(bytes.NewReader(code), file)
	if err == nil {
		// The compiler refuses a few things the grammar takes.
		_, err = lua.Compile(chunk, file)
	}
	if err == nil {
		// It also changes the tree; take a fresh one.
		chunk, err = parse.Parse(bytes.NewReader(code), file)
	}
	if err == nil {
		return chunk, nil
	}
	p := &Problem{File: file, Rule: Syntax, Line: 1, Column: 1, Message: err.Error()}
	var wrong *parse.Error
	var refused *lua.CompileError
	switch {
	case errors.As(err, &wrong) && wrong.Pos.Line == parse.EOF:
		p.Line = bytes.Count(bytes.TrimRight(code, "\r\n \t"), []byte("\n")) + 1
		p.Message, p.Hint = "the script ends in the middle of a statement", "is there an end or a bracket missing?"
	case errors.As(err, &wrong):
		p.Line, p.Column, p.Message = wrong.Pos.Line, max(wrong.Pos.Column, 1), wrong.Message
		if wrong.Token != "" {
			p.Message += " near '" + wrong.Token + "'"
		}
	case errors.As(err, &refused):
		p.Line, p.Message = refused.Line, refused.Message
	}
	return nil, p
}
