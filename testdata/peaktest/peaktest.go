// Package peaktest measures the most memory that work on many files takes, for
// tests: each in a process of its own, which is the test's program again.
package peaktest

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// most is what such a process may take, in KiB.
const most = 128 << 10

// Number is how many files to make: those an environment variable says, else
// some. It skips the test where memory cannot be read, and in short runs.
func Number(t *testing.T, variable string, some int) int {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("peak memory is read from /proc, which this system has not")
	}
	text := os.Getenv(variable)
	if text == "" {
		if testing.Short() {
			t.Skipf("left out by -short: it makes %d files", some)
		}
		return some
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Tell says, in the process that is measured, how many files it went through.
func Tell(t *testing.T, files int, began time.Time) {
	t.Helper()
	took := time.Since(began).Seconds()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	fmt.Printf("went through %d in %.2f s, peak %s KiB\n", files, took, strings.Fields(peak)[0])
}

// Run runs a test of this program, with more in its environment, as a process
// that ends with Tell, and checks what it tells.
func Run(t *testing.T, test string, files int, environment ...string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+test+"$", "-test.v", "-test.timeout=60m")
	cmd.Env = append(os.Environ(), environment...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var found, peak int
	var took float64
	_, told, _ := strings.Cut(string(out), "went through ")
	if _, err := fmt.Sscanf(told, "%d in %f s, peak %d KiB", &found, &took, &peak); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%d files in %.2f s: %.0f a second; peak %d MiB", found, took, float64(found)/took, peak>>10)
	if found != files {
		t.Errorf("%d of %d files", found, files)
	}
	if peak > most {
		t.Errorf("peak of %d MiB, want no more than %d", peak>>10, most>>10)
	}
}
