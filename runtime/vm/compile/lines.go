package compile

import "github.com/yuin/gopher-lua/ast"

// PlaceCalls gives each call the line where its arguments begin, which is that of the
// call in Lua 5.1. The parser keeps only where the whole expression begins. The lines
// are in the order of the source; when they are not as many as the calls, all stay.
func PlaceCalls(stmts []ast.Stmt, lines []int) {
	p := &placer{}
	p.block(stmts)
	if len(p.calls) != len(lines) {
		return
	}
	for i, call := range p.calls {
		call.SetLine(lines[i])
	}
}

// placer lists the calls of a tree in the order of the source.
type placer struct{ calls []*ast.FuncCallExpr }

func (p *placer) block(stmts []ast.Stmt) {
	for _, s := range stmts {
		p.statement(s)
	}
}

func (p *placer) statement(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		p.list(s.Lhs)
		p.list(s.Rhs)
	case *ast.LocalAssignStmt:
		p.list(s.Exprs)
	case *ast.FuncCallStmt:
		p.expression(s.Expr)
	case *ast.DoBlockStmt:
		p.block(s.Stmts)
	case *ast.WhileStmt:
		p.expression(s.Condition)
		p.block(s.Stmts)
	case *ast.RepeatStmt:
		p.block(s.Stmts)
		p.expression(s.Condition)
	case *ast.IfStmt:
		p.expression(s.Condition)
		p.block(s.Then)
		p.block(s.Else)
	case *ast.NumberForStmt:
		p.list([]ast.Expr{s.Init, s.Limit, s.Step})
		p.block(s.Stmts)
	case *ast.GenericForStmt:
		p.list(s.Exprs)
		p.block(s.Stmts)
	case *ast.FuncDefStmt:
		p.block(s.Func.Stmts)
	case *ast.ReturnStmt:
		p.list(s.Exprs)
	}
}

func (p *placer) list(exprs []ast.Expr) {
	for _, e := range exprs {
		p.expression(e)
	}
}

func (p *placer) expression(e ast.Expr) {
	switch e := e.(type) {
	case *ast.AttrGetExpr:
		p.list([]ast.Expr{e.Object, e.Key})
	case *ast.TableExpr:
		for _, field := range e.Fields {
			p.list([]ast.Expr{field.Key, field.Value})
		}
	case *ast.FuncCallExpr:
		p.list([]ast.Expr{e.Func, e.Receiver})
		p.calls = append(p.calls, e)
		p.list(e.Args)
	case *ast.LogicalOpExpr:
		p.list([]ast.Expr{e.Lhs, e.Rhs})
	case *ast.RelationalOpExpr:
		p.list([]ast.Expr{e.Lhs, e.Rhs})
	case *ast.StringConcatOpExpr:
		p.list([]ast.Expr{e.Lhs, e.Rhs})
	case *ast.ArithmeticOpExpr:
		p.list([]ast.Expr{e.Lhs, e.Rhs})
	case *ast.UnaryMinusOpExpr:
		p.expression(e.Expr)
	case *ast.UnaryNotOpExpr:
		p.expression(e.Expr)
	case *ast.UnaryLenOpExpr:
		p.expression(e.Expr)
	case *ast.FunctionExpr:
		p.block(e.Stmts)
	}
}
