package lint

import (
	"strings"

	"github.com/yuin/gopher-lua/ast"
)

// declaration identifies where a variable is declared.
type declaration struct {
	node any // statement or function
	n    int // index of the name
}

// variable is a local variable.
type variable struct {
	name      string
	position  position
	from      declaration
	known     fact // about its first value
	used      bool
	optional  bool // may be unused
	parameter bool // of a function
}

// scope is a block with its variables.
type scope struct {
	outer *scope
	vars  []*variable
}

func (w *walk) open() { w.scope = &scope{outer: w.scope} }

// close ends a block and reports unused variables. Of several names in one
// declaration, those before a used one are needed.
func (w *walk) close() {
	for i, v := range w.scope.vars {
		if v.used || v.optional || strings.HasPrefix(v.name, "_") {
			continue
		}
		needed := false
		for _, later := range w.scope.vars[i+1:] {
			needed = needed || later.from.node == v.from.node && later.used
		}
		if !needed {
			w.report(v.position, UnusedVariable, "the variable "+v.name+" is never used", "remove it, or begin its name with _")
		}
	}
	w.scope = w.scope.outer
}

func (w *walk) declare(name string, at position, from declaration, known fact) *variable {
	if w.final && w.reassigned[from] {
		known = fact{}
	}
	v := &variable{name: name, position: at, from: from, known: known}
	w.scope.vars = append(w.scope.vars, v)
	return v
}

func (w *walk) find(name string) *variable {
	for s := w.scope; s != nil; s = s.outer {
		for i := len(s.vars) - 1; i >= 0; i-- {
			if s.vars[i].name == name {
				return s.vars[i]
			}
		}
	}
	return nil
}

// globals reports undefined globals, and globals defined by the script.
func (w *walk) globals() {
	for _, u := range w.read {
		if _, own := w.assigned[u.name]; own || w.others || w.env.global(u.name) {
			continue
		}
		hint := w.env.suggestGlobal(u.name)
		w.report(u.position, UndeclaredGlobal, "undefined variable "+u.name, hint)
	}
	for name, at := range w.assigned {
		if !w.env.global(name) {
			w.report(at, AssignedGlobal, name+" is assigned as a global variable", "declare it with local "+name)
		}
	}
}

// assign records an assignment to a variable or global.
func (w *walk) assign(e *ast.IdentExpr) {
	at := w.tokens.of(e.Line(), e.Value)
	if v := w.find(e.Value); v != nil {
		w.reassigned[v.from] = true
		return
	}
	if _, before := w.assigned[e.Value]; !before {
		w.assigned[e.Value] = at
	}
}
