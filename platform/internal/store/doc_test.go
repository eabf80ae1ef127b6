package store

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A projection of a stored document is that of the decoded one, and reading a
// stored document gives what decoding it does.
func TestStoredDocuments(t *testing.T) {
	names := rapid.SampledFrom([]string{"_id", "a", "b", "é\"\\", "c"})
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		plain := rapid.SampledFrom([]any{nil, "", "{[", true, false, "x,y", "\u2028\n\x00😀", json.Number("-1.5e+20"), json.Number("12345678901234567890")})
		if depth == 0 {
			return plain
		}
		inner := rapid.Deferred(func() *rapid.Generator[any] { return value(depth - 1) })
		return rapid.OneOf(plain,
			rapid.Map(rapid.SliceOfN(inner, 0, 3), func(l []any) any { return l }),
			rapid.Map(rapid.MapOfN(names, inner, 0, 4), func(m map[string]any) any { return m }))
	}
	keys := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
		key := names.Draw(t, "name")
		for range rapid.IntRange(0, 2).Draw(t, "depth") {
			key += "." + names.Draw(t, "name")
		}
		return key
	}), 0, 4)
	rapid.Check(t, func(t *rapid.T) {
		doc := rapid.MapOfN(names, value(3), 0, 5).Draw(t, "doc")
		body, err := encode(doc)
		if err != nil {
			t.Fatal(err)
		}
		var p Projection
		if rapid.Bool().Draw(t, "include") {
			p.Include = keys.Draw(t, "keys")
		} else {
			p.Exclude = keys.Draw(t, "keys")
		}
		chosen, err := p.stored()(body)
		if err != nil {
			t.Fatalf("%+v of %s: %v", p, body, err)
		}
		cut, err := Decode(chosen)
		if err != nil {
			t.Fatalf("%+v of %s: %v", p, body, err)
		}
		whole, err := Decode(body)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(p.Apply(whole), cut); d != "" {
			t.Fatalf("%+v of %s: %s", p, body, d)
		}
		if quick, err := read(body); err != nil || !cmp.Equal(quick, whole) {
			t.Fatalf("%s is read as %v: %v", body, quick, err)
		}
	})
}
