package reference

import (
	"strconv"
	"strings"

	"transect/client/declare"
)

// argumentTypes are the types of arguments in the words of definitions.
var argumentTypes = map[string]string{
	"text": "string", "id": "ID", "id or list of ids": "ID|ID[]", "text or list of texts": "string|string[]",
	"date": "string", "path": "string", "integer": "integer", "number": "number", "boolean": "boolean",
	"object": "table<string, any>", "filter": "Filter", "geometry": "Geometry", "sort": "Sort", "value": "any",
}

func argumentType(t *declare.Type, choices []string) string {
	switch {
	case len(choices) > 0:
		return literals(choices)
	case t.Elem != nil:
		elem := argumentType(t.Elem, nil)
		if strings.Contains(elem, "|") {
			elem = "(" + elem + ")"
		}
		return elem + "[]"
	}
	if known, ok := argumentTypes[t.Name]; ok {
		return known
	}
	return "any"
}

// declaredType is the type of a module's parameter: Lua's own names, or those
// of objects.
func declaredType(name string, choices []string) string {
	switch {
	case len(choices) > 0:
		return literals(choices)
	case name == "":
		return "table"
	}
	parts := strings.Split(name, "|")
	for i, p := range parts {
		switch p {
		case "error":
			parts[i] = "Error"
		case "string", "number", "integer", "boolean", "table", "function", "userdata", "any", "nil":
		default:
			parts[i] = objectClass(p)
		}
	}
	return strings.Join(parts, "|")
}

func objectClass(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

func literals(choices []string) string {
	quoted := make([]string, len(choices))
	for i, c := range choices {
		quoted[i] = strconv.Quote(c)
	}
	return strings.Join(quoted, "|")
}
