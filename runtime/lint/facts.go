package lint

import (
	"reflect"
	"strconv"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"transect/client/declare"
	"transect/runtime/module"
)

// fact is static knowledge about a value. The zero fact means unknown.
type fact struct {
	kind     string     // Lua type; "" when unknown
	constant lua.LValue // a known string, number or boolean
	table    *ast.TableExpr
	made     bool // created by a table constructor of the script

	sdk       bool   // sdk, or another connection
	library   string // a library of Lua
	module    *module.Module
	manager   *declare.Manager
	operation *declare.Spec
	function  *module.Func      // of a module
	builtin   string            // a global function
	standard  string            // a function of a library of Lua
	script    *ast.FunctionExpr // defined in the script
	object    *module.Type      // an object with methods
	bound     string            // name of a method read from an object
	list      bool              // a table returned by a call, without fields added
	resource  bool              // one record
	records   string            // manager of the record, or of the records in a list or an iterator
	field     string            // type of a field of a record, which may be nil
	each      int               // an iterator: values per step, -1 when unknown
	noValue   bool              // the result of a call that returns nothing
	local     string            // a module of the workspace
	names     []string          // all fields of a table
	name      string            // its name in the script
	full      string            // the name of function in the reference
}

// isModule reports whether the value is a table of functions: a module, a manager, a library.
func (f fact) isModule() bool {
	return f.sdk || f.library != "" || f.module != nil || f.manager != nil
}

// isDocumented reports whether the value is an operation or a function of a module.
func (f fact) isDocumented() bool { return f.operation != nil || f.function != nil }

// article returns the type with its article.
func (f fact) article() string {
	if f.kind == "nil" {
		return "nil"
	}
	return "a " + f.kind
}

// unknown reports whether only the name is known.
func (f fact) unknown() bool {
	f.name, f.local = "", ""
	return reflect.ValueOf(f).IsZero()
}

func (w *walk) expressions(list []ast.Expr) []fact {
	facts := make([]fact, len(list))
	for i, e := range list {
		facts[i] = w.expression(e)
	}
	return facts
}

// expression checks an expression and records its fact.
func (w *walk) expression(e ast.Expr) fact {
	f := w.visit(e)
	w.facts[e] = f
	return f
}

func (w *walk) visit(e ast.Expr) fact {
	switch e := e.(type) {
	case *ast.TrueExpr:
		return fact{kind: "boolean", constant: lua.LTrue}
	case *ast.FalseExpr:
		return fact{kind: "boolean", constant: lua.LFalse}
	case *ast.NilExpr:
		return fact{kind: "nil"}
	case *ast.NumberExpr:
		w.positions[e] = w.tokens.literal(e.Line(), e.Value)
		n, err := strconv.ParseFloat(e.Value, 64)
		if err != nil {
			if complete, err := strconv.ParseInt(e.Value, 0, 64); err == nil {
				return fact{kind: "number", constant: lua.LNumber(complete)}
			}
			return fact{kind: "number"}
		}
		return fact{kind: "number", constant: lua.LNumber(n)}
	case *ast.StringExpr:
		w.positions[e] = w.tokens.literal(e.Line(), e.Value)
		return fact{kind: "string", constant: lua.LString(e.Value)}
	case *ast.IdentExpr:
		return w.variable(e)
	case *ast.AttrGetExpr:
		return w.attribute(e)
	case *ast.TableExpr:
		return w.table(e)
	case *ast.FuncCallExpr:
		return w.call(e)
	case *ast.FunctionExpr:
		w.function(e, false)
		return fact{kind: "function", script: e}
	case *ast.LogicalOpExpr:
		w.tested(e.Lhs)
		w.expression(e.Rhs)
		w.bothFilters(e)
	case *ast.RelationalOpExpr:
		w.compared(e, w.expression(e.Lhs), w.expression(e.Rhs))
		return fact{kind: "boolean"}
	case *ast.StringConcatOpExpr:
		w.operand(e.Lhs, w.expression(e.Lhs), "concatenated", "")
		w.operand(e.Rhs, w.expression(e.Rhs), "concatenated", "")
		// Objects may define concatenation; a string is usual.
		return fact{}
	case *ast.ArithmeticOpExpr:
		w.operand(e.Lhs, w.expression(e.Lhs), calculated, e.Operator)
		w.operand(e.Rhs, w.expression(e.Rhs), calculated, e.Operator)
	case *ast.UnaryMinusOpExpr:
		f := w.expression(e.Expr)
		if f.constant != nil && f.kind == "number" {
			return fact{kind: "number", constant: -f.constant.(lua.LNumber)}
		}
		w.operand(e.Expr, f, calculated, "-")
	case *ast.UnaryNotOpExpr:
		w.expression(e.Expr)
		return fact{kind: "boolean"}
	case *ast.UnaryLenOpExpr:
		w.measured(e.Expr, w.expression(e.Expr))
		return fact{kind: "number"}
	}
	return fact{}
}

func (w *walk) variable(e *ast.IdentExpr) fact {
	at := w.tokens.of(e.Line(), e.Value)
	w.positions[e] = at
	n := w.tokens.at(at)
	if v := w.find(e.Value); v != nil {
		v.used = true
		known := v.known
		known.name = e.Value
		n.Declared = w.tokens.declaredAt(v.position)
		n.means(known)
		return known
	}
	n.Global = true
	if e.Value == cursorName {
		w.seen = w.visible()
	}
	w.read = append(w.read, use{e.Value, at})
	if _, library := w.env.libraries[e.Value]; library {
		return fact{kind: "table", library: e.Value}
	}
	if w.env.global(e.Value) {
		return fact{builtin: e.Value, name: e.Value}
	}
	return fact{}
}

func (w *walk) table(e *ast.TableExpr) fact {
	given := map[string]bool{}
	for _, f := range e.Fields {
		if key, ok := f.Key.(*ast.StringExpr); ok {
			w.positions[key] = w.tokens.key(key.Line(), key.Value)
			if given[key.Value] {
				w.report(w.positions[key], DuplicateKey, "the key "+key.Value+" is given twice; the last one is used",
					"remove one of them")
			}
			given[key.Value] = true
		} else if f.Key != nil {
			w.expression(f.Key)
		}
		w.expression(f.Value)
	}
	return fact{kind: "table", table: e, made: true}
}
