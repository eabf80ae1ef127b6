package lint

import (
	"maps"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"transect/client/declare"
	"transect/client/suggest"
)

// attribute checks a field access and reports names that modules and managers do
// not have.
func (w *walk) attribute(e *ast.AttrGetExpr) fact {
	object := w.expression(e.Object)
	key, ok := e.Key.(*ast.StringExpr)
	if !ok {
		w.expression(e.Key)
		return fact{}
	}
	at := w.tokens.of(key.Line(), key.Value)
	w.positions[e] = at
	called := object.name + "." + key.Value
	w.indexed(object, key.Value, at)
	switch {
	case object.sdk:
		return w.ofSDK(key.Value, called, at)
	case object.manager != nil:
		return w.ofManager(object.manager, key.Value, called, at)
	case object.module != nil:
		if f := function(object.module, key.Value); f != nil {
			return fact{kind: "function", function: f, name: object.module.Name + "." + key.Value}
		}
		names := fields(object.module)
		if !slices.Contains(names, key.Value) && object.module.Open == nil {
			w.report(at, UnknownFunction, object.module.Name+" has no "+key.Value, near(key.Value, names, "transect doc "+object.module.Name+" lists its functions"))
		}
	case object.library != "":
		names := w.env.libraries[object.library]
		if !slices.Contains(names, key.Value) {
			w.report(at, UnknownFunction, "Lua's "+object.library+" has no "+key.Value, near(key.Value, names, ""))
		}
		return fact{standard: object.library + "." + key.Value, name: object.library + "." + key.Value}
	case object.object != nil:
		return w.ofObject(object, key.Value, at)
	case object.names != nil:
		if !slices.Contains(object.names, key.Value) {
			w.report(at, UnknownArgument, "script.args does not declare the argument "+key.Value, near(key.Value, object.names, "it declares "+strings.Join(object.names, ", ")))
		}
	}
	return fact{}
}

func (w *walk) ofSDK(name, called string, at position) fact {
	if m := w.env.managers[name]; m != nil {
		return fact{kind: "table", manager: m, name: called}
	}
	if f := function(w.env.sdk, name); f != nil {
		return fact{kind: "function", function: f, name: called}
	}
	known := append(fields(w.env.sdk), slices.Sorted(maps.Keys(w.env.managers))...)
	if !slices.Contains(known, name) {
		w.report(at, UnknownManager, "unknown manager "+name, near(name, known, "transect doc lists them"))
	}
	return fact{}
}

func (w *walk) ofManager(m *declare.Manager, name, called string, at position) fact {
	if spec := m.Op(name); spec != nil {
		return fact{kind: "function", operation: spec, name: called}
	}
	var known []string
	for _, s := range m.Ops {
		known = append(append(known, s.Name), s.Aliases...)
	}
	w.report(at, UnknownOperation, m.Name+" has no operation "+name, near(name, known, "transect doc "+m.Name+" lists them"))
	return fact{}
}

// required is the result of require.
func (w *walk) required(args []argument) fact {
	if len(args) != 1 || args[0].constant == nil || args[0].kind != "string" {
		return fact{}
	}
	name, at := string(args[0].constant.(lua.LString)), args[0].at
	switch {
	case name == "sdk":
		return fact{kind: "table", sdk: true}
	case w.env.modules[name] != nil:
		return fact{kind: "table", module: w.env.modules[name]}
	case w.env.managers[name] != nil:
		return fact{kind: "table", manager: w.env.managers[name]}
	case w.env.libraries[name] != nil:
		return fact{kind: "table", library: name}
	case w.Local == nil || !w.Local(w.file, name):
		w.report(at, UnknownModule, "unknown module "+name,
			near(name, w.env.names, "transect doc lists them; files beside the script are found, too"))
	}
	return fact{}
}

func near(name string, candidates []string, otherwise string) string {
	if hint := suggest.Hint(name, candidates); hint != "" {
		return hint
	}
	return otherwise
}
