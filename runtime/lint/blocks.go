package lint

import (
	"slices"

	"github.com/yuin/gopher-lua/ast"
)

// Blocks lists the blocks of a statement, without those of functions.
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
