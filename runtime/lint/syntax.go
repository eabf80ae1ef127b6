package lint

import (
	"bytes"
	"errors"
	"strings"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"

	"transect/runtime/vm"
	"transect/runtime/vm/compile"
	"transect/runtime/vm/mistake"
)

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
		if wrong.Token != "" {
			p.Message += " near '" + wrong.Token + "'"
		}
	case errors.As(err, &refused):
		p.Line, p.Message = refused.Line, refused.Message
	}
	if lines := strings.Split(string(code), "\n"); p.Hint == "" && p.Line <= len(lines) {
		p.Hint = mistake.Line(lines[p.Line-1])
	}
	return nil, p
}
