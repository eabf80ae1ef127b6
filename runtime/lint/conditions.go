package lint

import (
	"slices"
	"strconv"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// condition checks what decides about a branch or loop.
func (w *walk) condition(e ast.Expr, loop bool) {
	f := w.expression(e)
	if _, number := e.(*ast.NumberExpr); number && loop {
		return // while 1 do
	}
	w.decides(e, f)
}

// decides tells of a condition that is the same whatever happens.
func (w *walk) decides(e ast.Expr, f fact) {
	at := w.placeOf(e, w.at.line(e.Line()))
	switch e := e.(type) {
	case *ast.LogicalOpExpr:
		w.decides(e.Lhs, w.facts[e.Lhs])
		right := w.facts[e.Rhs]
		if _, compared := e.Lhs.(*ast.RelationalOpExpr); compared && e.Operator == "or" && right.constant != nil && right.kind != "boolean" {
			w.report(w.placeOf(e.Rhs, at), SameAlways, "this is always true: "+shown(right)+" stands alone behind or", "compare again: x == a or x == b")
			return
		}
		w.decides(e.Rhs, right)
	case *ast.UnaryNotOpExpr:
		w.decides(e.Expr, w.facts[e.Expr])
	case *ast.UnaryLenOpExpr:
		w.report(w.placeOf(e.Expr, at), SameAlways, "a length is always true, 0 too", "write #… > 0")
	case *ast.NumberExpr, *ast.StringExpr, *ast.TableExpr:
		w.report(at, SameAlways, "this is always true: in Lua only nil and false are not", "")
	case *ast.FuncCallExpr:
		switch {
		case f.nothing:
			w.empty(f, at)
		case f.list, f.each != 0, f.kind == "number", f.kind == "string":
			w.report(at, SameAlways, "what "+f.called+" gives is always true, when empty too", "compare it, or its length")
		}
	case *ast.AttrGetExpr:
		if f.operation != nil || f.function != nil || f.bound != "" {
			w.report(at, SameAlways, f.called+" is a function, and always true", "call it: "+f.called+"(…)")
		}
	}
}

// kinds are what type gives.
var kinds = []string{"nil", "number", "string", "boolean", "table", "function", "thread", "userdata", "channel"}

// compared checks both sides of a comparison.
func (w *walk) compared(e *ast.RelationalOpExpr, left, right fact) {
	at := w.placeOf(e.Rhs, w.placeOf(e.Lhs, w.at.line(e.Line())))
	for _, side := range []struct {
		expr ast.Expr
		fact
	}{{e.Lhs, left}, {e.Rhs, right}} {
		if side.nothing {
			w.empty(side.fact, w.placeOf(side.expr, at))
			return
		}
	}
	equality := e.Operator == "==" || e.Operator == "~="
	_, not := e.Lhs.(*ast.UnaryNotOpExpr)
	_, made := e.Lhs.(*ast.TableExpr)
	_, make := e.Rhs.(*ast.TableExpr)
	if name, ok := right.constant.(lua.LString); ok && equality && left.called == "type" && !slices.Contains(kinds, string(name)) {
		w.report(at, SameAlways, "type never gives "+strconv.Quote(string(name)), near(string(name), kinds, ""))
		return
	}
	switch {
	case equality && not && right.kind != "" && right.kind != "boolean":
		w.report(at, SameAlways, "not … "+e.Operator+" … compares true or false with "+w.shownKind(right), "write ~= instead, or brackets: not (a == b)")
	case equality && (made || make):
		w.report(at, SameAlways, "a new table is equal to no other", "compare the length with 0, or field by field")
	case equality && right.kind == "nil" && (left.manager != nil || left.module != nil || left.operation != nil || left.function != nil || left.list):
		w.report(at, SameAlways, left.called+" is never nil", "what goes wrong is raised; try(f, …) gives nil and the error")
	case left.kind == "" || right.kind == "" || left.kind == right.kind && (equality || left.kind == "number" || left.kind == "string"):
	case equality && (left.kind == "nil" || right.kind == "nil"):
	case equality:
		w.report(at, SameAlways, w.shownKind(left)+" is never "+w.shownKind(right), "tonumber and tostring make one of the other")
	case left.kind == right.kind && left.kind == "table" && !left.list && !right.list: // a metatable may know
	default:
		w.report(at, WrongType, w.shownKind(left)+" and "+w.shownKind(right)+" cannot be compared with "+e.Operator, "tonumber and tostring make one of the other")
	}
}

func (w *walk) shownKind(f fact) string {
	switch {
	case f.kind == "nil":
		return "nil"
	case f.constant != nil:
		return shown(f)
	case f.kind == "string":
		return "a text"
	}
	return "a " + f.kind
}

// repeated finds a branch whose condition an earlier one has.
func (w *walk) repeated(s *ast.IfStmt) {
	for next := s; len(next.Else) == 1; {
		other, ok := next.Else[0].(*ast.IfStmt)
		if !ok {
			return
		}
		if same(s.Condition, other.Condition) {
			w.report(w.at.line(other.Condition.Line()), SameAlways, "an earlier branch has the same condition", "this one is never taken")
			return
		}
		next = other
	}
}

// toItself finds a variable that gets its own value.
func (w *walk) toItself(s *ast.AssignStmt) {
	for i := range s.Lhs {
		if _, variable := s.Lhs[i].(*ast.IdentExpr); variable && i < len(s.Rhs) && same(s.Lhs[i], s.Rhs[i]) {
			w.report(w.placeOf(s.Rhs[i], w.at.line(s.Line())), SameAlways, "a variable gets its own value", "")
		}
	}
}

// same tells whether two expressions are alike, and calling nothing.
func same(a, b ast.Expr) bool {
	switch a := a.(type) {
	case *ast.IdentExpr:
		b, ok := b.(*ast.IdentExpr)
		return ok && a.Value == b.Value
	case *ast.StringExpr:
		b, ok := b.(*ast.StringExpr)
		return ok && a.Value == b.Value
	case *ast.NumberExpr:
		b, ok := b.(*ast.NumberExpr)
		return ok && a.Value == b.Value
	case *ast.NilExpr:
		_, ok := b.(*ast.NilExpr)
		return ok
	case *ast.AttrGetExpr:
		b, ok := b.(*ast.AttrGetExpr)
		return ok && same(a.Object, b.Object) && same(a.Key, b.Key)
	case *ast.RelationalOpExpr:
		b, ok := b.(*ast.RelationalOpExpr)
		return ok && a.Operator == b.Operator && same(a.Lhs, b.Lhs) && same(a.Rhs, b.Rhs)
	case *ast.UnaryNotOpExpr:
		b, ok := b.(*ast.UnaryNotOpExpr)
		return ok && same(a.Expr, b.Expr)
	}
	return false
}
