package vm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"

	"transect/runtime/vm/mistake"
)

// Compile compiles code to a function. A first line that starts with # is
// skipped.
func (in *Interp) Compile(L *lua.LState, name string, code []byte) (*lua.LFunction, error) {
	return compiled(L, name, code, nil)
}

// compiled compiles a chunk after change, if not nil, has rewritten it.
func compiled(L *lua.LState, name string, code []byte, change func([]ast.Stmt)) (*lua.LFunction, error) {
	in := Of(L)
	code = plainCode(code)
	proto, err := prototype(&source{bytes.NewReader(code), Context(L)}, name, func(chunk []ast.Stmt) {
		in.warnOfNames(name, code, chunk)
		if change != nil {
			change(chunk)
		}
	})
	if Context(L).Err() != nil {
		return nil, stopped(Context(L))
	}
	if err != nil {
		return nil, syntaxError(name, code, err)
	}
	if len(in.sources) < maxSources || in.sources[name] != nil {
		in.sources[name] = code
	}
	return L.NewFunctionFromProto(proto), nil
}

// warnOfNames warns of names of other languages that read as nil without an
// error, such as True, unless the code defines them.
func (in *Interp) warnOfNames(file string, code []byte, chunk []ast.Stmt) {
	for _, name := range mistake.Silent {
		if !bytes.Contains(code, []byte(name)) || in.global(name) != lua.LNil {
			continue
		}
		line, defined := 0, false
		walk(reflect.ValueOf(chunk), 0, func(v reflect.Value) {
			if v.Kind() != reflect.Pointer {
				return
			}
			switch node := v.Interface().(type) {
			case *ast.IdentExpr:
				if node.Value == name && (line == 0 || node.Line() < line) {
					line = node.Line()
				}
			case *ast.LocalAssignStmt:
				defined = defined || slices.Contains(node.Names, name)
			case *ast.ParList:
				defined = defined || slices.Contains(node.Names, name)
			case *ast.GenericForStmt:
				defined = defined || slices.Contains(node.Names, name)
			case *ast.AssignStmt:
				for _, e := range node.Lhs {
					target, ok := e.(*ast.IdentExpr)
					defined = defined || ok && target.Value == name
				}
			}
		})
		if line > 0 && !defined {
			in.opt.Logger.Warn(fmt.Sprintf("%s:%d: %s is not defined and reads as nil (%s)", file, line, name, mistake.Global(name)))
		}
	}
}

// plainCode is code without a byte order mark, and with a first line for the
// shell as a comment.
func plainCode(code []byte) []byte {
	code = bytes.TrimPrefix(code, []byte("\xef\xbb\xbf"))
	if bytes.HasPrefix(code, []byte("#")) {
		code = append([]byte("--"), code...)
	}
	return code
}

// prototype parses, rewrites and compiles a chunk.
func prototype(code io.Reader, name string, change func([]ast.Stmt)) (*lua.FunctionProto, error) {
	chunk, err := parse.Parse(code, name)
	if err != nil {
		return nil, err
	}
	if change != nil {
		change(chunk)
	}
	if !walk(reflect.ValueOf(&chunk).Elem(), 0, rewrite) {
		return nil, errTooDeep
	}
	proto, err := lua.Compile(chunk, name)
	if err == nil && longName(proto) {
		return nil, errLongName
	}
	return proto, err
}

// maxName is the longest name of a global or a field that code may spell out: it
// is hashed whenever it is used, within one instruction.
const maxName = 16 << 10

var errLongName = fmt.Errorf("a name in the code is longer than %d bytes", maxName)

// longName reports whether a function, or one inside it, uses a name that is too
// long.
func longName(proto *lua.FunctionProto) bool {
	const constant = 0x100 // marks an operand that is a constant
	long := map[uint32]bool{}
	for i, v := range proto.Constants {
		if text, ok := v.(lua.LString); ok && len(text) > maxName {
			long[uint32(i)] = true
		}
	}
	for _, inst := range proto.Code {
		if len(long) == 0 {
			break
		}
		at := inst >> 9 & 0x1ff // operand C
		switch int(inst >> 26) {
		case lua.OP_GETGLOBAL, lua.OP_SETGLOBAL:
			if long[inst&0x3ffff] {
				return true
			}
			continue
		case lua.OP_SETTABLEKS:
			at = inst & 0x1ff
		case lua.OP_GETTABLEKS, lua.OP_SELF:
		default:
			continue
		}
		if at&constant != 0 && long[at&^constant] {
			return true
		}
	}
	return slices.ContainsFunc(proto.FunctionPrototypes, longName)
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

// walk calls visit for each value of a syntax tree, innermost first. It is false
// when the tree is too deep.
func walk(v reflect.Value, depth int, visit func(v reflect.Value)) bool {
	whole := true
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return true
		}
		whole = walk(v.Elem(), depth, visit)
	case reflect.Struct:
		if depth > maxDepth {
			return false
		}
		for i := range v.NumField() {
			if f := v.Field(i); f.CanInterface() {
				whole = walk(f, depth+1, visit) && whole
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			whole = walk(v.Index(i), depth, visit) && whole
		}
	}
	visit(v)
	return whole
}

