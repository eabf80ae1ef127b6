package lint

import (
	"bytes"
	"maps"
	"slices"

	"transect/runtime/engine/compile"
)

// cursorName marks the cursor in incomplete code.
const cursorName = "_cursor_"

// View is the analysis at a position in a script.
type View struct {
	walk   *walk
	locals map[string]fact
}

// At analyses a script up to a position.
func (c *Checker) At(file string, before []byte) *View {
	start, closers := unfinished(before)
	code := slices.Concat(before[:start], []byte(" "+cursorName+"() "+closers))
	s := c.Analyse(file, code)
	return &View{s.walk, s.walk.seen}
}

// visible returns the variables of the open scopes.
func (w *walk) visible() map[string]fact {
	found := map[string]fact{}
	for s := w.scope; s != nil; s = s.outer {
		for _, v := range slices.Backward(s.vars) {
			if _, hidden := found[v.name]; !hidden {
				found[v.name] = v.known
			}
		}
	}
	return found
}

// Names lists the variables in scope.
func (v *View) Names() []string {
	return slices.Concat(slices.Sorted(maps.Keys(v.locals)), v.walk.env.globals)
}

// Modules lists the modules that require finds without files.
func (v *View) Modules() []string { return v.walk.env.names }

// find returns the fact about a path, such as sdk, projects or list, 1.
func (v *View) find(path []any) (f fact) {
	for i, key := range path {
		name, named := key.(string)
		switch {
		case i == 0:
			var local bool
			if f, local = v.locals[name]; !local && v.walk.env.libraries[name] != nil {
				f = fact{kind: "table", library: name}
			}
		case named:
			f = v.walk.part(f, name)
		case f.list && f.records != "":
			f = fact{resource: true, records: f.records}
		default:
			return fact{}
		}
	}
	return f
}

// Reference returns the name in the reference of the target of a path, or "". A method belongs to the object
// that the path without its last name leads to.
func (v *View) Reference(path []any) string {
	if f := v.find(path); f.reference() != "" || len(path) < 2 {
		return f.reference()
	}
	object := v.find(path[:len(path)-1])
	if object.object != nil {
		if name, _ := path[len(path)-1].(string); function(object.object.Methods, name) != nil {
			return object.object.Name + ":" + name
		}
	}
	return ""
}

// Module returns the module of the workspace that a path leads to, or "".
func (v *View) Module(path []any) string { return v.find(path).local }

// Members lists the fields of the target of a path, or with colon its methods.
func (v *View) Members(path []any, colon bool) []string {
	f := v.find(path)
	switch {
	case f.resource && colon:
		return []string{"fields", "totable"}
	case colon != (f.object != nil || f.kind == "string"):
		return nil
	case f.resource:
		return append(v.walk.members(f), "id")
	}
	return v.walk.members(f)
}

// bracket is an open bracket or block, or the head of one.
type bracket struct {
	by    string
	block bool
	token int
}

// unfinished returns where the statement at the end of a source begins, and what closes the blocks and
// brackets around it.
func unfinished(code []byte) (start int, closers string) {
	tokens := compile.Tokens(code)
	var stack []bracket
	pop := func() {
		stack = stack[:max(0, len(stack)-1)]
	}
	for i, t := range tokens {
		if t.Kind != compile.Symbol && t.Kind != compile.Keyword {
			continue
		}
		switch text := string(code[t.From:t.To]); text {
		case "(", "{", "[", "function", "if", "while", "for":
			stack = append(stack, bracket{text, false, i})
		case "then", "else", "elseif":
			pop()
			stack = append(stack, bracket{text, text != "elseif", i})
		case "do":
			if n := len(stack) - 1; n >= 0 && (stack[n].by == "while" || stack[n].by == "for") {
				pop()
			}
			stack = append(stack, bracket{text, true, i})
		case "repeat":
			stack = append(stack, bracket{text, true, i})
		case ")", "}", "]", "end", "until":
			pop()
			if n := len(stack) - 1; text == ")" && n >= 0 && stack[n].by == "function" && !stack[n].block {
				stack[n].block, stack[n].token = true, i
			}
		}
	}
	least := 0
	line := len(code)
	n := len(stack)
	for n > 0 && !stack[n-1].block {
		n--
		line = tokens[stack[n].token].From
	}
	if n > 0 {
		least = tokens[stack[n-1].token].To
	}
	for _, b := range slices.Backward(stack[:n]) {
		closers += " " + map[string]string{"(": ")", "{": "}", "[": "]", "repeat": "until true", "if": "then end",
			"elseif": "then end", "while": "do end", "for": "do end"}[b.by]
		if b.block && b.by != "repeat" {
			closers += "end"
		}
	}
	return max(least, bytes.LastIndexByte(code[:line], '\n')+1), closers
}
