package lint

import (
	"slices"

	"github.com/yuin/gopher-lua/ast"
)

// block checks statements in a new scope.
func (w *walk) block(stmts []ast.Stmt) {
	w.open()
	w.statements(stmts)
	w.close()
}

func (w *walk) statements(stmts []ast.Stmt) {
	ended, reported := false, false
	for _, s := range stmts {
		if _, label := s.(*ast.LabelStmt); label {
			ended = false // a goto may lead here
		}
		if ended && !reported {
			w.report(w.tokens.line(s.Line()), Unreachable, "unreachable code", "the statement before it never continues")
			reported = true
		}
		w.statement(s)
		ended = ended || w.leaves(s)
	}
}

func (w *walk) statement(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		for _, e := range s.Lhs {
			if name, ok := e.(*ast.IdentExpr); ok {
				w.assign(name)
				continue
			}
			w.stored(e)
		}
		w.assignedValues(s.Rhs, w.expressions(s.Rhs), "")
		w.toItself(s)
	case *ast.LocalAssignStmt:
		w.local(s)
	case *ast.FuncCallStmt:
		w.dropped(s.Expr, w.expression(s.Expr))
	case *ast.DoBlockStmt:
		w.block(s.Stmts)
	case *ast.WhileStmt:
		w.condition(s.Condition, true)
		w.block(s.Stmts)
	case *ast.RepeatStmt:
		w.open()
		w.statements(s.Stmts)
		w.condition(s.Condition, true)
		w.close()
	case *ast.IfStmt:
		w.condition(s.Condition, false)
		w.repeated(s)
		w.block(s.Then)
		w.block(s.Else)
	case *ast.NumberForStmt:
		at := w.tokens.of(s.Line(), s.Name)
		w.counted(s, w.expression(s.Init), w.expression(s.Limit))
		if s.Step != nil {
			w.expression(s.Step)
		}
		w.open()
		w.declare(s.Name, at, declaration{s, 0}, fact{}).optional = true
		w.statements(s.Stmts)
		w.close()
	case *ast.GenericForStmt:
		w.loop(s)
	case *ast.FuncDefStmt:
		w.definition(s)
	case *ast.ReturnStmt:
		w.expressions(s.Exprs)
	case *ast.LabelStmt:
		w.tokens.of(s.Line(), s.Name)
	case *ast.GotoStmt:
		w.tokens.of(s.Line(), s.Label)
	}
}

func (w *walk) local(s *ast.LocalAssignStmt) {
	positions := make([]position, len(s.Names))
	for i, name := range s.Names {
		positions[i] = w.tokens.of(s.Line(), name)
	}
	// A function may call itself.
	if len(s.Names) == 1 && len(s.Exprs) == 1 {
		if f, ok := s.Exprs[0].(*ast.FunctionExpr); ok {
			w.declare(s.Names[0], positions[0], declaration{s, 0}, fact{kind: "function", script: f})
			w.function(f, false)
			return
		}
	}
	facts := w.expressions(s.Exprs)
	w.assignedValues(s.Exprs, facts, s.Names[0])
	w.convention(s, facts, positions)
	w.firstOfTwo(s, facts, positions)
	for i, name := range s.Names {
		var value fact
		if i < len(facts) {
			value = facts[i]  // of a call, its first value
			value.table = nil // may be filled later
		}
		w.declare(name, positions[i], declaration{s, i}, value)
		if i < len(s.Exprs) {
			if table, ok := s.Exprs[i].(*ast.TableExpr); ok {
				w.exported(w.tokens.declaredAt(positions[i]), table)
			}
		}
	}
}

func (w *walk) loop(s *ast.GenericForStmt) {
	positions := make([]position, len(s.Names))
	for i, name := range s.Names {
		positions[i] = w.tokens.of(s.Line(), name)
	}
	facts := w.expressions(s.Exprs)
	w.iterated(s, facts, positions)
	w.open()
	for i, name := range s.Names {
		known := fact{}
		if len(facts) > 0 && facts[0].records != "" && i == facts[0].each-1 {
			known = fact{resource: true, records: facts[0].records, name: name}
		}
		if call, ok := s.Exprs[0].(*ast.FuncCallExpr); ok && i == 0 && w.facts[call.Func].builtin == "ipairs" {
			known = fact{kind: "number", name: "ipairs"}
		}
		// The first one is needed for the loop itself.
		w.declare(name, positions[i], declaration{s, i}, known).optional = i == 0
	}
	w.statements(s.Stmts)
	w.close()
}

func (w *walk) definition(s *ast.FuncDefStmt) {
	switch {
	case s.Name.Func == nil: // function object:method()
		w.expression(s.Name.Receiver)
		w.stores(s.Name.Receiver, &ast.StringExpr{Value: s.Name.Method}, w.tokens.of(s.Line(), s.Name.Method))
		w.function(s.Func, true)
		return
	default:
		if name, ok := s.Name.Func.(*ast.IdentExpr); ok {
			w.assign(name)
		} else {
			w.expression(s.Name.Func)
			if field, ok := s.Name.Func.(*ast.AttrGetExpr); ok {
				w.stores(field.Object, field.Key, w.positions[field])
			}
		}
	}
	w.function(s.Func, false)
}

func (w *walk) function(f *ast.FunctionExpr, method bool) {
	w.open()
	if method {
		w.declare("self", position{}, declaration{f, -1}, fact{}).optional = true
	}
	for i, name := range f.ParList.Names {
		at := w.tokens.of(f.Line(), name)
		if slices.Contains(f.ParList.Names[:i], name) && name != "_" {
			w.report(at, Hidden, "duplicate parameter "+name, "rename one of them")
		}
		v := w.declare(name, at, declaration{f, i}, fact{})
		v.optional, v.parameter = true, true
	}
	w.statements(f.Stmts)
	w.close()
}
