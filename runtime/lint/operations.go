package lint

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

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
		case p == nil && slices.Contains(s.Refused, name):
			w.report(v.at, UnknownArgument, fmt.Sprintf("%s: %s is no longer an argument of searches", s.FullName(), name),
				fmt.Sprintf(`filter by it: filter = { %s = { ["$eq"] = … } }`, name))
			continue
		case p == nil:
			w.report(v.at, UnknownArgument, s.FullName()+" has no argument "+name, near(name, s.ParamNames(), "it takes "+strings.Join(s.ParamNames(), ", ")))
			continue
		}
		if v.kind == "nil" {
			continue
		}
		given[p.Name] = true
		w.value(s, p, v)
	}
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
