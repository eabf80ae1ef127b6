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

// BenchmarkIterate reads one field of each record of a search_generator.
func BenchmarkIterate(b *testing.B) {
	w := newWorld(b)
	w.lua(b, setup+`
local list = {}
for i = 1, 1000 do list[i] = { name = "d" .. i, type = "file", project = project.id, components = { { name = "file" } } } end
sdk.datasets.create_datasets(list)`)
	b.ResetTimer()
	for range b.N {
		w.lua(b, `local n = 0 for d in require("sdk").datasets.search_generator{ limit = 500 } do if d.name then n = n + 1 end end assert(n == 1000)`)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1000, "µs/record")
}
