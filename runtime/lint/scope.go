package lint

import (
	"slices"
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

// close ends a block and reports unused variables. In a declaration of several names, names before a used one
// are needed.
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
	simple := slices.Contains([]string{"nil", "boolean", "number", "string"}, known.kind)
	unparsed := w.unread[name] || w.unnamed || simple && w.partial // unparsed parts may assign it
	if w.final && w.reassigned[from] || unparsed {
		known = fact{}
	}
	v := &variable{name: name, position: at, from: from, known: known}
	w.tokens.declare(at, known)
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
		if _, own := w.assigned[u.name]; own || w.others || w.env.global(u.name) || slices.Contains(w.testedFor, u.name) {
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
	n := w.tokens.at(at)
	n.Assigned = true
	if v := w.find(e.Value); v != nil {
		n.Declared = w.tokens.declaredAt(v.position)
		w.reassigned[v.from] = true
		return
	}
	n.Global = true
	if _, before := w.assigned[e.Value]; !before {
		w.assigned[e.Value] = at
	}
}

// stores records that a field is assigned to the table of a variable.
func (w *walk) stores(object, field ast.Expr, at position) {
	name, named := object.(*ast.IdentExpr)
	key, ok := field.(*ast.StringExpr)
	if !named || !ok {
		return
	}
	if n := w.tokens.at(w.positions[name]); n.Declared >= 0 {
		w.export(n.Declared, key.Value, at)
	}
}

func (w *walk) export(table int, field string, at position) {
	w.tokens.at(at).Assigned = true
	if w.kept[table] == nil {
		w.kept[table] = map[string]int{}
	}
	if _, before := w.kept[table][field]; !before {
		w.kept[table][field] = w.tokens.declaredAt(at)
	}
}

// exports returns the fields of the table that the last statement returns, and where its variable is
// declared.
func (w *walk) exports(chunk []ast.Stmt) (fields map[string]int, table int) {
	if len(chunk) == 0 {
		return nil, -1
	}
	last, ok := chunk[len(chunk)-1].(*ast.ReturnStmt)
	if !ok || len(last.Exprs) != 1 {
		return nil, -1
	}
	switch e := last.Exprs[0].(type) {
	case *ast.IdentExpr:
		table = w.tokens.at(w.positions[e]).Declared
		return w.kept[table], table
	case *ast.TableExpr:
		w.exported(returned, e)
		return w.kept[returned], -1
	}
	return nil, -1
}

// returned is the placeholder variable of a table constructor that is returned directly.
const returned = -2

// exported records the fields of a table constructor: where the value is declared if it is a variable, else
// where the field is given.
func (w *walk) exported(table int, e *ast.TableExpr) {
	for _, f := range e.Fields {
		key, ok := f.Key.(*ast.StringExpr)
		if !ok {
			continue
		}
		w.export(table, key.Value, w.positions[key])
		if value, ok := f.Value.(*ast.IdentExpr); ok {
			if declared := w.tokens.at(w.positions[value]).Declared; declared >= 0 {
				w.kept[table][key.Value] = declared
			}
		}
	}
}
