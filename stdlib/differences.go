package stdlib

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	lua "github.com/yuin/gopher-lua"

	"transect/client/schema"
	"transect/runtime/vm"
)

// maxDifferences limits the differences listed: enough to see what is wrong.
const maxDifferences = 10

// differences lists the differences of two values, one per line; none when they are equal.
func differences(L *lua.LState, got, want lua.LValue) []string {
	if got == want {
		return nil
	}
	a, wrong := vm.FromLua(L, got)
	b, wrong2 := vm.FromLua(L, want)
	if wrong != nil || wrong2 != nil { // functions and such are compared by identity
		return []string{"got " + show(L, got) + ", want " + show(L, want)}
	}
	var d []string
	compare(&d, "", a, b)
	if len(d) > maxDifferences {
		d = append(d[:maxDifferences], fmt.Sprintf("and %d more", len(d)-maxDifferences))
	}
	return d
}

func compare(d *[]string, path string, got, want any) {
	switch want := want.(type) {
	case map[string]any:
		if got, ok := got.(map[string]any); ok {
			for _, k := range slices.Sorted(maps.Keys(want)) {
				compare(d, path+"."+k, got[k], want[k])
			}
			for _, k := range slices.Sorted(maps.Keys(got)) {
				if _, both := want[k]; !both {
					compare(d, path+"."+k, got[k], nil)
				}
			}
			return
		}
	case []any:
		if got, ok := got.([]any); ok {
			for i := range max(len(got), len(want)) {
				compare(d, fmt.Sprintf("%s[%d]", path, i+1), at(got, i), at(want, i))
			}
			return
		}
	}
	if reflect.DeepEqual(got, want) {
		return
	}
	if path != "" {
		path += ": "
	}
	*d = append(*d, fmt.Sprintf("%sgot %s, want %s", path, short(got), short(want)))
}

func at(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

func short(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case string:
		return fmt.Sprintf("%.200s", strconv.Quote(v))
	case map[string]any:
		return fmt.Sprintf("a table with %d fields", len(v))
	case []any:
		return fmt.Sprintf("a list of %d", len(v))
	case schema.Empty:
		return "{}"
	}
	return fmt.Sprint(v)
}

// show formats a value in Lua syntax, shortened.
func show(L *lua.LState, v lua.LValue) string {
	return fmt.Sprintf("%.500s", (&vm.Printer{L: L}).Text(v))
}
