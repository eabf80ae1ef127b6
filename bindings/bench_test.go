package bindings_test

import (
	"fmt"
	"testing"
)

// BenchmarkAttribute reads a field of a resource from Lua, after the first
// time; the loop itself is measured beside it.
func BenchmarkAttribute(b *testing.B) {
	for name, body := range map[string]string{"loop alone": "local x = p", "attribute": "local x = p.name"} {
		b.Run(name, func(b *testing.B) {
			w := newWorld(b)
			w.lua(b, setup+"p = project")
			b.ResetTimer()
			w.lua(b, fmt.Sprintf("local p = p for i = 1, %d do %s end", b.N, body))
		})
	}
}
