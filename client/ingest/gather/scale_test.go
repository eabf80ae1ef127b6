package gather_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"transect/client/ingest/gather"
)

// TestManyFilesInLittleMemory lists a folder in a process of its own and reads
// the most memory it held. With TRANSECT_MANY_FILES=1000000 it takes minutes.
func TestManyFilesInLittleMemory(t *testing.T) {
	if dir := os.Getenv("TRANSECT_GATHER_DIR"); dir != "" {
		count(t, dir)
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("peak memory is read from /proc, which this system has not")
	}
	n := 5_000
	if text := os.Getenv("TRANSECT_MANY_FILES"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	} else if testing.Short() {
		t.Skip("makes 5,000 files: not in a short run")
	}
	dir := t.TempDir()
	for i := range n {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("DJI_20240514_%07d_V.JPG", i)), []byte(jpeg), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestManyFilesInLittleMemory$", "-test.v")
	cmd.Env = append(os.Environ(), "TRANSECT_GATHER_DIR="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var counted, peak int
	var took float64
	_, rest, _ := strings.Cut(string(out), "counted ")
	if _, err := fmt.Sscanf(rest, "%d in %f s, peak %d KiB", &counted, &took, &peak); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%d files in %.2f s: %.0f a second; peak %d MiB", counted, took, float64(counted)/took, peak>>10)
	if counted != n {
		t.Errorf("%d items of %d files", counted, n)
	}
	if peak > 128<<10 {
		t.Errorf("peak of %d MiB, want less than 128", peak>>10)
	}
}

func count(t *testing.T, dir string) {
	started, n, last := time.Now(), 0, ""
	for item, err := range gather.Items(context.Background(), gather.Source{Root: dir}) {
		if err != nil {
			t.Fatal(err)
		}
		if item.Name <= last {
			t.Fatalf("%s after %s", item.Name, last)
		}
		n, last = n+1, item.Name
	}
	took := time.Since(started).Seconds()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(status), "VmHWM:")
	fmt.Printf("counted %d in %.2f s, peak %s KiB\n", n, took, strings.Fields(text)[0])
}
