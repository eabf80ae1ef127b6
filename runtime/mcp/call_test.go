package mcp

import (
	"fmt"
	"strings"
	"testing"
)

// What is cut stays JSON.
func TestShorten(t *testing.T) {
	long := strings.Repeat("x", 50)
	keys := make([]string, 50)
	for i := range keys {
		keys[i] = fmt.Sprintf(`"k%d":[]`, i)
	}
	for _, c := range []struct {
		text        string
		most        int
		short, says string
	}{
		{`[1,2,3]`, 7, `[1,2,3]`, ""},
		{`[1,2,3]`, 6, `[1,2]`, "the first 2 of 3, 1 left out"},
		{`["` + long + `"]`, 20, `[]`, "the first 0 of 1, 1 left out"},
		{`"` + long + `"`, 20, "null", "a value of 52 B left out"},
		{`{"total":3,"results":[11111,22222,33333]}`, 40, `{"results":[11111,22222],"total":3}`, "of results the first 2 of 3, 1 left out"},
		{`{"a":"` + long + `","b":["` + long + `"],"c":1}`, 20, `{"b":[],"c":1}`, "of b the first 0 of 1, 1 left out, a left out"},
		{"{" + strings.Join(keys, ",") + "}", 1, "{}", "k0 left out"},
	} {
		short, says := shorten(c.text, c.most)
		if short != c.short || !strings.HasPrefix(says, c.says) || c.says == "" && says != "" {
			t.Errorf("%s in %d: %s, %s", c.text, c.most, short, says)
		}
	}
}
