package compile

import (
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// statements compiles the statements of the current block; ends reports whether
// its end is a scope's end, so that a label there is outside of its locals.
func (f *function) statements(stmts []ast.Stmt, ends bool) {
	last := len(stmts)
	for last > 0 && ends {
		if _, label := stmts[last-1].(*ast.LabelStmt); !label {
			break
		}
		last--
	}
	for i, s := range stmts {
		if label, ok := s.(*ast.LabelStmt); ok {
			f.at(s)
			f.label(label, i >= last)
			continue
		}
		f.at(s)
		f.statement(s)
		f.free = len(f.active)
	}
}

// scope compiles statements as a block of their own.
func (f *function) scope(stmts []ast.Stmt) {
	f.openBlock(false)
	f.statements(stmts, true)
	f.closeBlock()
}

func (f *function) statement(s ast.Stmt) {
	f.enter()
	defer f.leave()
	switch s := s.(type) {
	case *ast.LocalAssignStmt:
		f.localStatement(s)
	case *ast.AssignStmt:
		f.assign(s.Lhs, s.Rhs)
	case *ast.FuncCallStmt:
		f.callStatement(s)
	case *ast.DoBlockStmt:
		f.scope(s.Stmts)
	case *ast.IfStmt:
		f.ifStatement(s)
	case *ast.WhileStmt:
		f.while(s)
	case *ast.RepeatStmt:
		f.repeat(s)
	case *ast.NumberForStmt:
		f.numberFor(s)
	case *ast.GenericForStmt:
		f.genericFor(s)
	case *ast.FuncDefStmt:
		f.functionStatement(s)
	case *ast.ReturnStmt:
		f.returnStatement(s)
	case *ast.BreakStmt:
		f.exit("", s.Line())
	case *ast.GotoStmt:
		f.exit(s.Label, s.Line())
	default:
		f.fail("cannot compile %T", s)
	}
}

func (f *function) localStatement(s *ast.LocalAssignStmt) {
	if len(s.Exprs) == 1 && s.LastLine() > 0 { // only "local function" has a last line
		if fn, ok := s.Exprs[0].(*ast.FunctionExpr); ok {
			register := f.reserve(1)
			f.declare(s.Names[0])
			e := f.closure(fn, false)
			f.toRegister(&e, register)
			f.active[register].StartPc = f.pc() - 1
			return
		}
	}
	f.values(s.Exprs, len(s.Names))
	f.declare(s.Names...)
}

// values puts n values of a list of expressions in the next registers.
func (f *function) values(exprs []ast.Expr, n int) {
	last := f.allButLast(exprs)
	f.adjust(n, len(exprs), &last)
}

// allButLast puts expressions in the next registers, and compiles the last one.
func (f *function) allButLast(exprs []ast.Expr) (last operand) {
	last = value(nothing, 0)
	for i, n := range exprs {
		if i > 0 {
			f.toNext(&last)
		}
		last = f.expression(n)
	}
	return last
}

// adjust completes a list whose last expression is not in a register yet.
func (f *function) adjust(wanted, given int, last *operand) {
	missing := wanted - given
	if last.isOpen() {
		missing = max(missing+1, 0)
		f.open(last, missing)
		f.reserve(max(missing-1, 0))
	} else {
		if last.form != nothing {
			f.toNext(last)
		}
		if missing > 0 {
			f.loadNil(f.reserve(missing), missing)
		}
	}
	f.free -= max(given-wanted, 0)
}

// assign compiles an assignment. The parts of the variables are evaluated first, then
// all values, then the variables are set, from the last to the first.
func (f *function) assign(targets, exprs []ast.Expr) {
	variables := make([]operand, len(targets))
	for i, n := range targets {
		f.at(n)
		switch n := n.(type) {
		case *ast.IdentExpr:
			variables[i] = f.variable(n.Value)
			if variables[i].form == localValue {
				f.keep(variables[:i], variables[i].info)
			}
		case *ast.AttrGetExpr:
			variables[i] = f.index(n)
		default:
			f.fail("cannot assign to %T", n)
		}
	}
	last := f.allButLast(exprs)
	n := len(variables)
	if len(exprs) == n {
		f.single(&last)
		n--
		f.store(&variables[n], &last)
	} else {
		f.adjust(n, len(exprs), &last)
	}
	for n--; n >= 0; n-- {
		e := value(inRegister, f.free-1)
		f.store(&variables[n], &e)
	}
}

// keep copies a local that is assigned to, where a variable before it is a field of
// the local, or named by it.
func (f *function) keep(variables []operand, register int) {
	used := false
	copied := f.free
	for i := range variables {
		v := &variables[i]
		if v.form != indexedValue && v.form != fieldValue {
			continue
		}
		if v.info == register {
			v.info, used = copied, true
		}
		if v.aux == register {
			v.aux, used = copied, true
		}
	}
	if used {
		f.emit(abc(lua.OP_MOVE, copied, register, 0))
		f.reserve(1)
	}
}

func (f *function) callStatement(s *ast.FuncCallStmt) {
	call, ok := s.Expr.(*ast.FuncCallExpr)
	if !ok || call.AdjustRet {
		f.fail("syntax error near ')'")
	}
	e := f.call(call)
	f.proto.Code[e.info] = withC(f.proto.Code[e.info], 1)
}

// functionStatement compiles function a.b:c() end.
func (f *function) functionStatement(s *ast.FuncDefStmt) {
	line := s.Line()
	var variable operand
	if s.Name.Func == nil { // a method
		table := f.expression(s.Name.Receiver)
		f.toAny(&table)
		variable = f.field(table, s.Name.Method)
	} else if name, ok := s.Name.Func.(*ast.IdentExpr); ok {
		variable = f.variable(name.Value)
	} else {
		variable = f.index(s.Name.Func.(*ast.AttrGetExpr))
	}
	e := f.closure(s.Func, s.Name.Func == nil)
	f.store(&variable, &e)
	f.setLine(line)
}

func (f *function) returnStatement(s *ast.ReturnStmt) {
	first, count := len(f.active), 0
	switch len(s.Exprs) {
	case 0:
	case 1:
		e := f.expression(s.Exprs[0])
		if e.form == callValue {
			f.proto.Code[e.info] = withC(abc(lua.OP_TAILCALL, aOf(f.proto.Code[e.info]), bOf(f.proto.Code[e.info]), 0), 0)
			count = -1
		} else if e.isOpen() {
			f.open(&e, -1)
			count = -1
		} else {
			first, count = f.toAny(&e), 1
		}
	default:
		count = len(s.Exprs)
		if f.list(s.Exprs) {
			count = -1
		}
	}
	f.emit(abc(lua.OP_RETURN, first, count+1, 0))
}

// ifStatement compiles if, elseif and else, which the tree nests in one another.
func (f *function) ifStatement(s *ast.IfStmt) {
	done := noJump
	for {
		f.at(s)
		otherwise := f.condition(s.Condition)
		f.scope(s.Then)
		if len(s.Else) == 0 {
			f.join(&done, otherwise)
			break
		}
		f.join(&done, f.jump())
		f.patchToHere(otherwise)
		next, chained := s.Else[0].(*ast.IfStmt)
		if !chained || len(s.Else) > 1 {
			f.scope(s.Else)
			break
		}
		s = next
	}
	f.patchToHere(done)
}

// condition goes on when an expression is true, and returns the jumps that are taken
// when it is not.
func (f *function) condition(n ast.Expr) int {
	e := f.expression(n)
	if e.form == nilValue {
		e.form = falseValue
	}
	f.whenTrue(&e)
	return e.whenFalse
}
