package vm

import (
	"bytes"
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"

	"transect/client/suggest"
	"transect/runtime/vm/mistake"
)

// longestExplained is how long a message of gopher-lua may be, in bytes.
const longestExplained = 4096

// maxSources is how many chunks are kept for explaining errors.
const maxSources = 1000

// explain rewrites an error message of gopher-lua. It says "attempt to index a
// non-table object(nil)" and not which variable or field was nil: that is read
// off the source line, if only one expression of it comes into question.
func (in *Interp) explain(message string) string {
	if len(message) > longestExplained {
		return message // a text of the script's own
	}
	for theirs, ours := range phrases {
		i := strings.Index(message, theirs)
		if i < 2 || message[i-2:i] != ": " {
			continue
		}
		position, text := message[:i], message[i+len(theirs):]
		switch ours {
		case "attempt to call ":
			return position + ours + cmp.Or(in.operand(position, "", nil), "a value that is not a function")
		case "attempt to index ":
			kind, key, _ := strings.Cut(text, ") with key '")
			key = strings.TrimSuffix(key, "'")
			return position + ours + cmp.Or(in.operand(position, kind, &key), "a "+kind+" value with key '"+key+"'")
		}
		return position + ours
	}
	return message
}

// phrases are what gopher-lua says, and what follows instead.
var phrases = map[string]string{
	"__len undefined":                       "attempt to get the length of a value that has none",
	"__unm undefined":                       "attempt to negate a value that is not a number",
	"attempt to call a non-function object": "attempt to call ",
	"attempt to index a non-table object(":  "attempt to index ",
}

