package lint

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"transect/client"
	"transect/client/declare"
	"transect/client/schema"
	"transect/runtime/vm/mistake"
)

const calculated = "used in arithmetic"

// notOperand describes a value that no operator accepts, or returns "".
func (w *walk) notOperand(e ast.Expr, f fact) string {
	_, literal := e.(*ast.TableExpr)
	switch {
	case f.noValue:
		return "the result of " + f.name + ", which is nothing,"
	case f.each != 0:
		return "an iterator"
	case f.list:
		return "the list of " + f.name
	case f.isModule():
		return "a module"
	case literal:
		return "a table"
	case f.kind == "boolean", f.kind == "nil", f.kind == "function":
		return f.article()
	}
	return ""
}

// operand checks one side of an operator.
func (w *walk) operand(e ast.Expr, f fact, use, operator string) {
	at := w.at(e)
	if what := w.notOperand(e, f); what != "" {
		w.report(at, WrongType, what+" cannot be "+use, "")
		return
	}
	if text, ok := f.constant.(lua.LString); ok && use == calculated {
		_, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
		if _, hex := strconv.ParseInt(strings.TrimSpace(string(text)), 0, 64); err != nil && hex != nil {
			w.report(at, WrongType, "the string "+strconv.Quote(string(text))+" cannot be used in arithmetic",
				mistake.Arithmetic(operator))
		}
	}
}

// measured checks the operand of #.
func (w *walk) measured(e ast.Expr, f fact) {
	switch what := w.notOperand(e, f); {
	case f.each != 0:
		w.report(w.at(e), WrongType, "an iterator has no length", "count its values in a loop")
	case f.kind == "number" || what != "" && !f.list && f.kind != "table":
		if what == "" {
			what = "a number"
		}
		w.report(w.at(e), WrongType, what+" has no length", "")
	}
}

// indexed checks a value whose field is read.
func (w *walk) indexed(object fact, key string, at position) {
	switch {
	case object.noValue:
		w.empty(object, at)
	case object.isDocumented(), object.each != 0, object.script != nil:
		w.report(at, WrongType, "a function has no field "+key, "call it first: "+object.name+"(…)."+key)
	case object.kind == "number", object.kind == "boolean", object.kind == "nil":
		hint := ""
		if object.name == "ipairs" {
			hint = "ipairs gives the index before the item: for _, item in ipairs(…) do"
		}
		w.report(at, WrongType, object.article()+" has no field "+key, hint)
	case object.kind == "string" || slices.Contains([]string{"id", "string", "date", "number", "integer"}, object.field):
		if slices.Contains(w.env.libraries["string"], key) {
			return
		}
		hint := ""
		for _, manager := range []string{object.name + "s", strings.TrimSuffix(object.name, "y") + "ies"} {
			if object.field == "id" && w.env.managers[manager] != nil {
				hint = "sdk." + manager + ".describe(…)." + key + " asks for the record"
			}
		}
		w.report(at, UnknownField, schema.Article(cmp.Or(object.field, "string"))+" has no field "+key, hint)
	case object.resource && object.records != "":
		if meant := client.MisspeltField(object.records, key); meant != "" {
			w.report(at, UnknownField, schema.Article(declare.Singular(object.records))+" has no field "+key,
				"did you mean "+meant+"?")
		}
	case object.list && slices.Contains([]string{"id", "_id", "name"}, key):
		w.report(at, UnknownArgument, "the list of "+object.name+" has no "+key,
			"its items have: loop with ipairs, or take the first one with [1]")
	}
}

// stored checks the target of an assignment.
func (w *walk) stored(e ast.Expr) {
	w.expression(e)
	field, ok := e.(*ast.AttrGetExpr)
	if !ok {
		return
	}
	w.stores(field.Object, field.Key, w.positions[field])
	object := w.facts[field.Object]
	if name, ok := field.Object.(*ast.IdentExpr); ok && object.kind == "table" && object.module == nil &&
		object.manager == nil && !object.sdk {
		if v := w.find(name.Value); v != nil {
			w.reassigned[v.from] = true // its later content is unknown
		}
	}
	if object.resource {
		w.report(w.at(e), ReadOnly, "records are read-only",
			"change it with the operations of its manager, or copy it with :totable()")
	}
}

