package compile

import "github.com/yuin/gopher-lua/ast"

// SourceLines are the lines that errors have in Lua 5.1 and that the parser
// does not keep: it knows where an expression begins.
type SourceLines struct {
	calls []int       // where the arguments of each call begin, in the order of the source
	texts map[int]int // where a text of several lines ends, by the line where it begins
}

// Place sets the lines in a tree. When there are not as many calls as lines of calls,
// these stay as they are.
func (lines *SourceLines) Place(stmts []ast.Stmt) {
	p := &placer{texts: map[int]*ast.StringExpr{}}
	p.block(stmts)
	for begin, end := range lines.texts {
		if text := p.texts[begin]; text != nil {
			text.SetLine(end)
		}
	}
	if len(p.calls) != len(lines.calls) {
		return
	}
	for i, call := range p.calls {
		call.SetLine(lines.calls[i])
	}
}

// placer lists the calls of a tree in the order of the source, and its texts.
type placer struct {
	calls []*ast.FuncCallExpr
	texts map[int]*ast.StringExpr // the last one that begins on each line
}

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
	case *ast.StringExpr:
		p.texts[e.Line()] = e
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