// operand names the expression at a position ("file:12: ") that is called, or
// with a key indexed. kind is the type its value had, "" for anything but a
// function. It returns "" unless there is exactly one.
func (in *Interp) operand(position, kind string, key *string) string {
	position = strings.TrimSuffix(position, ": ")
	file := position[:max(strings.LastIndexByte(position, ':'), 0)]
	n, err := strconv.Atoi(strings.TrimPrefix(position[len(file):], ":"))
	if err != nil {
		return ""
	}
	locals, names, certain := in.locals(file), []string{}, []string{}
	add := func(e ast.Expr) {
		name, is := "?", "not a function"
		switch e := e.(type) {
		case *ast.IdentExpr:
			name = "variable '" + e.Value + "'"
			if !slices.Contains(locals, e.Value) {
				name = "global '" + e.Value + "'"
			}
		case *ast.AttrGetExpr:
			switch key := e.Key.(type) {
			case *ast.StringExpr:
				name = "field '" + key.Value + "'"
			case *ast.NumberExpr:
				name = "element " + key.Value + " of a list"
				if list, ok := e.Object.(*ast.IdentExpr); ok {
					name = "element " + key.Value + " of '" + list.Value + "'"
				}
			}
		}
		if v := in.valueOf(e, locals); v != nil {
			kindNow := v.Type().String()
			if kind == "" && kindNow == "function" || kind != "" && kindNow != kind {
				return // cannot be the one
			}
			is = "a " + kindNow + " value"
		} else if kind != "" {
			is = "a " + kind + " value"
		}
		if global, ok := e.(*ast.IdentExpr); ok && key == nil && !slices.Contains(locals, global.Value) {
			certain = append(certain, name+" ("+is+")")
		}
		names = append(names, name+" ("+is+")")
	}
	loop := false
	in.inspect(file, func(node any) {
		switch node := node.(type) {
		case *ast.AttrGetExpr:
			if key != nil && node.Line() == n && mayBe(node.Key, *key) {
				add(node.Object)
			}
		case *ast.FuncCallExpr:
			switch {
			case node.Line() != n:
			case key == nil && node.Func != nil:
				add(node.Func)
			case key == nil:
				names = append(names, "method '"+node.Method+"' (not a function)")
			case node.Func == nil && node.Method == *key:
				add(node.Receiver)
			}
		case *ast.GenericForStmt:
			if key == nil && node.Line() == n && !iterates(node.Exprs[0]) {
				loop = true
				names = append(names, "the iterator of the for loop (for a table, use pairs or ipairs)")
			}
		}
	})
	if len(certain) == 1 { // a global that is no function, among calls that may be right
		return certain[0]
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if loop && len(names) > 1 {
		return "the iterator of the for loop or another value of the line (for a table, use pairs or ipairs)"
	}
	if len(names) != 1 || names[0][0] == '?' {
		return ""
	}
	return names[0]
}

// iterates reports whether an expression is a call that returns an iterator.
func iterates(e ast.Expr) bool {
	call, ok := e.(*ast.FuncCallExpr)
	if !ok {
		return false
	}
	name := call.Method
	switch f := call.Func.(type) {
	case *ast.IdentExpr:
		name = f.Value
	case *ast.AttrGetExpr:
		if key, ok := f.Key.(*ast.StringExpr); ok {
			name = key.Value
		}
	}
	return slices.Contains([]string{"pairs", "ipairs", "gmatch", "lines"}, name) || strings.HasSuffix(name, "_generator")
}

// mayBe reports whether an expression may have the value key.
func mayBe(e ast.Expr, key string) bool {
	switch e := e.(type) {
	case *ast.StringExpr:
		return e.Value == key
	case *ast.NumberExpr:
		return e.Value == key
	}
	return true
}

// locals are the names a chunk declares.
func (in *Interp) locals(file string) (names []string) {
	in.inspect(file, func(node any) {
		switch node := node.(type) {
		case *ast.LocalAssignStmt:
			names = append(names, node.Names...)
		case *ast.ParList:
			names = append(names, node.Names...)
		case *ast.NumberForStmt:
			names = append(names, node.Name)
		case *ast.GenericForStmt:
			names = append(names, node.Names...)
		}
	})
	return names
}

// inspect calls visit for each node of a chunk that was compiled.
func (in *Interp) inspect(file string, visit func(node any)) {
	chunk, err := parse.Parse(bytes.NewReader(in.sources[file]), file)
	if err != nil {
		return
	}
	walk(reflect.ValueOf(chunk), 0, func(v reflect.Value) {
		if v.Kind() == reflect.Pointer {
			visit(v.Interface())
		}
	})
}

// valueOf is the value of a global, or of a field of one; nil when not known.
func (in *Interp) valueOf(e ast.Expr, locals []string) lua.LValue {
	switch e := e.(type) {
	case *ast.IdentExpr:
		if !slices.Contains(locals, e.Value) {
			return in.global(e.Value)
		}
	case *ast.AttrGetExpr:
		table, ok := in.valueOf(e.Object, locals).(*lua.LTable)
		if key, constant := e.Key.(*ast.StringExpr); ok && constant && table.Metatable == lua.LNil {
			return table.RawGetString(key.Value)
		}
	}
	return nil
}

// global is the value of a global, or of a session's local.
func (in *Interp) global(name string) lua.LValue {
	if in.lasting != nil {
		if v := in.lasting.RawGetString(name); v != lua.LNil {
			return v
		}
	}
	return in.main.G.Global.RawGetString(name)
}

// hint explains the message of an error that Lua raised, or is "".
func (in *Interp) hint(message string, frames []Frame) string {
	switch {
	case strings.Contains(message, "the iterator of the for loop"):
		return mistake.Iterator
	case strings.Contains(message, "attempt to index element 0 of "):
		return mistake.Zero
	case strings.Contains(message, "cannot perform add operation between ") && strings.Contains(message, "string"):
		return mistake.Concat
	}
	if m := nilGlobal().FindStringSubmatch(message); m != nil {
		return in.suggestGlobal(m[1], frames)
	}
	if m := nilMember().FindStringSubmatch(message); m != nil {
		return mistake.Member(m[1])
	}
	return ""
}

// suggestGlobal is the hint for a global that is nil: the nearest global, local
// or module.
func (in *Interp) suggestGlobal(name string, frames []Frame) string {
	if hint := mistake.Global(name); hint != "" {
		return hint
	}
	known := in.Loaders()
	if slices.Contains(known, name) && in.lasting == nil {
		return `write local ` + name + ` = require("` + name + `") before it`
	}
	for _, t := range []*lua.LTable{in.main.G.Global, in.lasting} {
		if t != nil {
			t.ForEach(func(k, _ lua.LValue) { known = append(known, k.String()) })
		}
	}
	if len(frames) > 0 {
		known = append(known, in.locals(frames[0].File)...)
	}
	known = slices.DeleteFunc(known, func(k string) bool { return k == name || strings.HasPrefix(k, "(") })
	return suggest.Hint(name, known)
}
