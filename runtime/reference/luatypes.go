package reference

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"transect/client/schema"
)

// parameter describes an argument of an operation or of a module's function.
func parameter(p schema.Param) Parameter {
	out := Parameter{Name: p.Name, Aliases: p.Aliases, Type: p.Type.String(), Doc: p.Doc, Required: p.Required(),
		Positional: p.Positional,
		Default:    p.Default, Choices: p.Choices, Secret: p.Secret, lua: typeInLua(p)}
	if p.Type == "" {
		out.Type = "table"
		for _, f := range p.Fields {
			out.Options = append(out.Options, parameter(f))
		}
	}
	return out
}

// luaTypes maps types of the schema to types of lua-language-server.
var luaTypes = map[string]string{
	"": "table", "id": "ID", "date": "string", "path": "string", "object": "table<string, any>", "filter": "Filter",
	"geometry": "Geometry", "drawing": "Geometry", "sort": "Sort", "error": "Error",
}

func typeInLua(p schema.Param) string {
	if len(p.Choices) > 0 {
		quoted := make([]string, len(p.Choices))
		for i, c := range p.Choices {
			quoted[i] = strconv.Quote(c)
		}
		return strings.Join(quoted, "|")
	}
	alternatives := strings.Split(string(p.Type), "|")
	for i, one := range alternatives {
		elem := strings.TrimLeft(one, "[]")
		lists := strings.Repeat("[]", strings.Count(one, "[]"))
		if named, ok := luaTypes[elem]; ok {
			elem = named
		} else if schema.Type(elem).Kinds() == 0 { // an object's
			elem = objectClass(elem)
		}
		alternatives[i] = elem + lists
	}
	return strings.Join(alternatives, "|")
}

func objectClass(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// luaLiteral formats a default value as Lua source.
func luaLiteral(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	var plain any
	if json.Unmarshal(raw, &plain) != nil {
		return string(raw)
	}
	switch v := plain.(type) {
	case nil:
		return "nil"
	case string:
		return strconv.Quote(v)
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = luaLiteral(item)
		}
		return "{" + strings.Join(items, ", ") + "}"
	case map[string]any:
		var items []string
		for key, item := range v {
			items = append(items, key+" = "+luaLiteral(item))
		}
		slices.Sort(items)
		return "{" + strings.Join(items, ", ") + "}"
	}
	return fmt.Sprint(plain)
}
