package lint

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"transect/client"
	"transect/client/declare"
	"transect/client/fault"
	"transect/client/schema"
)

// fields lists the named fields of a table constructor; complete is false when
// it has others.
func (w *walk) fields(t *ast.TableExpr) (given map[string]argument, complete bool) {
	given, complete = map[string]argument{}, true
	for _, f := range t.Fields {
		key, named := f.Key.(*ast.StringExpr)
		if !named {
			complete = false
			continue
		}
		given[key.Value] = argument{w.facts[f.Value], f.Value, w.positionOf(key, w.positionOf(f.Value, w.tokens.line(key.Line())))}
	}
	return given, complete
}

// operation checks a call of an operation: named arguments in one table, or
// positional ones followed by such a table.
func (w *walk) operation(s *declare.Spec, args []argument, at position) {
	positional := s.Positional()
	given := map[string]bool{}
	complete := !openEnded(args)
	for i, a := range args {
		last := i == len(args)-1
		if last && (a.kind == "table" || a.kind == "") && w.named(s, a, len(positional), i) {
			// The content of a variable is unknown.
			complete = complete && a.table != nil && w.namedArguments(s, a, given)
			break
		}
		if last && !complete {
			break
		}
		if i >= len(positional) {
			w.report(a.at, TooManyArguments, fmt.Sprintf("%s takes at most %d by position", s.FullName(), len(positional)), "call it as "+s.Signature())
			return
		}
		given[positional[i].Name] = a.kind != "nil"
		w.value(s, positional[i], a)
	}
	for i := range s.Params {
		if p := &s.Params[i]; p.Required() && !given[p.Name] && complete {
			w.report(at, MissingArgument, s.FullName()+": argument "+p.Missing(), "call it as "+s.Signature())
		}
	}
}

// named reports whether the last argument is a table of named ones.
func (w *walk) named(s *declare.Spec, a argument, positional, at int) bool {
	if a.table == nil {
		return true
	}
	given, complete := w.fields(a.table)
	keys := slices.Collect(maps.Keys(given))
	return s.TakesNamed(keys, !complete && at < positional && !slices.ContainsFunc(keys, s.Names), at)
}

func (w *walk) namedArguments(s *declare.Spec, a argument, given map[string]bool) (complete bool) {
	values, complete := w.fields(a.table)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		v := values[name]
		p := s.Param(name)
		switch {
		case name == "extra":
			continue
		case p == nil:
			if f := fault.Find(s.Undeclared(name)); f != nil {
				w.report(v.at, UnknownArgument, s.FullName()+": "+f.Facts().Message, f.Facts().Hint)
			}
			continue
		}
		if v.kind == "nil" {
			continue
		}
		given[p.Name] = true
		w.value(s, p, v)
	}
	w.searched(s, a.table)
	return complete
}

// value checks an argument whose value or type is known.
func (w *walk) value(s *declare.Spec, p *schema.Param, a argument) {
	v, known := w.constant(a.fact)
	var err error
	switch tables := schema.Table | schema.List | schema.EmptyTable; {
	case known:
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

// constant is a completely known value in the types of the client.
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
		v, known := w.constant(w.facts[field.Value])
		if !known {
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

// searched reports misspelt fields in the arguments of a search.
func (w *walk) searched(s *declare.Spec, t *ast.TableExpr) {
	values, _ := names(t).(map[string]any)
	for _, m := range client.FieldMistakes(s, values) {
		w.report(w.located(t, m.Name), UnknownField, fmt.Sprintf("%s: %s: a %s has no field %s", s.FullName(), m.Argument, declare.Singular(s.Manager), m.Name),
			"did you mean "+m.Meant+"?")
	}
}

// names is a table constructor with its keys and texts; other values are unknown.
func names(e ast.Expr) any {
	switch e := e.(type) {
	case *ast.StringExpr:
		return e.Value
	case *ast.TableExpr:
		object, list := map[string]any{}, []any{}
		for _, f := range e.Fields {
			if key, ok := f.Key.(*ast.StringExpr); ok {
				object[key.Value] = names(f.Value)
			} else if f.Key == nil {
				list = append(list, names(f.Value))
			}
		}
		if len(list) > 0 {
			return list
		}
		return object
	}
	return nil
}

// located is the position of a name in a table constructor.
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
