package jobs

import (
	"testing"

	"github.com/riverqueue/river/rivermigrate"
)

// A program with newer tables of River must refuse to share a database with one
// that does not know them: that takes a new file in schema.
func TestVersionOfRiversTables(t *testing.T) {
	for _, d := range []dialect{sqlite, postgres} {
		m, err := rivermigrate.New(d.driver(nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		if all := m.AllVersions(); all[len(all)-1].Version != riverVersion {
			t.Errorf("River's tables have version %d, not %d: add a file to schema, be it empty, and change riverVersion", all[len(all)-1].Version, riverVersion)
		}
	}
}
