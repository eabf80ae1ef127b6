package bindings_test

import (
	"path/filepath"
	"testing"

	"transect/bindings"
	"transect/client"
	"transect/runtime/examples"
)

// TestExamples runs the example of every operation, each on a platform of its
// own, as a user would: relative paths, a photo as the script's argument.
func TestExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: TestExamplesThroughGo runs the same examples, over HTTP")
	}
	eachExample(t, func(t *testing.T, files []string, code string) {
		newWorldIn(t, ".", files).lua(t, code)
	})
}

// eachExample runs a test for the example of each operation, in a folder of its
// own; files are a photo and a GeoTIFF for the script's arguments.
func eachExample(t *testing.T, run func(t *testing.T, files []string, code string)) {
	files := argumentFiles(t)
	t.Chdir(t.TempDir())
	for _, m := range client.Declarations() {
		for _, s := range m.Ops() {
			t.Run(s.FullName(), func(t *testing.T) {
				example, ok := examples.Of(bindings.Examples)[s.FullName()]
				if !ok {
					t.Fatalf("bindings/examples/%s.lua has no section -- %s", m.Name, s.FullName())
				}
				run(t, files, example.Text())
			})
		}
	}
}

// argumentFiles are a photo and a GeoTIFF.
func argumentFiles(t *testing.T) []string {
	files := []string{"../testdata/flight/FLIGHT_0001.JPG", "../testdata/ortho.tif"}
	for i := range files {
		var err error
		if files[i], err = filepath.Abs(files[i]); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// Every section belongs to an operation: a renamed one takes its example along.
func TestExamplesAreOfOperations(t *testing.T) {
	known := map[string]bool{}
	for _, m := range client.Declarations() {
		for _, s := range m.Ops() {
			known[s.FullName()] = true
		}
	}
	for _, m := range append(bindings.Modules(), bindings.Declaration()) {
		for _, f := range m.Funcs {
			known[m.Name+"."+f.Name] = true
		}
	}
	for name := range examples.Of(bindings.Examples) {
		if !known[name] {
			t.Errorf("there is an example of %s, which is not an operation", name)
		}
	}
}
