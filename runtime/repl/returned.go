package repl

import (
	"regexp"
	"strings"
	"sync"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

var returnWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\breturn\b`) })

// returned splits a chunk that ends with a return before it, and gives what
// follows the word. The syntax tree knows lines only: the place is the one
// where both halves are Lua.
func returned(text string) (before, values string, ok bool) {
	chunk, err := parse.Parse(strings.NewReader(text), "")
	if err != nil || len(chunk) == 0 || !isReturn(chunk[len(chunk)-1]) {
		return text, "", false
	}
	for _, at := range returnWord().FindAllStringIndex(text, -1) {
		end, err := parse.Parse(strings.NewReader(text[at[0]:]), "")
		if err != nil || len(end) != 1 || !isReturn(end[0]) {
			continue
		}
		if first, err := parse.Parse(strings.NewReader(text[:at[0]]), ""); err == nil && len(first) == len(chunk)-1 {
			return text[:at[0]], strings.Trim(text[at[1]:], "; \t\r\n"), true
		}
	}
	return text, "", false
}

func isReturn(s ast.Stmt) bool {
	_, ok := s.(*ast.ReturnStmt)
	return ok
}

// leavesEarly tells whether a chunk may return before its end.
func leavesEarly(text string) bool {
	chunk, err := parse.Parse(strings.NewReader(text), "")
	if err != nil {
		return false
	}
	for _, s := range chunk {
		if !isReturn(s) && hasReturn(s) {
			return true
		}
	}
	return false
}

func hasReturn(s ast.Stmt) bool {
	var inner []ast.Stmt
	switch s := s.(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.DoBlockStmt:
		inner = s.Stmts
	case *ast.WhileStmt:
		inner = s.Stmts
	case *ast.RepeatStmt:
		inner = s.Stmts
	case *ast.NumberForStmt:
		inner = s.Stmts
	case *ast.GenericForStmt:
		inner = s.Stmts
	case *ast.IfStmt:
		inner = append(append(inner, s.Then...), s.Else...)
	}
	for _, each := range inner {
		if hasReturn(each) {
			return true
		}
	}
	return false
}
