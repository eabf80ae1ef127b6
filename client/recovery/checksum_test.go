package recovery_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"transect/client/declare"
	"transect/client/recovery"
)

// A file that has not changed is not read in a further start; one that has is
// another one, also when its size and its time in seconds are the same.
func TestFilesAreReadOnce(t *testing.T) {
	p := newPrinter(t)
	path := filepath.Join(t.TempDir(), "a.txt")
	of := func(content string, at time.Time) string {
		if content != "" {
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, at, at); err != nil {
				t.Fatal(err)
			}
		}
		_, _ = p.spec("datasets.upload_file").Invoke(recovery.Again(context.Background()),
			declare.Args{Values: map[string]any{"dataset": anID, "component": "file", "file_path": path}})
		return p.last().Print.String()
	}
	p.open("r")
	old, now := time.Now().Add(-time.Hour), time.Now()
	first := of("one", old)
	if of("two", old) != first {
		t.Error("a file of the same size and time was read again")
	}
	if of("two", old.Add(time.Nanosecond)) == first {
		t.Error("a file of another time was not read again")
	}
	recent := of("one", now)
	if recent != first {
		t.Error("the same content is another file")
	}
	if of("two", now) == recent {
		t.Error("a file that has just changed was not read again")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if of("", now) == recent {
		t.Error("a file that is gone is not what it was last")
	}
}
