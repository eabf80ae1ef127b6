package repl

import (
	"fmt"
	"io"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"

	"transect/bindings"
	"transect/client/fault"
	"transect/runtime/reference"
	"transect/runtime/vm"
)

// declared is the reference, made on first use.
var declared = sync.OnceValue(reference.New)

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

// help is :help and :doc.
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
func writeHelp(w io.Writer, name string) error {
	for _, c := range commands() {
		if c.name == name {
			_, err := fmt.Fprintf(w, ":%s %s: %s\n", c.name, c.argument, c.doc)
			return err
		}
	}
	group, entry, err := declared().Find(name)
	switch {
	case err != nil:
		return err
	case entry != nil:
		return entry.Document().WriteText(w)
	}
	return group.Document().WriteText(w)
}

// defineHelp defines the function help.
func (s *Session) defineHelp() {
	var f *lua.LFunction
	_ = s.lua.Do(func(L *lua.LState) error { // making a function cannot fail
		f = L.NewFunction(func(L *lua.LState) int {
			var b strings.Builder
			if L.GetTop() == 0 {
				b.WriteString("help(x) shows the reference of a function, a manager, a module, a record, or a name.\n:help lists the commands of the prompt.\n")
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
func (s *Session) describe(L *lua.LState, w io.Writer, v lua.LValue) error {
	if text, ok := v.(lua.LString); ok {
		return writeHelp(w, string(text))
	}
	if name := nameOf(L, v); name != "" {
		return writeHelp(w, name)
	}
	if operation := bindings.IteratorOf(v); operation != "" {
		_, err := fmt.Fprintf(w, "an iterator of %s: for x in it do … end\n", operation)
		return err
	}
	if r, ok := bindings.RecordOf(v); ok {
		_, err := fmt.Fprintf(w, "%s\n\nfields: %s\nr:totable() returns a copy that can be changed.\n\nIts manager:\n\n", clean(r.Text), clean(strings.Join(r.Fields, ", ")))
		if err != nil {
			return err
		}
		return writeHelp(w, r.Manager)
	}
	if ud, ok := v.(*lua.LUserData); ok {
		if methods := methodsOf(ud); len(methods) > 0 {
			for _, e := range methods {
				if _, err := fmt.Fprintf(w, "%s\n  %s\n", e.Signature, e.Doc); err != nil {
					return err
				}
			}
			return nil
		}
	}
	if f, ok := v.(*lua.LFunction); ok {
		_, err := fmt.Fprintln(w, functionText(f))
		return err
	}
	return fault.Hinted(fault.Of(&fault.UsageError{}, "there is no help for a %s", v.Type()),
		"help takes a function, a manager, a module, a record, or a name")
}

// methodsOf lists the documented methods of an object.
func methodsOf(ud *lua.LUserData) []*reference.Entry {
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

// nameOf finds the documented name of a manager, a module, or a function in the
// loaded modules.
func nameOf(L *lua.LState, v lua.LValue) string {
	if name := bindings.ManagerOf(v); name != "" {
		return name
	}
	if v.Type() != lua.LTTable && v.Type() != lua.LTFunction {
		return ""
	}
	lib, _ := L.G.Global.RawGetString("package").(*lua.LTable)
	if lib == nil {
		return ""
	}
	loaded, _ := lib.RawGetString("loaded").(*lua.LTable)
	if loaded == nil {
		return ""
	}
	found := ""
	look := func(name string, in *lua.LTable) {
		in.ForEach(func(k, each lua.LValue) {
			if each == v && found == "" {
				found = name + "." + k.String()
			}
		})
	}
	loaded.ForEach(func(k, m lua.LValue) {
		t, ok := m.(*lua.LTable)
		if _, _, err := declared().Find(k.String()); !ok || err != nil {
			return
		}
		if m == v {
			found = k.String()
		}
		look(k.String(), t)
		t.ForEach(func(inner, each lua.LValue) { // managers of sdk
			if each, ok := each.(*lua.LTable); ok && bindings.ManagerOf(each) != "" {
				look(inner.String(), each)
			}
		})
	})
	return found
}
