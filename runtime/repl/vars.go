package repl

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	lua "github.com/yuin/gopher-lua"

	"transect/bindings"
	"transect/client/fault"
)

// vars implements :vars: it prints the variables of the session with their values, except modules and globals
// of every session.
func (s *Session) vars(string) error {
	values := map[string]lua.LValue{}
	add := func(k, v lua.LValue) {
		name, ok := k.(lua.LString)
		if ok && !s.standard[string(name)] && s.known[string(name)] == nil && !strings.HasPrefix(string(name), "(") &&
			bindings.ManagerOf(v) == "" {
			values[string(name)] = v
		}
	}
	s.lua.Inspect(func(locals, globals *lua.LTable) {
		globals.ForEach(add)
		locals.ForEach(add)
	})
	if len(values) == 0 {
		s.note("there are no variables yet")
		return nil
	}
	names := slices.Sorted(maps.Keys(values))
	widest := 0
	for _, name := range names {
		widest = max(widest, len(name))
	}
	width, _ := s.size()
	p := &page{colour: s.colours().values, noun: "variables",
		left: func(shown int) (int, bool) { return len(names) - shown, true }}
	p.render = func(L *lua.LState, from, n int) (lines []string) {
		f := s.printer(L)
		for _, name := range names[min(from, len(names)):min(from+n, len(names))] {
			v := values[name]
			kind := v.Type().String()
			switch v := v.(type) {
			case *lua.LTable:
				if n := v.Len(); n > 0 {
					kind = fmt.Sprintf("list of %d", n)
				}
			case *lua.LUserData:
				if r, ok := bindings.RecordOf(v); ok {
					kind = "record of " + r.Manager
				}
			}
			lead := text.Pad(name, widest, ' ') + "  " + text.Pad(kind, 14, ' ') + "  "
			lines = append(lines, lead+f.short(v, max(20, width-len(lead)), 1))
		}
		return lines
	}
	s.more, s.last = p, *p
	return s.showPage()
}

// edit implements :edit: it opens the last input in the editor, and runs it when the editor ends.
func (s *Session) edit(string) error {
	if s.cfg.Edit == nil || !s.cfg.Terminal {
		return fault.Of(&fault.UsageError{}, ":edit needs a terminal")
	}
	code, err := s.cfg.Edit(s.typed)
	if err != nil {
		return err
	}
	code = strings.TrimRight(code, "\r\n \t")
	switch classify(dropEquals(code)) {
	case blank:
		s.note("nothing to run")
		return nil
	case unfinished:
		s.typed = code
		return fault.Hinted(fault.Of(&fault.UsageError{}, "the edited statement is incomplete"), ":edit continues with it")
	}
	s.note(code)
	s.remember(code)
	return s.evaluate(dropEquals(code))
}
