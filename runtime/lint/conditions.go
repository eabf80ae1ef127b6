package lint

import (
	"slices"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

// condition checks the condition of a branch or loop.
func (w *walk) condition(e ast.Expr, loop bool) {
	f := w.tested(e)
	if _, number := e.(*ast.NumberExpr); number && loop {
		return // while 1 do
	}
	w.decides(e, f)
}

// otherLuas lists globals of other versions of Lua, which scripts test for.
var otherLuas = []string{"_ENV", "bit", "bit32", "ffi", "jit", "ngx", "rawlen", "utf8", "warn"}

// tested checks an expression that tests for the existence of something: a function of a library, or a global
// of another Lua.
func (w *walk) tested(e ast.Expr) fact {
	before := len(w.problems)
	f := w.expression(e)
	field, _ := e.(*ast.AttrGetExpr)
	if field != nil && w.facts[field.Object].library != "" {
		w.problems = w.problems[:before]
		f = fact{}
	}
	if name, ok := e.(*ast.IdentExpr); ok && w.find(name.Value) == nil && slices.Contains(otherLuas, name.Value) {
		w.testedFor = append(w.testedFor, name.Value)
	}
	return f
}

// decides reports constant conditions.
func (w *walk) decides(e ast.Expr, f fact) {
	at := w.at(e)
	switch e := e.(type) {
	case *ast.LogicalOpExpr:
		w.decides(e.Lhs, w.facts[e.Lhs])
		right := w.facts[e.Rhs]
		if _, compared := e.Lhs.(*ast.RelationalOpExpr); compared && e.Operator == "or" && right.constant != nil &&
			right.kind != "boolean" {
			w.report(w.positionOf(e.Rhs, at), SameAlways, "the condition is always true: after or there is only "+shown(right),
				"repeat the comparison: x == a or x == b")
			return
		}
		w.decides(e.Rhs, right)
	case *ast.UnaryNotOpExpr:
		w.decides(e.Expr, w.facts[e.Expr])
	case *ast.UnaryLenOpExpr:
		w.report(w.positionOf(e.Expr, at), SameAlways, "a length is always true, even 0", "write #… > 0")
	case *ast.NumberExpr, *ast.StringExpr, *ast.TableExpr:
		w.report(at, SameAlways, "the condition is always true: only nil and false are false", "")
	case *ast.FuncCallExpr:
		switch {
		case f.noValue:
			w.empty(f, at)
		case f.list, f.each != 0, f.kind == "number", f.kind == "string":
			w.report(at, SameAlways, "the result of "+f.name+" is always true, even when it is empty",
				"compare it, or its length")
		}
	case *ast.AttrGetExpr:
		if f.isDocumented() || f.bound != "" {
			w.report(at, SameAlways, f.name+" is a function, which is always true", "call it: "+f.name+"(…)")
		}
	}
}

// typeOf is the name of type's result.
const typeOf = "type(…)"

// kinds lists the results of type.
var kinds = []string{"nil", "number", "string", "boolean", "table", "function", "thread", "userdata", "channel"}

// compared checks both sides of a comparison.
func (w *walk) compared(e *ast.RelationalOpExpr, left, right fact) {
	at := w.positionOf(e.Rhs, w.positionOf(e.Lhs, w.tokens.line(e.Line())))
	for _, side := range []struct {
		expr ast.Expr
		fact
	}{{e.Lhs, left}, {e.Rhs, right}} {
		if side.noValue {
			w.empty(side.fact, w.positionOf(side.expr, at))
			return
		}
	}
	equality := e.Operator == "==" || e.Operator == "~="
	_, not := e.Lhs.(*ast.UnaryNotOpExpr)
	_, isTable := e.Lhs.(*ast.TableExpr)
	_, make := e.Rhs.(*ast.TableExpr)
	if name, ok := right.constant.(lua.LString); ok && equality && left.name == typeOf &&
		!slices.Contains(kinds, string(name)) {
		w.report(at, SameAlways, "type never returns "+strconv.Quote(string(name)), near(string(name), kinds, ""))
		return
	}
	if right.constant == lua.LString("complete") && equality && isField(e.Lhs, "ingestion", "status") {
		w.report(at, SameAlways, "an ingestion status is never \"complete\"",
			"the platform uses \"completed\"; filters accept both")
		return
	}
	switch {
	case equality && not && right.kind != "" && right.kind != "boolean":
		w.report(at, SameAlways, "not … "+e.Operator+" … compares a boolean with "+shown(right), "write ~= or not (a == b)")
	case equality && (isTable || make):
		w.report(at, SameAlways, "a new table never equals another", "compare the length with 0, or field by field")
	case equality && right.kind == "nil" && (left.manager != nil || left.module != nil || left.isDocumented() ||
		left.list):
		w.report(at, SameAlways, left.name+" is never nil", "errors are raised; try(f, …) returns nil and the error")
	case left.kind == "" || right.kind == "" || left.kind == right.kind &&
		(equality || left.kind == "number" || left.kind == "string"):
	case equality && (left.kind == "nil" || right.kind == "nil"):
	case equality:
		w.report(at, SameAlways, shown(left)+" is never "+shown(right), "convert with tonumber or tostring")
	case left.kind == right.kind && left.kind == "table" && !left.list && !right.list: // a metatable may define it
	default:
		w.report(at, WrongType, shown(left)+" and "+shown(right)+" cannot be compared with "+e.Operator,
			"convert with tonumber or tostring")
	}
}

// bothFilters reports filters joined by a Lua operator, which keeps only one.
func (w *walk) bothFilters(e *ast.LogicalOpExpr) {
	for _, side := range []ast.Expr{e.Lhs, e.Rhs} {
		call, ok := side.(*ast.FuncCallExpr)
		if !ok || !strings.HasPrefix(w.facts[call.Func].full, "query.") {
			return
		}
	}
	kept, meant := "second", "all"
	if e.Operator == "or" {
		kept, meant = "first", "any"
	}
	w.report(w.at(e.Rhs), SameAlways, "of two filters joined by "+e.Operator+" only the "+kept+" one counts",
		"query."+meant+"(…, …) joins them")
}

// isField reports whether an expression reads a path of fields.
func isField(e ast.Expr, names ...string) bool {
	for _, name := range slices.Backward(names) {
		get, ok := e.(*ast.AttrGetExpr)
		if !ok {
			return false
		}
		key, ok := get.Key.(*ast.StringExpr)
		if !ok || key.Value != name {
			return false
		}
		e = get.Object
	}
	return true
}

// repeated reports a branch with the same condition as an earlier one.
func (w *walk) repeated(s *ast.IfStmt) {
	for next := s; len(next.Else) == 1; {
		other, ok := next.Else[0].(*ast.IfStmt)
		if !ok {
			return
		}
		if same(s.Condition, other.Condition) {
			w.report(w.tokens.line(other.Condition.Line()), SameAlways, "an earlier branch has the same condition",
				"this branch never runs")
			return
		}
		next = other
	}
}

// toItself reports a variable assigned to itself.
func (w *walk) toItself(s *ast.AssignStmt) {
	for i := range s.Lhs {
		if _, variable := s.Lhs[i].(*ast.IdentExpr); variable && i < len(s.Rhs) && same(s.Lhs[i], s.Rhs[i]) {
			w.report(w.positionOf(s.Rhs[i], w.tokens.line(s.Line())), SameAlways, "the variable is assigned to itself", "")
		}
	}
}

// same reports whether two expressions are equal and create nothing.
func same(a, b ast.Expr) bool {
	text := dump(a)
	return text == dump(b) && !strings.Contains(text, "Node$FuncCallExpr") && !strings.Contains(text, "Node$TableExpr") &&
		!strings.Contains(text, "Node$FunctionExpr")
}

func dump(e ast.Expr) string { return parse.Dump([]ast.Stmt{&ast.ReturnStmt{Exprs: []ast.Expr{e}}}) }
