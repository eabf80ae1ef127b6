package reference_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"transect/runtime/reference"
)

const generated = "../../docs/reference"

// TestReferenceIsFresh compares the committed reference with the declarations.
func TestReferenceIsFresh(t *testing.T) {
	want := map[string]string{}
	for _, f := range reference.New().Markdown() {
		want[f.Path] = f.Text
	}
	got := map[string]string{}
	entries, err := os.ReadDir(generated)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() { // schemas, which a test of the commands compares
			continue
		}
		text, err := os.ReadFile(filepath.Join(generated, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got[e.Name()] = string(text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/reference is stale; run: go generate ./runtime/reference\n(-declared +committed)\n%s", diff)
	}
}