// empty reports the use of a value that does not exist.
func (w *walk) empty(f fact, at position) {
	w.report(at, NoValue, f.name+" returns nothing", "it raises an error when it fails")
}

// assignedValues checks values of assignments.
func (w *walk) assignedValues(exprs []ast.Expr, facts []fact, name string) {
	for i, f := range facts {
		if f.noValue && !strings.HasPrefix(name, "_") {
			w.empty(f, w.at(exprs[i]))
		}
	}
}

// errorNames lists common names of variables for errors.
var errorNames = []string{"err", "error", "e", "errmsg", "msg", "message", "reason", "why", "problem"}

// convention reports code that expects an error as a second result.
func (w *walk) convention(s *ast.LocalAssignStmt, facts []fact, positions []position) {
	if len(s.Names) != 2 || len(s.Exprs) != 1 || !slices.Contains(errorNames, strings.ToLower(s.Names[1])) {
		return
	}
	call, ok := s.Exprs[0].(*ast.FuncCallExpr)
	if !ok || call.Method != "" {
		return
	}
	if callee := w.facts[call.Func]; callee.isDocumented() {
		w.report(positions[1], NoValue, callee.name+" raises its errors; "+s.Names[1]+" is always nil",
			"write local "+s.Names[0]+", "+s.Names[1]+" = try("+callee.name+", …)")
	}
}

// tried checks the first argument of pcall and try.
func (w *walk) tried(by string, first argument) {
	call, called := first.expr.(*ast.FuncCallExpr)
	name := ""
	if called {
		if f := w.facts[call.Func]; call.Method == "" && f.isDocumented() {
			name = f.name
		}
	}
	known := first.noValue || first.list || first.resource || first.kind != "" && first.kind != "function" ||
		called && w.facts[call.Func].function != nil && !strings.Contains(w.facts[call.Func].function.Returns, "function")
	switch {
	case name != "" && (known || w.facts[call.Func].operation != nil):
		w.report(first.at, WrongCall, by+" receives the result of "+name+", after the call",
			"pass the function and its arguments: "+by+"("+name+", …)")
	case known && !called:
		w.report(first.at, WrongCall, by+" needs a function", "write "+by+"(f, …)")
	}
}

// callable checks a callee, and how it is called.
func (w *walk) callable(e *ast.FuncCallExpr, callee fact, args []argument) {
	if e.Method != "" {
		return
	}
	at := w.positions[e]
	switch {
	case callee.bound != "" && callee.standard == "":
		self, _ := e.Func.(*ast.AttrGetExpr)
		if len(args) == 0 || !same(self.Object, args[0].expr) {
			w.report(at, WrongCall, callee.name+" is called without its object",
				"write it with a colon: "+strings.TrimSuffix(callee.name, "."+callee.bound)+":"+callee.bound+"(…)")
		}
	case callee.isModule():
		w.report(at, WrongCall, "a module is not a function", "call one of its functions")
	case callee.list, callee.resource, callee.noValue, callee.kind == "number", callee.kind == "string",
		callee.kind == "boolean", callee.kind == "nil":
		w.report(at, WrongCall, "this is not a function", "")
	}
	w.shadowed(e)
}

// shadowable lists modules whose names are common for parameters.
var shadowable = []string{"table", "os", "io", "math", "path", "time", "json", "csv", "geo", "hash", "semver"}

// shadowed reports a parameter that hides the module whose function is called.
func (w *walk) shadowed(e *ast.FuncCallExpr) {
	read, ok := e.Func.(*ast.AttrGetExpr)
	if !ok {
		return
	}
	name, ok := read.Object.(*ast.IdentExpr)
	key, named := read.Key.(*ast.StringExpr)
	if !ok || !named || !slices.Contains(shadowable, name.Value) {
		return
	}
	v := w.find(name.Value)
	if v == nil || !v.parameter {
		return
	}
	functions := w.env.libraries[name.Value]
	if m := w.env.modules[name.Value]; m != nil {
		functions = append(fields(m), functions...)
	}
	if slices.Contains(functions, key.Value) {
		w.report(w.positions[e], Hidden, "the parameter "+name.Value+" hides the module "+name.Value+", whose "+key.Value+
			" is called", "rename the parameter")
	}
}
