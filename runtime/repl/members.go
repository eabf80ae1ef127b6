package repl

import (
	"slices"
	"strconv"

	"github.com/tidwall/gjson"
	lua "github.com/yuin/gopher-lua"

	"transect/bindings"
	"transect/runtime/engine/compile"
	"transect/runtime/reference"
	"transect/runtime/vm"
)

// target is the target of a path: a value, or an entry of the reference.
type target struct {
	value lua.LValue
	json  gjson.Result // a record, or a part of one
	group *reference.Group
	entry *reference.Entry
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
		at = documented(first)
	}
	for _, key := range path[1:] {
		at = c.step(at, key)
	}
	return at
}

func documented(name string) (at target) {
	at.group, at.entry, _ = declared().Find(name)
	if at.entry != nil {
		at.group = nil
	}
	return at
}

func (c *completer) target(v lua.LValue) (at target) {
	if name := c.names.of(v); name != "" {
		at = documented(name)
	}
	if r, ok := bindings.RecordOf(v); ok {
		at.json = gjson.ParseBytes(r.JSON)
	}
	at.value = v
	return at
}

// step resolves a key of a target.
func (c *completer) step(at target, key any) target {
	name, isName := key.(string)
	i, _ := key.(int)
	t, isTable := at.value.(*lua.LTable)
	switch {
	case at.group != nil && isName && at.group.Name == "sdk" && c.known[name] != nil:
		return documented(name)
	case at.group != nil && isName:
		return documented(at.group.Name + "." + name)
	case at.json.Exists() && isName:
		return target{json: at.json.Get(gjson.Escape(name))}
	case at.json.IsArray() && i >= 1:
		return target{json: at.json.Get(strconv.Itoa(i - 1))}
	case isTable && isName:
		return c.target(t.RawGetString(name))
	case isTable:
		return c.target(t.RawGetInt(i))
	}
	return target{}
}

// members lists the names after a dot or a colon.
func (c *completer) members(at target, sep string) []string {
	var words []string
	switch v := at.value.(type) {
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
		for _, e := range methodsOf(v) {
			words = append(words, e.Function)
		}
		if at.json.Exists() && sep == ":" {
			return []string{"fields", "totable"}
		} else if at.json.Exists() {
			words = append(words, "id")
		}
	case lua.LString:
		if functions, ok := c.globals.RawGetString("string").(*lua.LTable); ok && sep == ":" {
			words = keysOf(functions)
		}
	}
	if at.group != nil {
		for _, e := range at.group.Entries() {
			if e.Object == "" {
				words = append(words, e.Name())
			}
		}
		for _, f := range at.group.Fields {
			words = append(words, f.Name)
		}
		if at.group.Name == "sdk" {
			for _, g := range declared().Managers {
				words = append(words, g.Name)
			}
		}
	}
	var fields []string
	if at.json.IsObject() {
		at.json.ForEach(func(k, _ gjson.Result) bool { fields = append(fields, k.String()); return true })
	}
	return append(words, identifiers(fields)...)
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
		if vm.IsName(k) && !slices.Contains(compile.Keywords, k) {
			list = append(list, k)
		}
	}
	return list
}
