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

// attribute reads a field, and tells of names that modules and managers do not have.
func (w *walk) attribute(e *ast.AttrGetExpr) fact {
	object := w.expression(e.Object)
	key, ok := e.Key.(*ast.StringExpr)
	if !ok {
		w.expression(e.Key)
		return fact{}
	}
	at := w.at.of(key.Line(), key.Value)
	w.where[e] = at
	called := object.called + "." + key.Value
	w.indexed(object, key.Value, at)
	switch {
	case object.sdk:
		return w.ofSDK(key.Value, called, at)
	case object.manager != nil:
		return w.ofManager(object.manager, key.Value, called, at)
	case object.module != nil:
		if f := function(object.module, key.Value); f != nil {
			return fact{kind: "function", function: f, called: object.module.Name + "." + key.Value}
		}
		names := fields(object.module)
		if !slices.Contains(names, key.Value) && object.module.Open == nil {
			w.report(at, UnknownFunction, object.module.Name+" has no "+key.Value, near(key.Value, names, "transect doc "+object.module.Name+" lists what it has"))
		}
	case object.library != "":
		names := w.world.libraries[object.library]
		if !slices.Contains(names, key.Value) {
			w.report(at, UnknownFunction, "Lua's "+object.library+" has no "+key.Value, near(key.Value, names, ""))
		}
		return fact{standard: object.library + "." + key.Value, called: object.library + "." + key.Value}
	case object.object != nil:
		return w.ofObject(object, key.Value, at)
	case object.names != nil:
		if !slices.Contains(object.names, key.Value) {
			w.report(at, UnknownArgument, "script.args declares no argument "+key.Value, near(key.Value, object.names, "it declares "+strings.Join(object.names, ", ")))
		}
	}
	return fact{}
}

func (w *walk) ofSDK(name, called string, at place) fact {
	if m := w.world.managers[name]; m != nil {
		return fact{kind: "table", manager: m, called: called}
	}
	if f := function(w.world.sdk, name); f != nil {
		return fact{kind: "function", function: f, called: called}
	}
	known := append(fields(w.world.sdk), slices.Sorted(maps.Keys(w.world.managers))...)
	if !slices.Contains(known, name) {
		w.report(at, UnknownManager, "there is no manager "+name, near(name, known, "transect doc lists them"))
	}
	return fact{}
}

func (w *walk) ofManager(m *declare.Manager, name, called string, at place) fact {
	if spec := m.Op(name); spec != nil {
		return fact{kind: "function", operation: spec, called: called}
	}
	var known []string
	for _, s := range m.Ops {
		known = append(append(known, s.Name), s.Aliases...)
	}
	w.report(at, UnknownOperation, m.Name+" has no operation "+name, near(name, known, "transect doc "+m.Name+" lists them"))
	return fact{}
}

// required is what require gives.
func (w *walk) required(args []argument) fact {
	if len(args) != 1 || args[0].constant == nil || args[0].kind != "string" {
		return fact{}
	}
	name, at := string(args[0].constant.(lua.LString)), args[0].at
	switch {
	case name == "sdk":
		return fact{kind: "table", sdk: true}
	case w.world.modules[name] != nil:
		return fact{kind: "table", module: w.world.modules[name]}
	case w.world.managers[name] != nil:
		return fact{kind: "table", manager: w.world.managers[name]}
	case w.world.libraries[name] != nil:
		return fact{kind: "table", library: name}
	case w.Local == nil || !w.Local(w.file, name):
		w.report(at, UnknownModule, "there is no module "+name,
			near(name, w.world.names, "transect doc lists them; files beside the script are found too"))
	}
	return fact{}
}

func near(name string, candidates []string, otherwise string) string {
	if hint := suggest.Hint(name, candidates); hint != "" {
		return hint
	}
	return otherwise
}
