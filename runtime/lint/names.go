package lint

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"transect/client"
	"transect/client/suggest"
	"transect/runtime/vm/mistake"
)

// attribute checks a field access, and records the meaning of the field's name.
func (w *walk) attribute(e *ast.AttrGetExpr) fact {
	f := w.field(e)
	n, object := w.tokens.at(w.positions[e]), w.facts[e.Object]
	if table, ok := e.Object.(*ast.IdentExpr); ok {
		n.Table = w.tokens.at(w.positions[table]).Declared
	}
	n.means(f)
	if object.local != "" {
		n.Module, n.Member = object.local, true
	}
	if t := client.RecordTypeOf(object.records); object.resource && t != nil && t.Field(n.Text) != nil {
		n.Reference = t.Name + "." + n.Text
	}
	return f
}

// field checks a field access, and reports names that modules and managers do not have.
func (w *walk) field(e *ast.AttrGetExpr) fact {
	object := w.expression(e.Object)
	key, ok := e.Key.(*ast.StringExpr)
	if !ok {
		return w.element(e, object, w.expression(e.Key))
	}
	at, name := w.tokens.key(key.Line(), key.Value), key.Value
	w.positions[e] = at
	w.indexed(object, name, at)
	members := w.members(object)
	switch {
	case object.sdk:
		w.among(members, name, at, UnknownManager, "unknown manager "+name, "transect doc lists them")
	case object.manager != nil:
		m := object.manager
		w.among(members, name, at, UnknownOperation, m.Name+" has no operation "+name, "transect doc "+m.Name+" lists them")
	case object.module != nil && object.module.Open == nil:
		m := object.module
		w.among(members, name, at, UnknownFunction, m.Name+" has no "+name,
			cmp.Or(mistake.Member(name), "transect doc "+m.Name+" lists its functions"))
	case object.library != "":
		w.among(members, name, at, UnknownFunction, "Lua's "+object.library+" has no "+name, mistake.Member(name))
	case object.object != nil && object.object.Get == nil:
		w.among(members, name, at, UnknownFunction, "a "+object.object.Name+" has no "+name,
			"it has "+strings.Join(members, ", "))
	case object.names != nil:
		w.among(members, name, at, UnknownArgument, "script.args does not declare the argument "+name,
			"it declares "+strings.Join(members, ", "))
	}
	return w.part(object, name)
}

// part returns the fact about a field of a value.
func (w *walk) part(object fact, key string) fact {
	called := object.name + "." + key
	switch {
	case object.sdk && w.env.managers[key] != nil:
		return fact{kind: "table", manager: w.env.managers[key], name: called}
	case object.sdk:
		if f := function(w.env.sdk.Funcs, key); f != nil {
			return fact{kind: "function", function: f, name: called, full: "sdk." + key}
		}
	case object.manager != nil:
		if spec := object.manager.Op(key); spec != nil {
			return fact{kind: "function", operation: spec, name: called}
		}
	case object.module != nil:
		if f := function(object.module.Funcs, key); f != nil {
			full := object.module.Name + "." + key
			return fact{kind: "function", function: f, name: full, full: full}
		}
	case object.library != "":
		return fact{standard: object.library + "." + key, name: object.library + "." + key}
	case object.object != nil && function(object.object.Methods, key) != nil:
		return fact{kind: "function", bound: key, name: called}
	case object.resource && object.records != "":
		if r := client.RecordTypeOf(object.records); r != nil && r.Field(key) != nil {
			return fact{field: r.Field(key).Type, name: key}
		}
	}
	return fact{}
}

// members returns the names of the fields of a value.
func (w *walk) members(f fact) (names []string) {
	switch {
	case f.sdk:
		return append(fields(w.env.sdk), slices.Sorted(maps.Keys(w.env.managers))...)
	case f.manager != nil:
		for _, s := range f.manager.Ops() {
			names = append(append(names, s.Name), s.Aliases...)
		}
	case f.module != nil:
		return fields(f.module)
	case f.library != "":
		return w.env.libraries[f.library]
	case f.object != nil:
		return functions(f.object.Methods)
	case f.names != nil:
		return f.names
	case f.kind == "string":
		return w.env.libraries["string"]
	case f.resource:
		if t := client.RecordTypeOf(f.records); t != nil {
			for _, field := range t.Fields {
				names = append(names, field.Name)
			}
		}
	}
	return names
}

// element checks an access by number and returns its fact.
func (w *walk) element(e *ast.AttrGetExpr, object, index fact) fact {
	n, number := index.constant.(lua.LNumber)
	switch {
	case !number || !object.list && !strings.HasPrefix(object.field, "list of "):
		return fact{}
	case n == 0:
		w.report(w.at(e.Key), WrongValue, "a list has no element 0", mistake.Zero)
		return fact{}
	case n < 0:
		w.report(w.at(e.Key), WrongValue, "a list has no negative elements", mistake.Last)
		return fact{}
	case object.records != "":
		return fact{resource: true, records: object.records, name: object.name}
	}
	return fact{}
}

// among reports a name that is not a known one.
func (w *walk) among(names []string, name string, at position, rule, message, otherwise string) {
	if !slices.Contains(names, name) {
		w.report(at, rule, message, near(name, names, otherwise))
	}
}

// required returns the result of require.
func (w *walk) required(args []argument) fact {
	if len(args) != 1 || args[0].constant == nil || args[0].kind != "string" {
		return fact{}
	}
	name, at := string(args[0].constant.(lua.LString)), args[0].at
	file := ""
	if short, is := strings.CutPrefix(name, "transect."); is && w.env.has(short) {
		name = short
	} else if w.Local != nil {
		file = w.Local(w.file, name)
	}
	if file != "" {
		if w.env.has(name) {
			w.report(at, OwnModule, file+" is read in place of the built-in module "+name+" if it returns something",
				`require("transect.`+name+`") is the built-in one`)
		}
		w.tokens.at(at).Module = name
		return fact{local: name}
	}
	switch {
	case name == "sdk":
		return fact{kind: "table", sdk: true}
	case w.env.modules[name] != nil:
		return fact{kind: "table", module: w.env.modules[name]}
	case w.env.managers[name] != nil:
		return fact{kind: "table", manager: w.env.managers[name]}
	case w.env.libraries[name] != nil:
		return fact{kind: "table", library: name}
	default:
		w.report(at, UnknownModule, "unknown module "+name,
			cmp.Or(mistake.Module(name),
				near(name, w.env.names, "transect doc lists them; files next to the script are found, too")))
	}
	return fact{}
}

func near(name string, candidates []string, otherwise string) string {
	if hint := suggest.Hint(name, candidates); hint != "" {
		return hint
	}
	return otherwise
}
