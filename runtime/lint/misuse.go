package lint

import (
	"slices"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

const calculated = "calculated with"

// known names what is known of a value that no operator takes; "" otherwise.
func (w *walk) known(e ast.Expr, f fact) string {
	_, literal := e.(*ast.TableExpr)
	switch {
	case f.nothing:
		return "what " + f.called + " gives, which is nothing"
	case f.each != 0:
		return "an iterator"
	case f.list:
		return "the list of " + f.called
	case f.manager != nil, f.module != nil, f.sdk, f.library != "":
		return "a module"
	case literal:
		return "a table"
	case f.kind == "boolean", f.kind == "nil", f.kind == "function":
		return strings.TrimPrefix("a "+f.kind, "a nil") + map[bool]string{true: "nil"}[f.kind == "nil"]
	}
	return ""
}

// operand checks one side of an operator.
func (w *walk) operand(e ast.Expr, f fact, deed string) {
	at := w.placeOf(e, w.at.line(e.Line()))
	if what := w.known(e, f); what != "" {
		w.report(at, WrongType, what+" cannot be "+deed, "")
		return
	}
	if text, ok := f.constant.(lua.LString); ok && deed == calculated {
		_, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
		if _, hex := strconv.ParseInt(strings.TrimSpace(string(text)), 0, 64); err != nil && hex != nil {
			w.report(at, WrongType, "the text "+strconv.Quote(string(text))+" cannot be calculated with", "texts are joined with ..")
		}
	}
}

// measured checks what # is asked of.
func (w *walk) measured(e ast.Expr, f fact) {
	switch what := w.known(e, f); {
	case f.each != 0:
		w.report(w.placeOf(e, w.at.line(e.Line())), WrongType, "an iterator has no length", "go through it with for, and count")
	case f.kind == "number" || what != "" && !f.list && f.kind != "table":
		if what == "" {
			what = "a number"
		}
		w.report(w.placeOf(e, w.at.line(e.Line())), WrongType, what+" has no length", "")
	}
}

// indexed checks what a field is read of.
func (w *walk) indexed(object fact, key string, at place) {
	switch {
	case object.nothing:
		w.empty(object, at)
	case object.operation != nil, object.function != nil, object.each != 0, object.script != nil:
		w.report(at, WrongType, "a function has no field "+key, "call it first: "+object.called+"(…)."+key)
	case object.kind == "number", object.kind == "boolean", object.kind == "nil":
		w.report(at, WrongType, strings.TrimPrefix("a "+object.kind, "a nil")+map[bool]string{true: "nil"}[object.kind == "nil"]+" has no field "+key, "")
	case object.list && slices.Contains([]string{"id", "_id", "name"}, key):
		w.report(at, UnknownArgument, "the list of "+object.called+" has no "+key, "its items have: go through them with ipairs, or take the first one with [1]")
	}
}

// stored checks a place something is put into.
func (w *walk) stored(e ast.Expr) {
	w.expression(e)
	field, ok := e.(*ast.AttrGetExpr)
	if !ok {
		return
	}
	object := w.facts[field.Object]
	if name, ok := field.Object.(*ast.IdentExpr); ok && object.kind == "table" && object.module == nil && object.manager == nil && !object.sdk {
		if v := w.find(name.Value); v != nil {
			w.reassigned[v.from] = true // nobody knows what else it gets
		}
	}
	if object.resource {
		w.report(w.placeOf(e, w.at.line(e.Line())), ReadOnly, "a record's fields cannot be changed", "write a change with its manager's operations, or take a copy with :totable()")
	}
}

// empty tells of a value that is taken where none is given.
func (w *walk) empty(f fact, at place) {
	w.report(at, NoValue, f.called+" gives nothing", "it raises when it fails; there is no need to look")
}

// taken checks values that go into variables.
func (w *walk) taken(exprs []ast.Expr, facts []fact, name string) {
	for i, f := range facts {
		if f.nothing && !strings.HasPrefix(name, "_") {
			w.empty(f, w.placeOf(exprs[i], w.at.line(exprs[i].Line())))
		}
	}
}

// failures are names that say that nil and an error are expected.
var failures = []string{"err", "error", "e", "errmsg", "msg", "message", "reason", "why", "problem"}

// convention finds the habit of looking for an error in a second value.
func (w *walk) convention(s *ast.LocalAssignStmt, facts []fact, places []place) {
	if len(s.Names) != 2 || len(s.Exprs) != 1 || !slices.Contains(failures, strings.ToLower(s.Names[1])) {
		return
	}
	call, ok := s.Exprs[0].(*ast.FuncCallExpr)
	if !ok || call.Method != "" {
		return
	}
	if callee := w.facts[call.Func]; callee.operation != nil || callee.function != nil {
		w.report(places[1], NoValue, callee.called+" raises its errors; "+s.Names[1]+" is always nil",
			"write local "+s.Names[0]+", "+s.Names[1]+" = try("+callee.called+", …)")
	}
}

// tried checks the first argument of pcall and try.
func (w *walk) tried(by string, first argument) {
	call, called := first.expr.(*ast.FuncCallExpr)
	name := ""
	if called {
		if f := w.facts[call.Func]; call.Method == "" && (f.operation != nil || f.function != nil) {
			name = f.called
		}
	}
	known := first.nothing || first.list || first.resource || first.kind != "" && first.kind != "function"
	switch {
	case name != "" && (known || w.facts[call.Func].operation != nil):
		w.report(first.at, WrongCall, by+" gets what "+name+" gives, after the call", "hand over the function and its arguments: "+by+"("+name+", …)")
	case known && !called:
		w.report(first.at, WrongCall, by+" wants a function to call", "write "+by+"(f, …)")
	}
}

// callable checks what is called, and how.
func (w *walk) callable(e *ast.FuncCallExpr, callee fact, args []argument) {
	if e.Method != "" {
		return
	}
	at := w.where[e]
	switch {
	case callee.bound != "" && callee.standard == "":
		self, _ := e.Func.(*ast.AttrGetExpr)
		if len(args) == 0 || !same(self.Object, args[0].expr) {
			w.report(at, WrongCall, callee.called+" is called without its object", "write it with a colon: "+strings.TrimSuffix(callee.called, "."+callee.bound)+":"+callee.bound+"(…)")
		}
	case callee.manager != nil, callee.module != nil, callee.sdk, callee.library != "":
		w.report(at, WrongCall, "a module is no function", "call one of its functions")
	case callee.list, callee.resource, callee.nothing, callee.kind == "number", callee.kind == "string", callee.kind == "boolean", callee.kind == "nil":
		w.report(at, WrongCall, "this is no function", "")
	}
	w.hidden(e)
}

// often are names of modules that parameters are given by mistake as well.
var often = []string{"table", "os", "io", "math", "path", "time", "json", "csv", "geo", "hash", "semver"}

// hidden finds a parameter that hides the module whose function is called.
func (w *walk) hidden(e *ast.FuncCallExpr) {
	read, ok := e.Func.(*ast.AttrGetExpr)
	if !ok {
		return
	}
	name, ok := read.Object.(*ast.IdentExpr)
	key, named := read.Key.(*ast.StringExpr)
	if !ok || !named || !slices.Contains(often, name.Value) {
		return
	}
	v := w.find(name.Value)
	if v == nil || !v.parameter {
		return
	}
	functions := w.world.libraries[name.Value]
	if m := w.world.modules[name.Value]; m != nil {
		functions = append(fields(m), functions...)
	}
	if slices.Contains(functions, key.Value) {
		w.report(w.where[e], Hidden, "the parameter "+name.Value+" hides the module "+name.Value+", whose "+key.Value+" is called", "give the parameter another name")
	}
}
