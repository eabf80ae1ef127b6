package lint

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/filters"
	"transect/client/schema"
)

// fields lists the named fields of a table constructor; complete is false if it has others.
func (w *walk) fields(t *ast.TableExpr) (given map[string]argument, complete bool) {
	given, complete = map[string]argument{}, true
	for _, f := range t.Fields {
		key, named := f.Key.(*ast.StringExpr)
		if !named {
			complete = false
			continue
		}
		given[key.Value] = argument{w.facts[f.Value], f.Value,
			w.positionOf(key, w.positionOf(f.Value, w.tokens.line(key.Line())))}
	}
	return given, complete
}

// operation checks a call of an operation: named arguments in one table, or
// positional ones followed by such a table.
func (w *walk) operation(s *declare.Spec, args []argument, at position) {
	given := map[string]bool{}
	complete := !openEnded(args)
	var last *declare.Table
	var table *ast.TableExpr
	if n := len(args); n > 0 {
		switch a := args[n-1]; {
		case a.kind != "table" && a.kind != "":
		case a.table != nil:
			values, all := w.fields(a.table)
			keys := slices.Collect(maps.Keys(values))
			table, last = a.table, &declare.Table{Keys: keys, List: !all && !slices.ContainsFunc(keys, s.Names)}
		default: // the content of a variable is unknown
			complete = false
		}
		if !complete {
			args = args[:n-1]
		}
	}
	positional, named, err := s.Bind(len(args), last)
	if err != nil && last != nil && last.List { // its other keys may be names, too
		last.List = false
		positional, named, err = s.Bind(len(args), last)
	}
	if err != nil {
		f := fault.Find(err).Facts()
		w.report(args[len(positional)].at, TooManyArguments, s.FullName()+" "+f.Message, f.Hint)
		return
	}
	for i, p := range positional {
		given[p.Name] = args[i].kind != "nil"
		w.value(s, p, args[i])
	}
	if named {
		complete = w.namedArguments(s, table, given)
	}
	for i := range s.Params {
		if p := &s.Params[i]; p.Required() && !given[p.Name] && complete {
			w.report(at, MissingArgument, s.FullName()+": argument "+p.Missing(), "call it as "+s.Signature())
		}
	}
}

func (w *walk) namedArguments(s *declare.Spec, table *ast.TableExpr, given map[string]bool) (complete bool) {
	values, complete := w.fields(table)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		v := values[name]
		p := s.Param(name)
		switch {
		case name == "extra":
			continue
		case p == nil:
			if f := fault.Find(s.Undeclared(name)); f != nil {
				w.report(v.at, UnknownArgument, s.FullName()+": "+f.Facts().Message, f.Facts().Hint)
			} else if unnamed := s.Unnamed(map[string]any{name: true}); len(unnamed) > 0 {
				w.report(v.at, UnknownArgument, unnamed[0], "extra = { … } marks it as intended")
			}
			continue
		}
		w.argument(s.FullName(), p.Name, v)
		if v.kind == "nil" {
			continue
		}
		given[p.Name] = true
		w.value(s, p, v)
	}
	w.searched(s, table)
	return complete
}

// argument records that a name in a table is an argument's.
func (w *walk) argument(called, name string, a argument) {
	n := w.tokens.at(a.at)
	n.Reference, n.Parameter = called, name
}

// value checks an argument whose value or type is known.
func (w *walk) value(s *declare.Spec, p *schema.Param, a argument) {
	v, ok := w.constant(a.fact)
	var err error
	switch tables := schema.Table | schema.List | schema.EmptyTable; {
	case ok:
		_, err = p.Check(v)
	case a.kind == "function" && p.Type.Kinds()&schema.Function == 0, a.kind == "table" && p.Type.Kinds()&tables == 0:
		err = fmt.Errorf("%s %w", p.Name, &schema.Mismatch{Want: p.Type, Got: "a " + a.kind})
	}
	if err == nil {
		return
	}
	rule, hint := WrongValue, p.Doc
	if f := fault.Find(err); f != nil && f.Facts().Hint != "" {
		hint = f.Facts().Hint
	}
	if mismatch := (*schema.Mismatch)(nil); errors.As(err, &mismatch) {
		rule = WrongType
	}
	w.report(a.at, rule, fmt.Sprintf("%s: argument %s", s.FullName(), err), hint)
}

// constant converts a completely known value to the types of the client.
func (w *walk) constant(f fact) (any, bool) {
	switch v := f.constant.(type) {
	case lua.LString:
		return string(v), true
	case lua.LNumber:
		return float64(v), true
	case lua.LBool:
		return bool(v), true
	}
	if f.table == nil {
		return nil, false
	}
	if len(f.table.Fields) == 0 {
		return schema.Empty{}, true
	}
	var list []any
	object := map[string]any{}
	for _, field := range f.table.Fields {
		v, ok := w.constant(w.facts[field.Value])
		if !ok {
			return nil, false
		}
		switch key := field.Key.(type) {
		case nil:
			list = append(list, v)
		case *ast.StringExpr:
			object[key.Value] = v
		default:
			return nil, false
		}
	}
	switch {
	case len(list) > 0 && len(object) > 0:
		return nil, false
	case len(list) > 0:
		return list, true
	}
	return object, true
}

// searched reports arguments of a search that cannot be intended.
func (w *walk) searched(s *declare.Spec, t *ast.TableExpr) {
	if s.Param("filter") == nil {
		return
	}
	values, _ := w.partly(t).(map[string]any)
	for _, m := range filters.Mistakes(s, values) {
		rule := WrongValue
		if m.Misspelt {
			rule = UnknownField
		}
		w.report(w.located(t, m.Name), rule, fmt.Sprintf("%s: %s: %s", s.FullName(), m.Argument, m.Text), m.Hint)
	}
	for _, f := range t.Fields {
		key, _ := f.Key.(*ast.StringExpr)
		if filter, ok := f.Value.(*ast.TableExpr); ok && key != nil && key.Value == "filter" {
			w.conditions(s, filter)
		}
	}
}

// conditions reports values of a filter that are nil.
func (w *walk) conditions(s *declare.Spec, filter *ast.TableExpr) {
	for _, f := range filter.Fields {
		key, named := f.Key.(*ast.StringExpr)
		if inner, ok := f.Value.(*ast.TableExpr); ok {
			w.conditions(s, inner)
		} else if named && w.facts[f.Value].kind == "nil" {
			w.report(w.positionOf(key, w.at(key)), WrongValue, s.FullName()+": filter: "+key.Value+
				" is nil, which is not a condition", "the search ignores it")
		}
	}
}

// partly returns a table constructor with the known values; others are nil.
func (w *walk) partly(e ast.Expr) any {
	t, ok := e.(*ast.TableExpr)
	if !ok {
		v, _ := w.constant(w.facts[e])
		return v
	}
	object, list := map[string]any{}, []any{}
	for _, f := range t.Fields {
		if key, ok := f.Key.(*ast.StringExpr); ok {
			object[key.Value] = w.partly(f.Value)
		} else if f.Key == nil {
			list = append(list, w.partly(f.Value))
		}
	}
	if len(list) > 0 {
		return list
	}
	return object
}

// located returns the position of a name in a table constructor.
func (w *walk) located(t *ast.TableExpr, name string) position {
	for _, f := range t.Fields {
		for _, e := range []ast.Expr{f.Key, f.Value} {
			switch e := e.(type) {
			case *ast.StringExpr:
				if e.Value == name {
					return w.at(e)
				}
			case *ast.TableExpr:
				if at := w.located(e, name); at != (position{}) {
					return at
				}
			}
		}
	}
	return position{}
}
