package plan

import (
	"context"
	"fmt"
	"testing"

	"transect/client"
	"transect/client/declare"
)

type noNotes struct{}

func (noNotes) Kept(string) []byte       { return nil }
func (noNotes) Put(string, []byte) error { return nil }

// BenchmarkGate is what a gate adds to a write.
func BenchmarkGate(b *testing.B) {
	var spec *declare.Spec
	for _, m := range client.Declarations() {
		if m.Name == "projects" {
			spec = m.Op("create")
		}
	}
	made := declare.Value{Shape: declare.ShapeResource, JSON: []byte(`{"_id":"656f00000000000000000001","name":"x"}`)}
	send := func(context.Context, *declare.Call) (declare.Value, error) { return made, nil }
	call := func(i int) *declare.Call {
		return &declare.Call{Spec: spec, Args: declare.Args{Values: map[string]any{"name": fmt.Sprint("project ", i),
			"company": "656f00000000000000000002"}}}
	}
	var p Plan
	var planned ids
	for i := range b.N {
		key, _, err := planned.key("local", call(i), parts(call(i))[0])
		if err != nil {
			b.Fatal(err)
		}
		p.Writes = append(p.Writes, &Write{Number: i + 1, Operation: spec.FullName(), Kind: Create, Key: key})
	}
	g := &Gate{Plan: &p}
	g.Open(noNotes{})
	link := g.Link("local")
	calls := make([]*declare.Call, b.N)
	for i := range calls {
		calls[i] = call(i)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for _, c := range calls {
		if _, err := link(b.Context(), c, send); err != nil {
			b.Fatal(err)
		}
	}
}
