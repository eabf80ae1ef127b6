package ingest

import (
	"os"
	"testing"
	"time"

	"transect/client"
	"transect/client/scan"
	"transect/testdata/flightgen"
	"transect/testdata/floor"
)

// TestFasterThanOneByOne uploads the same flight to a server that stores nothing: by Run, and file
// by file, four requests each. It prints how many times faster Run is; only TRANSECT_BENCH=1 uses
// the full size and compares the times, because a few files on a busy machine prove nothing.
func TestFasterThanOneByOne(t *testing.T) {
	files, atLeast := 60, 0.0
	if os.Getenv("TRANSECT_BENCH") != "" {
		files, atLeast = 1000, 1
	}
	if testing.Short() {
		files = 10
	}
	folder := flight(t, files, flightgen.Options{FileSize: 200 << 10})
	for name, latency := range map[string]time.Duration{"loopback": 0, "20 ms away": 20 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			s := floor.Serve(t, latency)
			some := files
			if latency > 0 {
				some = min(files, 100) // its time per file does not depend on their number
			}
			began := time.Now()
			s.IngestNaively(t, folder, some)
			slow := time.Since(began) / time.Duration(some)
			c, err := client.New(t.Context(), client.Settings{URL: s.URL, AccessToken: "token"}, client.Options{})
			if err != nil {
				t.Fatal(err)
			}
			began = time.Now()
			r, err := Run(t.Context(), c, Options{Source: scan.Source{Root: folder}, Target: Target{Project: "p"}, StateDir: t.TempDir()})
			if err != nil || r.Counts.Uploaded != int64(files) {
				t.Fatalf("%+v %v", r, err)
			}
			fast := time.Since(began) / time.Duration(files)
			ratio := float64(slow) / float64(fast)
			t.Logf("one by one %s a file, ingest %s a file: %.1f times faster", slow.Round(10*time.Microsecond), fast.Round(10*time.Microsecond), ratio)
			if ratio < atLeast {
				t.Errorf("only %.1f times faster", ratio)
			}
		})
	}
}
