package vm

import (
	"bytes"
	"reflect"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

// compile makes a function of code; a first line with # is left out, so that
// scripts can name their interpreter.
func (in *Interp) compile(L *lua.LState, name string, code []byte) (*lua.LFunction, error) {
	return compiled(L, name, code, func(chunk []ast.Stmt) []ast.Stmt { return chunk })
}

// compiled compiles what change makes of the chunk.
func compiled(L *lua.LState, name string, code []byte, change func([]ast.Stmt) []ast.Stmt) (*lua.LFunction, error) {
	code = bytes.TrimPrefix(code, []byte("\xef\xbb\xbf"))
	if bytes.HasPrefix(code, []byte("#")) {
		code = append([]byte("--"), code...)
	}
	lines := bytes.Count(bytes.TrimRight(code, "\r\n \t"), []byte("\n")) + 1
	chunk, err := parse.Parse(bytes.NewReader(code), name)
	if err != nil {
		return nil, syntaxError(name, lines, err)
	}
	chunk = change(chunk)
	hoistLoops(reflect.ValueOf(chunk))
	proto, err := lua.Compile(chunk, name)
	if err != nil {
		return nil, syntaxError(name, lines, err)
	}
	return L.NewFunctionFromProto(proto), nil
}

// hoistLoops turns each "for … in EXPRESSIONS" below v into
//
//	do local f, s, c = EXPRESSIONS; for … in f, s, c do … end end
//
// The compiler gets the expressions of a loop's head wrong in two cases that
// a local statement gets right: a field of a call's result, as in
// require("json").lines(text), and fewer than three values, where a second
// loop starts with what the first left behind.
func hoistLoops(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			hoistLoops(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanInterface() {
				hoistLoops(f)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			hoistLoops(v.Index(i))
		}
		if stmts, ok := v.Interface().([]ast.Stmt); ok {
			for i, s := range stmts {
				if loop, ok := s.(*ast.GenericForStmt); ok {
					stmts[i] = hoisted(loop)
				}
			}
		}
	}
}

func hoisted(loop *ast.GenericForStmt) ast.Stmt {
	names := []string{"(loop function)", "(loop state)", "(loop variable)"} // no script can say these
	head := &ast.LocalAssignStmt{Names: names, Exprs: loop.Exprs}
	head.SetLine(loop.Line())
	head.SetLastLine(loop.Line())
	loop.Exprs = nil
	for _, name := range names {
		e := &ast.IdentExpr{Value: name}
		e.SetLine(loop.Line())
		e.SetLastLine(loop.Line())
		loop.Exprs = append(loop.Exprs, e)
	}
	block := &ast.DoBlockStmt{Stmts: []ast.Stmt{head, loop}}
	block.SetLine(loop.Line())
	block.SetLastLine(loop.LastLine())
	return block
}
