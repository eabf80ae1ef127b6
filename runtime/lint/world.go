package lint

import (
	"context"
	"slices"

	"transect/bindings"
	"transect/client"
	"transect/client/declare"
	"transect/client/suggest"
	"transect/runtime/luastd"
	"transect/runtime/module"
	"transect/runtime/vm"
	"transect/stdlib"
)

// world is everything scripts can use.
type world struct {
	globals   []string
	libraries map[string][]string // Lua's own, with what they hold
	modules   map[string]*module.Module
	managers  map[string]*declare.Manager
	names     []string // of modules and managers
	sdk       *module.Module
	types     map[string]*module.Type // of objects
	standard  map[string][]module.Param
}

func newWorld() *world {
	w := &world{libraries: map[string][]string{}, modules: map[string]*module.Module{}, managers: map[string]*declare.Manager{}, sdk: bindings.Declaration(),
		types: map[string]*module.Type{}, standard: standardParams()}
	in := luastd.New(context.Background(), vm.Options{})
	defer in.Close()
	for name, fields := range in.Globals() {
		w.globals = append(w.globals, name)
		if fields != nil {
			w.libraries[name] = fields
		}
	}
	slices.Sort(w.globals)
	for _, m := range slices.Concat(bindings.Modules(), stdlib.Modules()) {
		w.modules[m.Name] = m
		w.names = append(w.names, m.Name)
		for _, t := range m.Types {
			w.types[t.Name] = t
		}
	}
	for _, m := range client.Declarations() {
		for _, name := range append([]string{m.Name}, m.Aliases...) {
			w.managers[name] = m
		}
		w.names = append(w.names, m.Name)
	}
	w.names = append(w.names, "sdk")
	return w
}

func (w *world) global(name string) bool {
	_, found := slices.BinarySearch(w.globals, name)
	return found
}

// known are names of other languages.
var known = map[string]string{
	"null": "Lua writes nil; json.null is the null that is sent", "None": "Lua writes nil", "undefined": "Lua writes nil",
	"True": "Lua writes true", "False": "Lua writes false", "throw": "error(…) raises", "raise": "error(…) raises",
	"len": "#list is the length of a list or text", "printf": "print(string.format(…))", "console": "print(…) shows values",
	"self": "methods have it: function object:method()", "this": "methods have self: function object:method()",
	"str": "tostring(…) makes a text", "int": "math.floor(tonumber(…)) makes a whole number",
	"range": "for i = 1, n do counts", "exit": "os.exit(code), or script.exit(code), ends the script",
}

// nearGlobal says what was probably meant by a name nobody declared: a module
// that was not required is the likeliest.
func (w *world) nearGlobal(name string) string {
	if slices.Contains(w.names, name) {
		return "write local " + name + ` = require("` + name + `") at the top`
	}
	if hint := known[name]; hint != "" {
		return hint
	}
	if hint := suggest.Hint(name, w.globals); hint != "" {
		return hint
	}
	return "declare it with local, or pass it in"
}

// fields lists what a module holds.
func fields(m *module.Module) []string {
	var names []string
	for _, f := range m.Funcs {
		names = append(names, f.Name)
	}
	for _, f := range m.Fields {
		names = append(names, f.Name)
	}
	return names
}

func function(m *module.Module, name string) *module.Func {
	for i := range m.Funcs {
		if m.Funcs[i].Name == name {
			return &m.Funcs[i]
		}
	}
	return nil
}
