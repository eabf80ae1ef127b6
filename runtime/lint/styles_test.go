package lint

import (
	"os"
	"path/filepath"
	"testing"
)

// TestOtherPeoplesStyles checks programs as people write them, in which nothing is
// wrong.
func TestOtherPeoplesStyles(t *testing.T) {
	files, err := filepath.Glob("testdata/styles/*.lua")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range New().Script(file, code) {
			if p.Rule == AssignedGlobal {
				continue // it is so: some people mean it
			}
			t.Errorf("%s:%d: %s (%s)", file, p.Line, p.Message, p.Rule)
		}
	}
}
