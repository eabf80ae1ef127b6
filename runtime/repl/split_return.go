package repl

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"

	"transect/runtime/lint"
)

var returnWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\breturn\b`) })

// splitReturn splits a chunk before its final return and gives the returned
// expressions. The syntax tree has no columns: the chunk is split where both
// halves parse.
func splitReturn(text string) (before, values string, ok bool) {
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

// returnsEarly reports whether a chunk may return before its end.
func returnsEarly(text string) bool {
	chunk, err := parse.Parse(strings.NewReader(text), "")
	if err != nil {
		return false
	}
	var returns func([]ast.Stmt) bool
	returns = func(stmts []ast.Stmt) bool {
		return slices.ContainsFunc(stmts, func(s ast.Stmt) bool { return isReturn(s) || slices.ContainsFunc(lint.Blocks(s), returns) })
	}
	return slices.ContainsFunc(chunk, func(s ast.Stmt) bool { return slices.ContainsFunc(lint.Blocks(s), returns) })
}
