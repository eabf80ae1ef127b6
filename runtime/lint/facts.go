package lint

import (
	"reflect"
	"strconv"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"transect/client/declare"
	"transect/runtime/module"
)

// fact is what is known of a value without running anything. The zero fact
// knows nothing.
type fact struct {
	kind     string     // Lua's type; "" when it is not known
	constant lua.LValue // of a string, number or boolean that is known
	table    *ast.TableExpr

	sdk       bool              // sdk, or a connection of its own
	library   string            // of Lua's own
	module    *module.Module    // a module
	manager   *declare.Manager  // a manager
	operation *declare.Spec     // an operation
	function  *module.Func      // a function of a module
	builtin   string            // a global function
	standard  string            // a function of Lua's own libraries
	script    *ast.FunctionExpr // a function of the script itself
	object    *module.Type      // an object with methods
	bound     string            // a method read off an object
	list      bool              // a table made by a call, which no field was added to
	resource  bool              // one record
	each      int               // an iterator: how many values it gives at a time, -1 when that is not known
	nothing   bool              // a call that gives no value
	names     []string          // all the fields a table has
	called    string            // its name, as the script has it
}

// unknown tells whether nothing is known but the name.
func (f fact) unknown() bool {
	f.called = ""
	return reflect.ValueOf(f).IsZero()
}

// expressions walks expressions and gives what is known of each.
func (w *walk) expressions(list []ast.Expr) []fact {
	facts := make([]fact, len(list))
	for i, e := range list {
		facts[i] = w.expression(e)
	}
	return facts
}

// expression walks an expression once and remembers what is known of it.
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
		w.where[e] = w.at.literal(e.Line(), e.Value)
		n, err := strconv.ParseFloat(e.Value, 64)
		if err != nil {
			if whole, err := strconv.ParseInt(e.Value, 0, 64); err == nil {
				return fact{kind: "number", constant: lua.LNumber(whole)}
			}
			return fact{kind: "number"}
		}
		return fact{kind: "number", constant: lua.LNumber(n)}
	case *ast.StringExpr:
		w.where[e] = w.at.literal(e.Line(), e.Value)
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
		w.expression(e.Lhs)
		w.expression(e.Rhs)
	case *ast.RelationalOpExpr:
		w.compared(e, w.expression(e.Lhs), w.expression(e.Rhs))
		return fact{kind: "boolean"}
	case *ast.StringConcatOpExpr:
		w.operand(e.Lhs, w.expression(e.Lhs), "joined with ..")
		w.operand(e.Rhs, w.expression(e.Rhs), "joined with ..")
		// Objects may say otherwise; text is what it is nearly always.
		return fact{}
	case *ast.ArithmeticOpExpr:
		w.operand(e.Lhs, w.expression(e.Lhs), calculated)
		w.operand(e.Rhs, w.expression(e.Rhs), calculated)
	case *ast.UnaryMinusOpExpr:
		f := w.expression(e.Expr)
		if f.constant != nil && f.kind == "number" {
			return fact{kind: "number", constant: -f.constant.(lua.LNumber)}
		}
		w.operand(e.Expr, f, calculated)
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
	at := w.at.of(e.Line(), e.Value)
	w.where[e] = at
	if v := w.find(e.Value); v != nil {
		v.used = true
		known := v.known
		known.called = e.Value
		return known
	}
	w.read = append(w.read, use{e.Value, at})
	if _, library := w.world.libraries[e.Value]; library {
		return fact{kind: "table", library: e.Value}
	}
	if w.world.global(e.Value) {
		return fact{builtin: e.Value, called: e.Value}
	}
	return fact{}
}

func (w *walk) table(e *ast.TableExpr) fact {
	given := map[string]bool{}
	for _, f := range e.Fields {
		if key, ok := f.Key.(*ast.StringExpr); ok {
			w.where[key] = w.key(key)
			if given[key.Value] {
				w.report(w.where[key], DuplicateKey, "the key "+key.Value+" is given twice; the last one counts", "remove one of the two")
			}
			given[key.Value] = true
		} else if f.Key != nil {
			w.expression(f.Key)
		}
		w.expression(f.Value)
	}
	return fact{kind: "table", table: e}
}

// key is where a key stands: a name, or a text in brackets.
func (w *walk) key(key *ast.StringExpr) place { return w.at.of(key.Line(), key.Value) }
