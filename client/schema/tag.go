package schema

import (
	"reflect"
	"strconv"
	"strings"
)

// ReadTag parses all pairs of a struct tag at once: reflect.StructTag.Get parses it from the start
// for each key, and a declaration has up to twenty.
func ReadTag(tag reflect.StructTag) map[string]string {
	pairs := map[string]string{}
	for rest := string(tag); ; {
		key, value, found := strings.Cut(strings.TrimLeft(rest, " "), ":")
		quoted, err := strconv.QuotedPrefix(value)
		if !found || err != nil {
			return pairs
		}
		pairs[key], _ = strconv.Unquote(quoted) // a quoted prefix is always valid
		rest = value[len(quoted):]
	}
}
