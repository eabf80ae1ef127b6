package vm

import (
	"bytes"
	"context"
	"errors"
	"io"
	"reflect"
	"slices"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

// Compile compiles code to a function. A first line that starts with # is
// skipped.
func (in *Interp) Compile(L *lua.LState, name string, code []byte) (*lua.LFunction, error) {
	return compiled(L, name, code, func(chunk []ast.Stmt) []ast.Stmt { return chunk })
}

// compiled compiles a chunk after change has rewritten it.
func compiled(L *lua.LState, name string, code []byte, change func([]ast.Stmt) []ast.Stmt) (*lua.LFunction, error) {
	code = bytes.TrimPrefix(code, []byte("\xef\xbb\xbf"))
	if bytes.HasPrefix(code, []byte("#")) {
		code = append([]byte("--"), code...)
	}
	lines := bytes.Count(bytes.TrimRight(code, "\r\n \t"), []byte("\n")) + 1
	chunk, err := parse.Parse(&source{bytes.NewReader(code), Context(L)}, name)
	if Context(L).Err() != nil {
		return nil, stopped(Context(L))
	}
	if err != nil {
		return nil, syntaxError(name, lines, err)
	}
	chunk = change(chunk)
	w := &rewriter{pairs: Of(L).opt.Limits.Memory > 0}
	w.walk(reflect.ValueOf(&chunk).Elem(), 0)
	if w.tooDeep {
		return nil, syntaxError(name, 0, errTooDeep)
	}
	proto, err := lua.Compile(chunk, name)
	if err != nil {
		return nil, syntaxError(name, lines, err)
	}
	if in := Of(L); len(in.sources) < maxSources || in.sources[name] != nil {
		in.sources[name] = code
	}
	return L.NewFunctionFromProto(proto), nil
}

// source is the code for the parser. It ends early when the run is cancelled:
// parsing is one Go call, which the clock cannot interrupt.
type source struct {
	code *bytes.Reader
	ctx  context.Context
}

func (s *source) Read(p []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, io.EOF
	}
	return s.code.Read(p)
}

// maxDepth is how deep code may be nested, in nodes of its syntax tree: the
// compiler is recursive, and a Go stack that overflows ends the process.
const maxDepth = 20_000

var errTooDeep = errors.New("the code is nested too deeply")

// rewriter works around bugs of the compiler. Each
// "for … in EXPRESSIONS" becomes
//
//	do local f, s, c = EXPRESSIONS; for … in f, s, c do … end end
//
// The compiler mishandles the expressions of a loop head in two cases that a
// local statement handles: a field of a call's result, as in
// require("json").lines(text), and fewer than three values, where a second
// loop starts with what the first left behind.
//
// A jump at the start of a block, or behind a label, gets a statement before it
// that does nothing: the compiler sends jumps back to a jump anywhere, as that of
// a loop whose body begins with break.
//
// With pairs, a .. b .. c becomes a .. (false or b .. c). The compiler makes
// one instruction of a chain, which could join hundreds of the longest texts
// there may be before the memory limit is checked.
type rewriter struct {
	pairs   bool
	tooDeep bool
}

func (w *rewriter) walk(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			w.walk(v.Elem(), depth)
		}
	case reflect.Struct:
		if depth > maxDepth {
			w.tooDeep = true
			return
		}
		for i := range v.NumField() {
			if f := v.Field(i); f.CanInterface() {
				w.walk(f, depth+1)
			}
		}
		if w.pairs && v.CanAddr() {
			if joined, ok := v.Addr().Interface().(*ast.StringConcatOpExpr); ok {
				splitChain(joined)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			w.walk(v.Index(i), depth)
		}
		if stmts, ok := v.Interface().([]ast.Stmt); ok {
			for i, s := range stmts {
				if loop, ok := s.(*ast.GenericForStmt); ok {
					stmts[i] = hoisted(loop)
				}
			}
			v.Set(reflect.ValueOf(padded(stmts)))
		}
	}
}

// padded puts an empty statement before those that may begin with a jump, where a
// jump may lead: at the start of a block, and behind a label.
func padded(stmts []ast.Stmt) []ast.Stmt {
	out := stmts
	for i := len(stmts) - 1; i >= 0; i-- {
		label := false
		if i > 0 {
			_, label = stmts[i-1].(*ast.LabelStmt)
		}
		if i > 0 && !label || !beginsWithJump(stmts[i]) {
			continue
		}
		nothing := &ast.LocalAssignStmt{Names: []string{"(nothing)"}, Exprs: []ast.Expr{}}
		block := &ast.DoBlockStmt{Stmts: []ast.Stmt{nothing}}
		for _, made := range []ast.Stmt{nothing, block} {
			made.SetLine(stmts[i].Line())
			made.SetLastLine(stmts[i].Line())
		}
		out = slices.Insert(slices.Clone(out), i, ast.Stmt(block))
	}
	return out
}

func beginsWithJump(s ast.Stmt) bool {
	var first []ast.Expr
	switch s := s.(type) {
	case *ast.BreakStmt, *ast.GotoStmt, *ast.IfStmt, *ast.WhileStmt:
		return true
	case *ast.LocalAssignStmt:
		first = s.Exprs
	case *ast.AssignStmt:
		first = s.Rhs
	}
	if len(first) == 0 {
		return false
	}
	_, logical := first[0].(*ast.LogicalOpExpr)
	return logical
}

func splitChain(e *ast.StringConcatOpExpr) {
	if _, chain := e.Rhs.(*ast.StringConcatOpExpr); !chain {
		return
	}
	no, or := &ast.FalseExpr{}, &ast.LogicalOpExpr{Operator: "or", Rhs: e.Rhs}
	or.Lhs = no
	for _, made := range []ast.Expr{no, or} {
		made.SetLine(e.Line())
		made.SetLastLine(e.LastLine())
	}
	e.Rhs = or
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
