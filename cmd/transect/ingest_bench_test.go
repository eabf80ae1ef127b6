package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"transect/testdata/flightgen"
	"transect/testdata/floor"
)

// BenchmarkIngest ingests images of 200 kB by ingest.run in a script, and one
// by one the way a script without it does: create, init, PUT, complete. The
// server keeps nothing and runs in the process of the benchmark; the client's
// processor time is that of its own process, with its start and everything.
// TRANSECT_BENCH_FILES is the number of files, 1000 for the figures that count.
func BenchmarkIngest(b *testing.B) {
	files := 100
	if text := os.Getenv("TRANSECT_BENCH_FILES"); text != "" {
		var err error
		if files, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	for name, latency := range map[string]time.Duration{"loopback": 0, "20ms": 20 * time.Millisecond} {
		b.Run(name, func(b *testing.B) {
			h := newHome(b, files, flightgen.Options{FileSize: 200 << 10})
			s := floor.Serve(b, latency)
			h.file("ingest.lua", ingestScript)
			h.settings = []string{"TRANSECT_URL=" + s.URL, "TRANSECT_ACCESS_TOKEN=token"}
			var slow, fast, processor time.Duration
			some := files
			if latency > 0 {
				some = min(files, 100) // the time of one does not depend on their number
			}
			for i := 0; b.Loop(); i++ {
				began := time.Now()
				s.IngestNaively(b, filepath.Join(h.dir, "flight"), some)
				slow += time.Since(began) / time.Duration(some)
				cmd := h.command("run", "ingest.lua", "flight", fmt.Sprint("fast ", i))
				cmd.Stderr = os.Stderr
				began = time.Now()
				out, err := cmd.Output()
				fast += time.Since(began) / time.Duration(files)
				processor += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()) / time.Duration(files)
				var a ingestAnswer
				if err := errors.Join(err, json.Unmarshal(out, &a)); err != nil || a.Uploaded != files {
					b.Fatal(err, string(out))
				}
			}
			b.ReportMetric(slow.Seconds()/fast.Seconds(), "times-faster")
			b.ReportMetric(processor.Seconds()*1000/float64(b.N), "client-cpu-ms/file")
			b.ReportMetric(slow.Seconds()*1000/float64(b.N), "naive-ms/file")
			b.ReportMetric(fast.Seconds()*1000/float64(b.N), "ingest-ms/file")
		})
	}
}
