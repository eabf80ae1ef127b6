package lint

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"transect/runtime/vm/mistake"
)

// iterated checks the iterator of a for loop.
func (w *walk) iterated(s *ast.GenericForStmt, facts []fact, positions []position) {
	if len(facts) == 0 {
		return
	}
	f, e := facts[0], s.Exprs[0]
	at := w.at(e)
	_, literal := e.(*ast.TableExpr)
	switch {
	case f.noValue:
		w.empty(f, at)
	case f.list, literal, f.made && w.plain:
		w.report(at, NoIterator, "a table is not an iterator", mistake.Iterator)
	case f.isDocumented():
		w.report(at, NoIterator, f.name+" is not called", "write "+f.name+"(…)")
	case f.isModule(), f.resource,
		f.kind == "number", f.kind == "string", f.kind == "boolean", f.kind == "nil":
		w.report(at, NoIterator, "this is not an iterator", "use pairs(…), ipairs(…), or a function that returns an iterator")
	case f.each == 1 && len(s.Names) > 1 && !strings.HasPrefix(s.Names[1], "_"):
		w.report(positions[1], NoValue, f.name+" returns one value per step; "+s.Names[1]+" is always nil",
			"write for "+s.Names[1]+" in … do")
	}
}

// counted checks the limits of a numeric for loop.
func (w *walk) counted(s *ast.NumberForStmt, from, to fact) {
	for _, limit := range []struct {
		expr ast.Expr
		fact
	}{{s.Init, from}, {s.Limit, to}} {
		if what := w.notOperand(limit.expr, limit.fact); what != "" {
			w.report(w.positionOf(limit.expr, w.tokens.line(s.Line())), WrongType, what+" cannot be the limit of a loop",
				"write #… for a length")
			return
		}
	}
	first, ok := from.constant.(lua.LNumber)
	last, ends := to.constant.(lua.LNumber)
	if ok && ends && first > last && s.Step == nil {
		w.report(w.positionOf(s.Limit, w.tokens.line(s.Line())), SameAlways,
			"the loop never runs from "+first.String()+" to "+last.String(), "to count down, add the step -1")
	}
}

// dropped checks a call whose result is not used.
func (w *walk) dropped(e ast.Expr, result fact) {
	call, ok := e.(*ast.FuncCallExpr)
	if !ok {
		return
	}
	if result.each != 0 {
		w.report(w.positions[call], UnusedValue, "the iterator of "+result.name+" is not used",
			"write for … in "+result.name+"(…) do")
		return
	}
	name := w.facts[call.Func].standard
	if name == "" {
		name = w.facts[call.Func].builtin
	}
	if call.Method != "" {
		if receiver := w.facts[call.Receiver]; receiver.kind == "string" || call.Method == "gsub" && receiver.unknown() {
			name = "string." + call.Method
		}
	}
	if f := w.facts[call.Func]; f.function != nil && strings.HasPrefix(f.name, "path.") {
		name = f.name
	}
	pure := strings.HasPrefix(name, "string.") || strings.HasPrefix(name, "path.") ||
		strings.HasPrefix(name, "math.") && !strings.HasPrefix(name, "math.random") ||
		name == "table.concat" || name == "tostring" || name == "tonumber" || name == "type" || name == "pairs" ||
		name == "ipairs"
	if name == "string.gsub" && len(call.Args) > 0 {
		with := w.facts[call.Args[len(call.Args)-1]]
		pure = with.kind == "string" // a function may have side effects
	}
	if pure {
		w.report(w.positions[call], UnusedValue, "the result of "+name+" is not used",
			"it has no other effect: write local x = …")
	}
}
