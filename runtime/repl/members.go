package repl

import (
	"github.com/tidwall/gjson"
	lua "github.com/yuin/gopher-lua"

	"transect/bindings"
	"transect/runtime/reference"
)

// target is what a path leads to: a value, or an entry of the reference.
type target struct {
	value lua.LValue
	json  gjson.Result // part of a record
	group *reference.Group
	entry *reference.Entry
	sdk   bool
	text  *lua.LTable // the functions of strings
}

// find resolves a path without running Lua.
func (c *completer) find(path []any) target {
	first, ok := path[0].(string)
	if !ok {
		return target{}
	}
	value := c.locals.RawGetString(first)
	if value == lua.LNil {
		value = c.globals.RawGetString(first)
	}
	at := c.target(value)
	if value == lua.LNil && c.known[first] != nil {
		at = c.declared(first)
	} else if m := c.known[first]; m != nil && at.group == nil && c.isLoaded(first, value) {
		at = c.declared(first)
	}
	for _, step := range path[1:] {
		at = c.step(at, step)
	}
	return at
}

// isLoaded reports whether a value is the loaded module with a name.
func (c *completer) isLoaded(name string, v lua.LValue) bool {
	lib, _ := c.globals.RawGetString("package").(*lua.LTable)
	if lib == nil {
		return false
	}
	loaded, _ := lib.RawGetString("loaded").(*lua.LTable)
	return loaded != nil && loaded.RawGetString(name) == v
}

func (c *completer) declared(name string) target {
	group, _, err := declared().Find(name)
	if err != nil {
		return target{}
	}
	return target{group: group, sdk: name == "sdk"}
}

func (c *completer) target(v lua.LValue) target {
	if name := bindings.ManagerOf(v); name != "" {
		return c.declared(name)
	}
	at := target{value: v}
	at.text, _ = c.globals.RawGetString("string").(*lua.LTable)
	return at
}

// step resolves a key of a target.
func (c *completer) step(at target, key any) target {
	name, isName := key.(string)
	switch {
	case at.group != nil && isName:
		if at.sdk && c.known[name] != nil {
			return c.declared(name)
		}
		_, entry, err := declared().Find(at.group.Name + "." + name)
		if err != nil {
			return target{}
		}
		return target{entry: entry}
	case at.json.Exists() && isName:
		return target{json: at.json.Get(gjson.Escape(name))}
	case at.json.IsArray():
		if i, ok := key.(int); ok && i >= 1 && i <= len(at.json.Array()) {
			return target{json: at.json.Array()[i-1]}
		}
		return target{}
	}
	if r, ok := bindings.RecordOf(at.value); ok && isName {
		return target{json: gjson.GetBytes(r.JSON, gjson.Escape(name))}
	}
	if t, ok := at.value.(*lua.LTable); ok {
		if i, ok := key.(int); ok {
			return c.target(t.RawGetInt(i))
		}
		return c.target(t.RawGetString(name))
	}
	return target{}
}

// members lists the names after a dot or a colon.
func (t target) members(sep string) []string {
	var words []string
	switch v := t.value.(type) {
	case *lua.LTable:
		words = keysOf(v)
		for range 5 { // inherited by its metatables
			meta, ok := v.Metatable.(*lua.LTable)
			if !ok {
				break
			}
			if v, ok = meta.RawGetString("__index").(*lua.LTable); !ok {
				break
			}
			words = append(words, keysOf(v)...)
		}
	case *lua.LUserData:
		if r, ok := bindings.RecordOf(v); ok {
			if sep == ":" {
				return []string{"fields", "totable"}
			}
			return append(identifiers(r.Fields), "id")
		}
		for _, e := range methodsOf(v) {
			words = append(words, e.Function)
		}
	case lua.LString:
		if sep == ":" && t.text != nil {
			words = keysOf(t.text)
		}
	}
	if t.group != nil {
		for _, e := range t.group.Entries() {
			if e.Object == "" {
				words = append(words, e.Name())
			}
		}
		for _, f := range t.group.Fields {
			words = append(words, f.Name)
		}
	}
	if t.sdk {
		for _, g := range declared().Managers {
			words = append(words, g.Name)
		}
	}
	if t.json.IsObject() {
		var fields []string
		t.json.ForEach(func(k, _ gjson.Result) bool { fields = append(fields, k.String()); return true })
		words = append(words, identifiers(fields)...)
	}
	return words
}

// keysOf lists the keys of a table that are identifiers.
func keysOf(t *lua.LTable) []string {
	var keys []string
	t.ForEach(func(k, _ lua.LValue) {
		if s, ok := k.(lua.LString); ok {
			keys = append(keys, string(s))
		}
	})
	return identifiers(keys)
}

func identifiers(keys []string) []string {
	var list []string
	for _, k := range keys {
		if k != "" && word().FindString(k) == k && !keywords[k] {
			list = append(list, k)
		}
	}
	return list
}
