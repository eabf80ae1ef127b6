package plan

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"transect/client"
	"transect/client/declare"
)

type noNotes struct{}

func (noNotes) Kept(string) []byte       { return nil }
func (noNotes) Put(string, []byte) error { return nil }

const (
	company = "656f00000000000000000002"
	project = `{"_id":"656f00000000000000000001","name":"x"}`
)

// agreed is the link of a gate that lets n new projects pass, and their calls.
func agreed(b *testing.B, n int) (declare.Interceptor, []*declare.Call) {
	var spec *declare.Spec
	for _, m := range client.Declarations() {
		if m.Name == "projects" {
			spec = m.Op("create")
		}
	}
	var p Plan
	var known ids
	calls := make([]*declare.Call, n)
	for i := range calls {
		calls[i] = &declare.Call{Spec: spec, Args: declare.Args{Values: map[string]any{"name": name(i), "company": company}}}
		key, _, err := known.key("local", calls[i], parts(calls[i])[0])
		if err != nil {
			b.Fatal(err)
		}
		p.Writes = append(p.Writes, &Write{Number: i + 1, Operation: spec.FullName(), Kind: Create, Key: key})
	}
	g := &Gate{Plan: &p}
	g.Open(noNotes{})
	return g.Link("local"), calls
}

func name(i int) string { return fmt.Sprint("project ", i) }

// BenchmarkGate is what a gate adds to a write.
func BenchmarkGate(b *testing.B) {
	made := declare.Value{Shape: declare.ShapeResource, JSON: []byte(project)}
	send := func(context.Context, *declare.Call) (declare.Value, error) { return made, nil }
	link, calls := agreed(b, b.N)
	b.ReportAllocs()
	b.ResetTimer()
	for _, c := range calls {
		if _, err := link(b.Context(), c, send); err != nil {
			b.Fatal(err)
		}
	}
}

type atOnce struct{}

// RoundTrip implements http.RoundTripper.
func (atOnce) RoundTrip(q *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(`{"project":` + project + `}`)),
		Header: http.Header{}, Request: q}, nil
}

// BenchmarkWrite is a write of a connection without a plan, where the gate is no link at
// all, and of one that carries out a plan, to a platform that answers at once.
func BenchmarkWrite(b *testing.B) {
	for _, way := range []string{"without", "planned"} {
		b.Run(way, func(b *testing.B) {
			o := client.Options{RoundTripper: atOnce{}}
			if way == "planned" {
				gate, _ := agreed(b, b.N)
				o.Links = []client.Link{client.At(client.PlacePlan, gate)}
			}
			c, err := client.New(b.Context(), client.Settings{URL: "http://platform.example", AccessToken: "t"}, o)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				if _, err := c.Projects.Create(b.Context(), client.CreateProject{Name: name(i), Company: company}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
