package vm

import (
	lua "github.com/yuin/gopher-lua"

	"transect/client/schema"
)

// TypeName names the type of a value the way messages do.
func TypeName(v lua.LValue) string {
	switch {
	case errorValueOf(v) != nil:
		return "an error"
	case v == Null:
		return "json.null"
	case v == lua.LNil:
		return "nil"
	}
	if ud, ok := v.(*lua.LUserData); ok {
		if o, ok := ud.Value.(interface{ TypeName() string }); ok {
			return schema.Article(o.TypeName())
		}
	}
	return schema.Article(v.Type().String())
}
