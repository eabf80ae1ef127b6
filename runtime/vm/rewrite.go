package vm

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/yuin/gopher-lua/ast"
)

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
