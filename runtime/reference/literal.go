package reference

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

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
