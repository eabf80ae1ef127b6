package scan_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"transect/client/scan"
	"transect/testdata/peaktest"
)

// TestManyFilesInLittleMemory lists a folder in a separate process and reads its peak memory. With
// TRANSECT_MANY_FILES=1000000 it takes minutes.
func TestManyFilesInLittleMemory(t *testing.T) {
	if dir := os.Getenv("TRANSECT_SCAN_DIR"); dir != "" {
		count(t, dir)
		return
	}
	n := peaktest.Number(t, "TRANSECT_MANY_FILES", 5_000)
	dir := t.TempDir()
	for i := range n {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("DJI_20240514_%07d_V.JPG", i)), []byte(jpeg), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	peaktest.Run(t, "TestManyFilesInLittleMemory", n, "TRANSECT_SCAN_DIR="+dir)
}

func count(t *testing.T, dir string) {
	started, n, last := time.Now(), 0, ""
	for item, err := range scan.Items(context.Background(), scan.Source{Root: dir}) {
		if err != nil {
			t.Fatal(err)
		}
		if item.Name <= last {
			t.Fatalf("%s after %s", item.Name, last)
		}
		n, last = n+1, item.Name
	}
	peaktest.Tell(t, n, started)
}
