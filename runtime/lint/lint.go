// Package lint finds mistakes in scripts without running them: what does not
// parse, names that do not exist, arguments that operations and functions will
// refuse, variables nobody reads, statements nothing reaches. What exists is
// read off the same declarations that calls are checked by at run time.
package lint

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/yuin/gopher-lua/ast"
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

// The rules.
const (
	Syntax           = "syntax"
	UndeclaredGlobal = "undeclared-global"
	AssignedGlobal   = "assigned-global"
	UnknownModule    = "unknown-module"
	UnknownManager   = "unknown-manager"
	UnknownOperation = "unknown-operation"
	UnknownFunction  = "unknown-function"
	UnknownArgument  = "unknown-argument"
	MissingArgument  = "missing-argument"
	TooManyArguments = "too-many-arguments"
	WrongType        = "wrong-type"
	WrongValue       = "wrong-value"
	WrongCall        = "wrong-call"
	UnusedVariable   = "unused-variable"
	Unreachable      = "unreachable-code"
	DuplicateKey     = "duplicate-key"
	NoValue          = "no-value"
	UnusedValue      = "unused-value"
	SameAlways       = "same-always"
	NoIterator       = "no-iterator"
	Hidden           = "hidden-name"
	ReadOnly         = "read-only"
)

// ignored on a line silences what is found there.
const ignored = "-- check: ignore"

// Checker checks scripts against everything scripts can use.
type Checker struct {
	world *world
	// Local tells whether require finds a module of that name among the files
	// beside the script. Nothing is known of such modules. Optional.
	Local func(script, module string) bool
}

// New makes a Checker.
func New() *Checker { return &Checker{world: newWorld()} }

// Script checks one script and gives what was found, in the order of lines.
func (c *Checker) Script(file string, code []byte) []Problem {
	code = bytes.TrimPrefix(code, []byte("\xef\xbb\xbf"))
	if bytes.HasPrefix(code, []byte("#")) {
		code = append([]byte("--"), code...)
	}
	chunk, problem := parsed(file, code)
	if problem != nil {
		return []Problem{*problem}
	}
	// The first walk only finds out which variables are assigned to again.
	first := newWalk(c, file, code, nil)
	first.chunk(chunk)
	second := newWalk(c, file, code, first.reassigned)
	second.chunk(chunk)
	return kept(second.problems, code)
}

// kept sorts the problems and leaves out those of lines that say so.
func kept(problems []Problem, code []byte) []Problem {
	lines := strings.Split(string(code), "\n")
	problems = slices.DeleteFunc(problems, func(p Problem) bool {
		return p.Line <= len(lines) && p.Line > 0 && strings.Contains(lines[p.Line-1], ignored)
	})
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return problems
}

// walk goes once through a script.
type walk struct {
	*Checker
	file     string
	at       *positions
	scope    *scope
	problems []Problem
	facts    map[ast.Expr]fact  // of each expression walked
	where    map[ast.Expr]place // of names and constants

	reassigned map[declaration]bool // what this walk finds, or the one before found
	settled    bool                 // reassigned is known
	assigned   map[string]place     // globals the script makes itself
	read       []use                // globals it reads
}

// use is a global that is read somewhere.
type use struct {
	name string
	place
}

// place is a line and a column.
type place struct{ line, column int }

func newWalk(c *Checker, file string, code []byte, reassigned map[declaration]bool) *walk {
	w := &walk{Checker: c, file: file, at: newPositions(code), facts: map[ast.Expr]fact{}, where: map[ast.Expr]place{},
		reassigned: reassigned, settled: reassigned != nil, assigned: map[string]place{}}
	if !w.settled {
		w.reassigned = map[declaration]bool{}
	}
	return w
}

func (w *walk) chunk(stmts []ast.Stmt) {
	w.block(stmts)
	w.globals()
}

func (w *walk) report(at place, rule, message, hint string) {
	w.problems = append(w.problems, Problem{File: w.file, Line: at.line, Column: at.column, Rule: rule, Message: message, Hint: hint})
}
