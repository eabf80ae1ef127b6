package reference

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

func (g *Group) writeManager(w io.Writer) {
	fmt.Fprintf(w, "---%s\n---@class %s\nlocal %s = {}\n\n", commented(g.Doc), g.Name, g.Name)
	for _, e := range g.Operations {
		e.writeOperation(w)
	}
	fmt.Fprintf(w, "return %s\n", g.Name)
}

// call is one way of calling an operation: arguments by position, and the class
// of the table behind them, "" for none.
type call struct {
	positional []Parameter
	table      string // class of the table of named arguments
	called     string // its name
	must       bool   // the table is needed
	values     []string
}

// writeOperation writes the classes of an operation's tables and its function
// with every way of calling it: f(args), f(first, opts), f(first, second, …, opts).
func (e *Entry) writeOperation(w io.Writer) {
	var positional, named []Parameter
	for _, p := range e.Parameters {
		if p.Positional {
			positional = append(positional, p)
		} else {
			named = append(named, p)
		}
	}
	calls := e.calls(w, positional, named)
	main, others := calls[0], calls[1:]
	fmt.Fprintf(w, "---%s\n", commented(e.Doc))
	if e.Deprecated != "" {
		fmt.Fprintf(w, "---@deprecated use %s\n", e.Deprecated)
	}
	var names []string
	for _, p := range main.positional {
		fmt.Fprintf(w, "---@param %s%s %s %s\n", p.Name, optionalMark(p), p.lua, p.meaning())
		names = append(names, p.Name)
	}
	if main.table != "" {
		fmt.Fprintf(w, "---@param %s%s %s\n", main.called, unless(main.must), main.table)
		names = append(names, main.called)
	}
	for i, v := range main.values {
		if i == 0 {
			v += " # " + e.Returns
		}
		fmt.Fprintf(w, "---@return %s\n", v)
	}
	for _, c := range others {
		fmt.Fprintf(w, "---@overload %s\n", c)
	}
	fmt.Fprintf(w, "function %s(%s) end\n\n", e.FullName(), strings.Join(names, ", "))
	for _, alias := range e.Aliases {
		fmt.Fprintf(w, "%s.%s = %s\n\n", e.Manager, alias, e.FullName())
	}
}

// calls lists the ways of calling an operation, the main one first, and writes
// the classes they need, each on top of the one with fewer keys.
func (e *Entry) calls(w io.Writer, positional, named []Parameter) []call {
	values := e.result.values
	behind := ""
	if len(named) > 0 || e.Extra {
		behind = e.FullName() + ".more"
		if len(positional) == 1 {
			behind = e.FullName() + ".opts"
		} else if len(positional) == 0 {
			behind = e.FullName() + ".args"
		}
		writeClass(w, behind, "", named, e.Extra)
	}
	if len(positional) == 0 {
		return []call{{table: behind, called: "args", must: anyRequired(named), values: values}}
	}
	main := call{positional: positional, table: behind, called: "opts", must: anyRequired(named), values: values}
	list := []call{main}
	top := behind
	if len(positional) > 1 {
		top = e.FullName() + ".opts"
		writeClass(w, top, behind, positional[1:], false)
		rest := slices.Concat(positional[1:], named)
		list = append(list, call{positional: positional[:1], table: top, called: "opts", must: anyRequired(rest), values: values})
	}
	writeClass(w, e.FullName()+".args", top, positional[:1], false)
	list = append(list, call{table: e.FullName() + ".args", called: "args", must: anyRequired(e.Parameters), values: values})
	if e.listToo() {
		list[0].positional = slices.Clone(positional)
		list[0].positional[0].lua = "ID"
		ids := positional[0]
		ids.lua, ids.Required = "ID[]", true
		list = append(list, call{positional: []Parameter{ids}, table: main.table, called: "opts", must: main.must, values: []string{values[0] + "[]"}})
	}
	return list
}

// listToo tells operations that return one resource for one id and a list for
// a list.
func (e *Entry) listToo() bool {
	return len(e.Paths) == 2 && e.Operation == "describe" && len(e.result.values) == 1
}

func anyRequired(list []Parameter) bool {
	return slices.ContainsFunc(list, func(p Parameter) bool { return p.Required })
}

func unless(must bool) string {
	if must {
		return ""
	}
	return "?"
}

// String is the call as the type of a function.
func (c call) String() string {
	var params []string
	for _, p := range c.positional {
		params = append(params, p.Name+optionalMark(p)+": "+p.lua)
	}
	if c.table != "" {
		params = append(params, c.called+unless(c.must)+": "+c.table)
	}
	text := "fun(" + strings.Join(params, ", ") + ")"
	values := slices.Clone(c.values)
	for i, v := range values {
		if strings.HasPrefix(v, "fun(") {
			values[i] = "(" + v + ")"
		}
	}
	if len(values) > 0 {
		text += ": " + strings.Join(values, ", ")
	}
	return text
}
