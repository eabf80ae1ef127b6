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

// call is one signature of an operation: arguments by position, and the class of
// the table that follows them, or "".
type call struct {
	positional []Parameter
	table      string // class of the table of named arguments
	tableName  string
	required   bool // the table is
	values     []string
}

// writeOperation writes the classes of an operation's tables and its function
// with all signatures: f(args), f(first, opts), f(first, second, …, opts).
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
		fmt.Fprintf(w, "---@param %s%s %s\n", main.tableName, unless(main.required), main.table)
		names = append(names, main.tableName)
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

// calls lists the signatures of an operation, the main one first, and writes the
// classes they need, each inheriting from the one with fewer keys.
func (e *Entry) calls(w io.Writer, positional, named []Parameter) []call {
	values := e.result.values
	options := ""
	if len(named) > 0 || e.Extra {
		options = e.FullName() + ".more"
		if len(positional) == 1 {
			options = e.FullName() + ".opts"
		} else if len(positional) == 0 {
			options = e.FullName() + ".args"
		}
		writeClass(w, options, "", named, e.Extra)
	}
	if len(positional) == 0 {
		return []call{{table: options, tableName: "args", required: anyRequired(named), values: values}}
	}
	main := call{positional: positional, table: options, tableName: "opts", required: anyRequired(named), values: values}
	list := []call{main}
	top := options
	if len(positional) > 1 {
		top = e.FullName() + ".opts"
		writeClass(w, top, options, positional[1:], false)
		rest := slices.Concat(positional[1:], named)
		list = append(list, call{positional: positional[:1], table: top, tableName: "opts", required: anyRequired(rest),
			values: values})
	}
	writeClass(w, e.FullName()+".args", top, positional[:1], false)
	list = append(list, call{table: e.FullName() + ".args", tableName: "args", required: anyRequired(e.Parameters),
		values: values})
	if e.acceptsList() {
		list[0].positional = slices.Clone(positional)
		list[0].positional[0].lua = "ID"
		ids := positional[0]
		ids.lua, ids.Required = "ID[]", true
		list = append(list, call{positional: []Parameter{ids}, table: main.table, tableName: "opts",
			required: main.required, values: []string{values[0] + "[]"}})
	}
	return list
}

// acceptsList reports whether an operation returns one resource for one id and a list for a list of ids.
func (e *Entry) acceptsList() bool {
	return len(e.Paths) == 2 && e.Operation == "describe" && len(e.result.values) == 1
}

func anyRequired(list []Parameter) bool {
	return slices.ContainsFunc(list, func(p Parameter) bool { return p.Required })
}

func unless(required bool) string {
	if required {
		return ""
	}
	return "?"
}

// String returns the signature as a function type.
func (c call) String() string {
	var params []string
	for _, p := range c.positional {
		params = append(params, p.Name+optionalMark(p)+": "+p.lua)
	}
	if c.table != "" {
		params = append(params, c.tableName+unless(c.required)+": "+c.table)
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
