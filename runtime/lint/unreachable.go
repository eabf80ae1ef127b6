package lint

import (
	"slices"

	"github.com/yuin/gopher-lua/ast"
)

// leaves reports whether control never continues after a statement.
func (w *walk) leaves(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ReturnStmt, *ast.BreakStmt, *ast.GotoStmt:
		return true
	case *ast.FuncCallStmt:
		return w.ends(s.Expr)
	case *ast.DoBlockStmt:
		return w.anyLeaves(s.Stmts)
	case *ast.IfStmt:
		return len(s.Else) > 0 && w.anyLeaves(s.Then) && w.anyLeaves(s.Else)
	case *ast.WhileStmt:
		_, forever := s.Condition.(*ast.TrueExpr)
		return forever && !breaks(s.Stmts)
	case *ast.RepeatStmt:
		_, forever := s.Condition.(*ast.FalseExpr)
		return forever && !breaks(s.Stmts)
	}
	return false
}

func (w *walk) anyLeaves(stmts []ast.Stmt) bool {
	for _, s := range stmts {
		if _, label := s.(*ast.LabelStmt); label {
			return false // a goto may lead there
		}
		if w.leaves(s) {
			return true
		}
	}
	return false
}

// ends reports whether a call does not return.
func (w *walk) ends(e ast.Expr) bool {
	call, ok := e.(*ast.FuncCallExpr)
	if !ok {
		return false
	}
	f := w.facts[call.Func]
	return f.builtin == "error" || f.standard == "os.exit" || f.function != nil && f.name == "script.exit"
}

// breaks reports whether a loop's body may leave the loop; a goto may.
func breaks(stmts []ast.Stmt) bool {
	return slices.ContainsFunc(stmts, func(s ast.Stmt) bool {
		switch s.(type) {
		case *ast.BreakStmt, *ast.GotoStmt:
			return true
		case *ast.DoBlockStmt, *ast.IfStmt:
			return slices.ContainsFunc(Blocks(s), breaks)
		}
		return false
	})
}

// Blocks lists the blocks of a statement, excluding functions.
func Blocks(s ast.Stmt) [][]ast.Stmt {
	switch s := s.(type) {
	case *ast.DoBlockStmt:
		return [][]ast.Stmt{s.Stmts}
	case *ast.WhileStmt:
		return [][]ast.Stmt{s.Stmts}
	case *ast.RepeatStmt:
		return [][]ast.Stmt{s.Stmts}
	case *ast.NumberForStmt:
		return [][]ast.Stmt{s.Stmts}
	case *ast.GenericForStmt:
		return [][]ast.Stmt{s.Stmts}
	case *ast.IfStmt:
		return [][]ast.Stmt{s.Then, s.Else}
	}
	return nil
}

// returns reports whether a function's body returns a value.
func returns(stmts []ast.Stmt) bool {
	return slices.ContainsFunc(stmts, func(s ast.Stmt) bool {
		if r, ok := s.(*ast.ReturnStmt); ok && len(r.Exprs) > 0 {
			return true
		}
		return slices.ContainsFunc(Blocks(s), returns)
	})
}