// rewrite works around bugs of the compiler. Each
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
// An assignment to several variables gets its values from locals: the compiler
// assigns while it still reads, so that a, b = b, a lost a value.
func rewrite(v reflect.Value) {
	if v.Kind() != reflect.Slice {
		return
	}
	stmts, ok := v.Interface().([]ast.Stmt)
	for i, s := range stmts {
		switch s := s.(type) {
		case *ast.GenericForStmt:
			stmts[i] = hoisted(s)
		case *ast.AssignStmt:
			stmts[i] = evaluatedFirst(s)
		}
	}
	if ok {
		v.Set(reflect.ValueOf(padded(stmts)))
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
		nothing := at(stmts[i], &ast.LocalAssignStmt{Names: []string{"(nothing)"}, Exprs: []ast.Expr{}})
		out = slices.Insert(slices.Clone(out), i, ast.Stmt(at(stmts[i], &ast.DoBlockStmt{Stmts: []ast.Stmt{nothing}})))
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

func hoisted(loop *ast.GenericForStmt) ast.Stmt {
	names := []string{"(loop function)", "(loop state)", "(loop variable)"} // no script can say these
	head := at(loop, &ast.LocalAssignStmt{Names: names, Exprs: loop.Exprs})
	loop.Exprs = nil
	for _, name := range names {
		loop.Exprs = append(loop.Exprs, at(loop, &ast.IdentExpr{Value: name}))
	}
	return at(loop, &ast.DoBlockStmt{Stmts: []ast.Stmt{head, loop}})
}

// evaluatedFirst makes "a, t[i] = X, Y" "do local k, x, y = i, X, Y; a = x; t[k] = y end".
func evaluatedFirst(s *ast.AssignStmt) ast.Stmt {
	assigned := map[string]bool{}
	for _, e := range s.Lhs {
		if name, ok := e.(*ast.IdentExpr); ok {
			assigned[name.Value] = true
		}
	}
	if len(s.Lhs) < 2 || len(assigned) == 0 || !readsVariables(s.Rhs) {
		return s
	}
	values := at(s, &ast.LocalAssignStmt{})
	hold := func() ast.Expr {
		name := fmt.Sprintf("(value %d)", len(values.Names))
		values.Names = append(values.Names, name)
		return at(s, &ast.IdentExpr{Value: name})
	}
	for _, e := range s.Lhs {
		field, ok := e.(*ast.AttrGetExpr)
		if !ok {
			continue
		}
		if name, ok := field.Object.(*ast.IdentExpr); !ok || assigned[name.Value] {
			values.Exprs = append(values.Exprs, field.Object)
			field.Object = hold()
		}
		if readsVariables([]ast.Expr{field.Key, nil}) {
			values.Exprs = append(values.Exprs, field.Key)
			field.Key = hold()
		}
	}
	values.Exprs = append(values.Exprs, s.Rhs...)
	block := []ast.Stmt{values}
	for _, e := range s.Lhs {
		block = append(block, at(s, &ast.AssignStmt{Lhs: []ast.Expr{e}, Rhs: []ast.Expr{hold()}}))
	}
	return at(s, &ast.DoBlockStmt{Stmts: block})
}

// readsVariables reports whether the values of an assignment may depend on the
// variables it changes. Those of a single call are complete before.
func readsVariables(values []ast.Expr) bool {
	for _, e := range values {
		switch e.(type) {
		case nil, *ast.NumberExpr, *ast.StringExpr, *ast.TrueExpr, *ast.FalseExpr, *ast.NilExpr, *ast.FunctionExpr:
		case *ast.FuncCallExpr, *ast.Comma3Expr:
			if len(values) > 1 {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// at gives a node the lines of another.
func at[N ast.PositionHolder](of ast.PositionHolder, n N) N {
	n.SetLine(of.Line())
	n.SetLastLine(max(of.LastLine(), of.Line()))
	return n
}
