package lint

import (
	"strings"

	"github.com/yuin/gopher-lua/ast"
)

// declaration tells the places apart where variables are declared.
type declaration struct {
	node any // statement or function
	n    int // which of its names
}

// variable is a local one.
type variable struct {
	name      string
	place     place
	from      declaration
	known     fact // what its first value is
	used      bool
	optional  bool // nobody minds when it is not used
	parameter bool // of a function
}

// scope is a block with its variables.
type scope struct {
	outer *scope
	vars  []*variable
}

func (w *walk) open() { w.scope = &scope{outer: w.scope} }

// close ends a block and tells of variables nobody read. Of a row of names only
// the last ones count: the first ones are needed to reach the others.
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
			w.report(v.place, UnusedVariable, "the variable "+v.name+" is never read", "remove it, or begin its name with _")
		}
	}
	w.scope = w.scope.outer
}

func (w *walk) declare(name string, at place, from declaration, known fact) *variable {
	if w.settled && w.reassigned[from] {
		known = fact{}
	}
	v := &variable{name: name, place: at, from: from, known: known}
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

// globals tells of the globals that nobody makes, and of those the script does.
func (w *walk) globals() {
	for _, u := range w.read {
		if _, own := w.assigned[u.name]; own || w.world.global(u.name) {
			continue
		}
		hint := w.world.nearGlobal(u.name)
		w.report(u.place, UndeclaredGlobal, "there is no variable "+u.name, hint)
	}
	for name, at := range w.assigned {
		if !w.world.global(name) {
			w.report(at, AssignedGlobal, name+" becomes a global variable", "write local "+name+" where it begins")
		}
	}
}

// assign notes that a variable or global gets a value.
func (w *walk) assign(e *ast.IdentExpr) {
	at := w.at.of(e.Line(), e.Value)
	if v := w.find(e.Value); v != nil {
		w.reassigned[v.from] = true
		return
	}
	if _, before := w.assigned[e.Value]; !before {
		w.assigned[e.Value] = at
	}
}
