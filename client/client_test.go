package client

import (
	"testing"

	"transect/client/declare"
)

func TestDeclarationsAreWellFormed(t *testing.T) {
	if err := declare.Verify(&Client{}); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, m := range Declarations() {
		for _, s := range m.Ops {
			if seen[s.FullName()] {
				t.Errorf("%s is declared twice", s.FullName())
			}
			seen[s.FullName()] = true
		}
	}
	t.Logf("%d operations", len(seen))
}

func BenchmarkDeclarations(b *testing.B) {
	for b.Loop() {
		Declarations()
	}
}
