package schema

import (
	"reflect"
	"strconv"
	"strings"
)

// ReadTag reads all pairs of a struct tag at once: reflect.StructTag.Get reads the tag
// from its beginning for each key, and a declaration has up to twenty.
func ReadTag(tag reflect.StructTag) map[string]string {
	pairs := map[string]string{}
	for rest := string(tag); ; {
		key, value, found := strings.Cut(strings.TrimLeft(rest, " "), ":")
		quoted, err := strconv.QuotedPrefix(value)
		if !found || err != nil {
			return pairs
		}
		pairs[key], _ = strconv.Unquote(quoted) // a quoted prefix always has a value
		rest = value[len(quoted):]
	}
}
