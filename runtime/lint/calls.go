package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"transect/client/schema"
	"transect/runtime/module"
	"transect/runtime/vm/mistake"
)

// argument is an argument of a call.
type argument struct {
	fact
	expr ast.Expr
	at   position
}

// call checks a call and returns its result.
func (w *walk) call(e *ast.FuncCallExpr) fact {
	var callee fact
	if e.Method != "" {
		receiver := w.expression(e.Receiver)
		w.positions[e] = w.tokens.of(e.Line(), e.Method)
		callee = w.method(receiver, e.Method, w.positions[e])
		w.tokens.at(w.positions[e]).means(callee)
	} else {
		callee = w.expression(e.Func)
		w.positions[e] = w.positionOf(e.Func, w.tokens.line(e.Line()))
	}
	args := make([]argument, len(e.Args))
	for i, a := range e.Args {
		value := w.expression(a)
		args[i] = argument{value, a, w.positionOf(a, w.positions[e])}
	}
	if callee.builtin == "require" {
		return w.required(args)
	}
	for i, a := range args {
		if a.noValue && i < len(args)-1 {
			w.empty(a.fact, a.at)
		}
	}
	w.callable(e, callee, args)
	// pcall(f, …) and try(f, …) call f with the remaining arguments.
	if (callee.builtin == "pcall" || callee.builtin == "try") && len(args) > 0 {
		w.tried(callee.builtin, args[0])
		w.check(args[0].fact, args[1:], args[0].at)
		return fact{}
	}
	return w.check(callee, args, w.positions[e])
}

// at returns the position of an expression, or the start of its line.
func (w *walk) at(e ast.Expr) position { return w.positionOf(e, w.tokens.line(e.Line())) }

// positionOf returns the position of an expression, or a default.
func (w *walk) positionOf(e ast.Expr, otherwise position) position {
	if at, ok := w.positions[e]; ok {
		return at
	}
	return otherwise
}

func (w *walk) check(callee fact, args []argument, at position) fact {
	switch {
	case callee.operation != nil:
		w.operation(callee.operation, args, at)
		return w.answer(callee.operation, args)
	case callee.function != nil:
		w.arguments(callee.name, callee.function.Params, args, at)
		return w.result(callee, args)
	case callee.script != nil:
		return w.scripted(callee, args, at)
	case callee.standard != "" || callee.builtin != "":
		return w.lua(callee, args, at)
	}
	return fact{}
}

// method reports an operation or a module's function called as a method: it would receive the module as its
// first argument.
func (w *walk) method(receiver fact, name string, at position) fact {
	if f, ok := w.methodOf(receiver, name, at); ok {
		return f
	}
	if receiver.isModule() {
		called := receiver.name
		switch {
		case called != "":
		case receiver.manager != nil:
			called = receiver.manager.Name
		case receiver.module != nil:
			called = receiver.module.Name
		}
		w.report(at, WrongCall, fmt.Sprintf("%s:%s is called with a colon", called, name), mistake.Colon(called, name))
	}
	return fact{}
}

// openEnded reports whether the last argument may expand to any number of
// values.
func openEnded(args []argument) bool {
	if len(args) == 0 {
		return false
	}
	switch e := args[len(args)-1].expr.(type) {
	case *ast.Comma3Expr:
		return true
	case *ast.FuncCallExpr:
		return !e.AdjustRet
	}
	return false
}

// arguments checks a call of a module's function.
func (w *walk) arguments(called string, params []module.Param, args []argument, at position) {
	if len(args) == 1 && args[0].table != nil {
		given, _ := w.fields(args[0].table)
		if module.TakesNames(params, slices.Collect(maps.Keys(given))) {
			w.named(called, params, args[0], "argument")
			return
		}
	}
	for i, p := range params {
		if p.Name == "..." {
			return
		}
		if i >= len(args) {
			if !openEnded(args) {
				w.missing(called, p, "argument", at)
			}
			continue
		}
		if i == len(args)-1 && openEnded(args) {
			continue
		}
		w.param(called, p, args[i], "argument")
	}
	if len(args) > len(params) && !(len(args) == len(params)+1 && openEnded(args)) {
		w.report(args[len(params)].at, TooManyArguments,
			fmt.Sprintf("%s takes %s, not %d", called, module.AtMost(len(params)), len(args)), "")
	}
}

func (w *walk) missing(called string, p module.Param, what string, at position) {
	for _, f := range p.Fields {
		w.missing(called, f, "option", at)
	}
	if p.Required() {
		w.report(at, MissingArgument, fmt.Sprintf("%s: %s %s", called, what, p.Missing()), "")
	}
}

func (w *walk) param(called string, p module.Param, a argument, what string) {
	switch {
	case a.kind == "nil" && !module.Accepts(p.Type, lua.LNil):
		w.missing(called, p, what, a.at)
	case p.Fields != nil && a.table != nil:
		w.named(called, p.Fields, a, "option")
	case p.Fields != nil && a.kind != "" && a.kind != "table":
		w.report(a.at, WrongType, fmt.Sprintf("%s: %s %s must be a table, not a %s", called, what, p.Name, a.kind), p.Doc)
	case p.Fields == nil && p.Type != "" && a.kind != "" && !module.Accepts(p.Type, sample(a.fact)):
		w.report(a.at, WrongType, fmt.Sprintf("%s: %s %s %s", called, what, p.Name,
			&schema.Mismatch{Want: p.Type, Got: shown(a.fact)}), p.Doc)
	case a.kind == "string" && a.constant != nil:
		if err := p.Choose(a.constant.String()); err != nil {
			w.report(a.at, WrongValue, fmt.Sprintf("%s: %s %s %s", called, what, p.Name, err), p.Doc)
		}
	}
}

// named checks a table constructor that names arguments or options.
func (w *walk) named(called string, params []module.Param, a argument, what string) {
	given, complete := w.fields(a.table)
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		p := schema.Find(params, name)
		if p == nil {
			names := schema.Names(params)
			w.report(given[name].at, UnknownArgument, called+" has no "+what+" "+name,
				near(name, names, "it has "+strings.Join(names, ", ")))
			continue
		}
		seen[p.Name] = true
		w.argument(called, p.Name, given[name])
		w.param(called, *p, given[name], what)
	}
	for _, p := range params {
		if complete && !seen[p.Name] {
			w.missing(called, p, what, a.at)
		}
	}
}

// sample returns a value of a known type.
func sample(f fact) lua.LValue {
	if f.constant != nil {
		return f.constant
	}
	return map[string]lua.LValue{"table": &lua.LTable{}, "function": &lua.LFunction{}, "boolean": lua.LTrue,
		"number": lua.LNumber(1), "string": lua.LString("a"), "nil": lua.LNil}[f.kind]
}

// shown describes a value of a known type.
func shown(f fact) string {
	switch {
	case f.constant == nil:
		return f.article()
	case f.kind == "string":
		return fmt.Sprintf("the string %q", f.constant.String())
	}
	return f.constant.String()
}
