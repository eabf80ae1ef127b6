package lint

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// iterated checks what a loop goes through.
func (w *walk) iterated(s *ast.GenericForStmt, facts []fact, places []place) {
	if len(facts) == 0 {
		return
	}
	f, e := facts[0], s.Exprs[0]
	at := w.placeOf(e, w.at.line(e.Line()))
	_, literal := e.(*ast.TableExpr)
	switch {
	case f.nothing:
		w.empty(f, at)
	case f.list, literal:
		w.report(at, NoIterator, "a list is gone through with ipairs", "write for _, … in ipairs(…) do")
	case f.operation != nil, f.function != nil:
		w.report(at, NoIterator, f.called+" is not called", "write "+f.called+"(…)")
	case f.manager != nil, f.module != nil, f.sdk, f.library != "", f.resource,
		f.kind == "number", f.kind == "string", f.kind == "boolean", f.kind == "nil":
		w.report(at, NoIterator, "a loop cannot go through this", "it wants an iterator: pairs(…), ipairs(…), or a function that makes one")
	case f.each == 1 && len(s.Names) > 1 && !strings.HasPrefix(s.Names[1], "_"):
		w.report(places[1], NoValue, f.called+" gives one value at a time; "+s.Names[1]+" is always nil", "write for "+s.Names[1]+" in … do")
	}
}

// counted checks the limits of a counting loop.
func (w *walk) counted(s *ast.NumberForStmt, from, to fact) {
	for _, limit := range []struct {
		expr ast.Expr
		fact
	}{{s.Init, from}, {s.Limit, to}} {
		if what := w.known(limit.expr, limit.fact); what != "" {
			w.report(w.placeOf(limit.expr, w.at.line(s.Line())), WrongType, "a loop cannot count with "+what, "write #… for a length")
			return
		}
	}
	first, known := from.constant.(lua.LNumber)
	last, ends := to.constant.(lua.LNumber)
	if known && ends && first > last && s.Step == nil {
		w.report(w.placeOf(s.Limit, w.at.line(s.Line())), SameAlways, "the loop never runs: it counts up from "+first.String()+" to "+last.String(), "to count down, add a step: , -1")
	}
}

// dropped checks a call whose result nobody takes.
func (w *walk) dropped(e ast.Expr, result fact) {
	call, ok := e.(*ast.FuncCallExpr)
	if !ok {
		return
	}
	if result.each != 0 {
		w.report(w.where[call], UnusedValue, "the iterator of "+result.called+" is not gone through", "write for … in "+result.called+"(…) do")
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
	if f := w.facts[call.Func]; f.function != nil && strings.HasPrefix(f.called, "path.") {
		name = f.called
	}
	pure := strings.HasPrefix(name, "string.") || strings.HasPrefix(name, "path.") ||
		strings.HasPrefix(name, "math.") && !strings.HasPrefix(name, "math.random") ||
		name == "table.concat" || name == "tostring" || name == "tonumber" || name == "type" || name == "pairs" || name == "ipairs"
	if name == "string.gsub" && len(call.Args) > 0 {
		with := w.facts[call.Args[len(call.Args)-1]]
		pure = with.kind == "string" // a function may do more
	}
	if pure {
		w.report(w.where[call], UnusedValue, "what "+name+" gives is not used", "it changes nothing by itself: write local x = …")
	}
}
