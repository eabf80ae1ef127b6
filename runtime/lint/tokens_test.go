package lint

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"transect/testdata/luaoracle"
)

// TestEachNameIsVisitedInOrder holds the walk to taking all names and constants one after
// the other: then none can be taken for another.
func TestEachNameIsVisitedInOrder(t *testing.T) {
	t.Parallel()
	sources := map[string]string{"goto": `local t = {["a"] = a, b = "b"} goto a ::a:: t["b"].b = t.b.a`}
	scripts, _ := filepath.Glob("../../scripts/*.lua")
	commands, _ := filepath.Glob("../../scripts/*/*.lua")
	for _, path := range slices.Concat(scripts, commands) {
		code, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sources[path] = string(code)
	}
	seed := uint64(time.Now().UnixNano())
	for n := range uint64(500) {
		sources["program"+string(rune('0'+n))] = luaoracle.Generate(seed, n).String()
	}
	checker := New()
	for file, code := range sources {
		read := readable(file, []byte(code))
		if read.problems != nil {
			t.Fatal(read.problems)
		}
		w := newWalk(checker, file, read, map[declaration]bool{})
		w.tokens.visited = func(i int) {
			if want := w.tokens.next; i != want {
				t.Fatalf("%s, seed %d: %v is not visited; %v is instead\n%s", file, seed, w.tokens.names[want], w.tokens.names[i], code)
			}
		}
		w.chunk(read.chunk)
		if n := w.tokens.next; n != len(w.tokens.names) {
			t.Fatalf("%s, seed %d: %v is not visited\n%s", file, seed, w.tokens.names[n], code)
		}
	}
}
