package repl

import (
	"cmp"
	"fmt"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"

	"transect/bindings"
	"transect/client"
	"transect/client/fault"
	"transect/runtime/reference"
	"transect/runtime/vm"
)

// declared returns the reference, built on first use.
var declared = sync.OnceValue(func() *reference.Reference { return reference.New() })

const keys = `
Everything else is Lua. The values of an expression are printed, the first one is
kept as _. All managers, modules and sdk are available without require. help(x)
shows the reference of x.

  Tab      completes, twice lists       Ctrl-C   cancels the input, or clears the line
  Up, Down history                      Ctrl-R   searches the history
  Ctrl-D   leaves

A line that begins with a space, or may contain a secret, is not stored in the
history.
`

// help implements :help and :doc.
func (s *Session) help(name string) error {
	var b strings.Builder
	if name == "" {
		for _, c := range commands() {
			fmt.Fprintf(&b, "  :%-16s %s\n", c.name+" "+c.argument, c.doc)
		}
		b.WriteString(keys)
	} else if err := writeHelp(&b, strings.TrimSuffix(strings.TrimPrefix(name, ":"), "()")); err != nil {
		return err
	}
	return s.showText(b.String())
}

// writeHelp writes the reference of a name.
func writeHelp(b *strings.Builder, name string) error {
	for _, c := range commands() {
		if c.name == name {
			fmt.Fprintf(b, ":%s %s: %s\n", c.name, c.argument, c.doc)
			return nil
		}
	}
	document, _, err := declared().Lookup(name)
	if err != nil {
		return err
	}
	return document.WriteText(b)
}

// defineHelp defines the function help.
func (s *Session) defineHelp() {
	var f *lua.LFunction
	_ = s.lua.Do(func(L *lua.LState) error { // making a function cannot fail
		f = L.NewFunction(func(L *lua.LState) int {
			var b strings.Builder
			if L.GetTop() == 0 {
				b.WriteString("help(x) shows the reference of a function, a manager, a module, a record, or a " +
					"name:\nhelp(\"Dataset\"), help(\"filter\"), help(\"cookbook\").\n:help lists the commands of the prompt.\n")
			} else if err := s.describe(L, &b, L.Get(1)); err != nil {
				vm.Raise(L, err)
			}
			if err := s.showText(b.String()); err != nil {
				vm.Raise(L, err)
			}
			return 0
		})
		return nil
	})
	s.lua.Set("help", f)
}

// describe writes the reference of a value.
func (s *Session) describe(L *lua.LState, b *strings.Builder, v lua.LValue) error {
	if text, ok := v.(lua.LString); ok {
		return writeHelp(b, string(text))
	}
	if name := loadedNames(L.G.Global).of(v); name != "" {
		return writeHelp(b, name)
	}
	if r, ok := bindings.RecordOf(v); ok {
		if t := client.RecordTypeOf(r.Manager); t != nil {
			fmt.Fprintf(b, "%s\n\nsent: %s\n\n", clean(r.Text), clean(strings.Join(r.Fields, ", ")))
			return writeHelp(b, t.Name)
		}
		fmt.Fprintf(b, "%s\n\nfields: %s\nr:totable() returns a copy that can be changed.\n\nIts manager:\n\n",
			clean(r.Text), clean(strings.Join(r.Fields, ", ")))
		return writeHelp(b, r.Manager)
	}
	operation, methods := bindings.IteratorOf(v), methodsOf(v)
	f, isFunction := v.(*lua.LFunction)
	switch {
	case operation != "":
		fmt.Fprintf(b, "an iterator of %s: for x in it do … end\n", operation)
	case isFunction:
		b.WriteString(functionText(f) + "\n")
	case len(methods) == 0:
		return fault.Hinted(fault.Of(&fault.UsageError{}, "there is no help for a %s", v.Type()),
			"help takes a function, a manager, a module, a record, or a name")
	}
	for _, e := range methods {
		fmt.Fprintf(b, "%s\n  %s\n", e.Signature, e.Doc)
	}
	return nil
}

// methodsOf lists the documented methods of an object.
func methodsOf(v lua.LValue) []*reference.Entry {
	ud, ok := v.(*lua.LUserData)
	if !ok {
		return nil
	}
	meta, ok := ud.Metatable.(*lua.LTable)
	if !ok {
		return nil
	}
	var methods []*reference.Entry
	for _, g := range declared().Modules {
		for _, e := range g.Functions {
			if e.Object != "" && lua.LString(e.Object) == meta.RawGetString("__metatable") {
				methods = append(methods, e)
			}
		}
	}
	return methods
}

// names maps loaded modules and their functions to their documented names.
type names map[lua.LValue]string

// loadedNames reads the loaded modules; it runs no Lua.
func loadedNames(globals *lua.LTable) names {
	list := names{}
	lib, _ := globals.RawGetString("package").(*lua.LTable)
	if lib == nil {
		return list
	}
	loaded, _ := lib.RawGetString("loaded").(*lua.LTable)
	if loaded == nil {
		return list
	}
	sdk, ok := loaded.RawGetString("sdk").(*lua.LTable)
	if !ok {
		sdk = loaded
	}
	for _, g := range declared().Groups() {
		for _, name := range append([]string{g.Name}, g.Aliases...) {
			for _, in := range []*lua.LTable{loaded, sdk} {
				t, ok := in.RawGetString(name).(*lua.LTable)
				if !ok {
					continue
				}
				list[t] = name
				t.ForEach(func(k, v lua.LValue) {
					if _, listed := list[v]; !listed && (v.Type() == lua.LTFunction || v.Type() == lua.LTTable) {
						list[v] = name + "." + k.String()
					}
				})
			}
		}
	}
	return list
}

// of returns the name of a manager, a module or a function, or "".
func (n names) of(v lua.LValue) string { return cmp.Or(bindings.ManagerOf(v), n[v]) }
