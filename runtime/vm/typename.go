package vm

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// TypeName names the type of a value the way messages do.
func TypeName(v lua.LValue) string {
	switch {
	case raisedOf(v) != nil:
		return "an error"
	case v == Null:
		return "json.null"
	case v == lua.LNil:
		return "nil"
	}
	if ud, ok := v.(*lua.LUserData); ok {
		if o, ok := ud.Value.(interface{ TypeName() string }); ok {
			return Article(o.TypeName())
		}
	}
	return Article(v.Type().String())
}

// Article puts "a" or "an" before a declared type.
func Article(declared string) string {
	text := strings.ReplaceAll(declared, "|", " or ")
	if text == "any" {
		return "any value"
	}
	if strings.ContainsAny(text[:1], "aeioAEIO") {
		return "an " + text
	}
	return "a " + text
}
