package catalogue_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"transect/runtime/catalogue"
)

const reference = "../../docs/reference"

// TestReferenceIsFresh compares the committed reference with the declarations.
func TestReferenceIsFresh(t *testing.T) {
	want := map[string]string{}
	for _, f := range catalogue.New().Markdown() {
		want[f.Path] = f.Text
	}
	got := map[string]string{}
	entries, err := os.ReadDir(reference)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(reference, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got[e.Name()] = string(text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/reference is stale; to write it anew: go generate ./runtime/catalogue\n(-declared +committed)\n%s", diff)
	}
}
