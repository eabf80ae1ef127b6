// Package lint finds mistakes in scripts without running them: syntax, unknown names, arguments that
// operations and functions will refuse, unused variables, unreachable statements.
//
// A Checker walks the syntax tree of a script (statements.go) and records a fact about each expression
// (facts.go): its type, and which module, manager or operation it is. Names and arguments are checked against
// the same declarations as calls at run time (environment.go, operations.go, calls.go; Lua's own library in
// library.go). Only certain mistakes are reported. Begin reading with Checker.Script.
package lint

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/yuin/gopher-lua/ast"

	"transect/runtime/module"
)

// Problem is one finding. Lines and columns count from 1; columns are bytes.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Rule    string `json:"rule"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Checker checks scripts.
type Checker struct {
	env *environment
	// Local returns the file of a module that require finds next to the script, "" for none. Optional.
	Local func(script, module string) string
	// Allowed lists rules that are not applied.
	Allowed []string
}

// New returns a Checker, which knows more modules of the program; see Modules.
func New(more ...*module.Module) *Checker { return &Checker{env: newEnvironment(more)} }

// Script is the result of analysing a script.
type Script struct {
	Problems []Problem      // in the order of lines
	Names    []Name         // in the order of the source
	Exports  map[string]int // fields of a returned module table and where they are assigned, as indexes of Names
	Returned int            // where the variable of that table is declared, an index, or -1

	walk *walk
}

// Script checks one script and returns its problems in the order of lines.
func (c *Checker) Script(file string, code []byte) []Problem { return c.Analyse(file, code).Problems }

// Analyse checks a script and resolves its names. Statements with syntax errors, and everything after an
// unterminated block, are not analysed further.
func (c *Checker) Analyse(file string, code []byte) *Script {
	code = bytes.TrimPrefix(code, []byte("\xef\xbb\xbf"))
	if bytes.HasPrefix(code, []byte("#")) {
		code = append([]byte("--"), code...)
	}
	read := readable(file, code)
	// The first walk only finds reassigned variables.
	first := newWalk(c, file, read, nil)
	first.chunk(read.chunk)
	second := newWalk(c, file, read, first.reassigned)
	second.chunk(read.chunk)
	found := second.problems
	if len(read.problems) > 0 { // unparsed parts may use and declare any names
		found = slices.DeleteFunc(found, func(p Problem) bool {
			return p.Rule == UnusedVariable || p.Rule == UndeclaredGlobal || p.Rule == AssignedGlobal
		})
	}
	s := &Script{Problems: c.filter(append(read.problems, found...), code), Names: second.tokens.names, walk: second}
	s.Exports, s.Returned = second.exports(read.chunk)
	return s
}

// filter sorts the problems and removes allowed ones.
func (c *Checker) filter(problems []Problem, code []byte) []Problem {
	allowed := allowancesOf(code)
	problems = slices.DeleteFunc(problems, func(p Problem) bool {
		return slices.Contains(c.Allowed, p.Rule) || allowed.cover(p)
	})
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return problems
}

// walk is one pass over a script.
type walk struct {
	*Checker
	file      string
	tokens    *tokens
	plain     bool // the script creates no callable tables
	scope     *scope
	problems  []Problem
	facts     map[ast.Expr]fact     // of each visited expression
	positions map[ast.Expr]position // of names and constants

	kept       map[int]map[string]int // the fields assigned to table variables, by their declarations
	seen       map[string]fact        // the variables at the cursor
	unread     map[string]bool        // names that unparsed parts may assign
	unnamed    bool                   // unparsed parts may declare any name
	partial    bool                   // there are unparsed parts
	reassigned map[declaration]bool   // variables assigned to after their declaration
	final      bool                   // reassigned is complete
	assigned   map[string]position    // globals the script defines
	read       []use                  // globals the script reads
	testedFor  []string               // globals of other Luas that the script tests for
	others     bool                   // functions may have other globals
}

// use is a read of a global.
type use struct {
	name string
	position
}

// position is a line and a column.
type position struct{ line, column int }

func newWalk(c *Checker, file string, read *reading, reassigned map[declaration]bool) *walk {
	code := read.code
	w := &walk{Checker: c, file: file, tokens: newTokens(read.left), plain: !bytes.Contains(code, []byte("setmetatable")),
		unread: read.unread, unnamed: read.unnamed, partial: len(read.problems) > 0, kept: map[int]map[string]int{},
		facts: map[ast.Expr]fact{}, positions: map[ast.Expr]position{},
		reassigned: reassigned, final: reassigned != nil, others: bytes.Contains(code, []byte("setfenv")),
		assigned: map[string]position{}}
	if !w.final {
		w.reassigned = map[declaration]bool{}
	}
	return w
}

func (w *walk) chunk(stmts []ast.Stmt) {
	w.block(stmts)
	w.globals()
}

func (w *walk) report(at position, rule, message, hint string) {
	w.problems = append(w.problems, Problem{File: w.file, Line: at.line, Column: at.column, Rule: rule,
		Message: message, Hint: hint})
}
