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

// BenchmarkIngest stands for the races "ingest": images of 200 kB by ingest.run and by
// task.map, beside the way of the platform's Python SDK: create, init, PUT, complete, one
// after the other; and beside a bare program of the same libraries. The server keeps nothing and runs in the process of the benchmark; the client's
// processor time is that of its own process, with its start and everything.
// The figures that count are those of 1000 files.
func BenchmarkIngest(b *testing.B) {
	files := benchFiles(b)
	for _, c := range []struct {
		name, script string
		latency      time.Duration
	}{
		{"loopback", ingestScript, 0}, {"20ms", ingestScript, 20 * time.Millisecond},
		{"task.map", mapScript, 0}, {"task.map_20ms", mapScript, 20 * time.Millisecond},
	} {
		b.Run(c.name, func(b *testing.B) {
			h := newHome(b, files, flightgen.Options{FileSize: 200 << 10})
			s := floor.Serve(b, c.latency)
			h.file("ingest.lua", c.script)
			h.settings = []string{"TRANSECT_URL=" + s.URL, "TRANSECT_ACCESS_TOKEN=token"}
			var slow, fast, bare, processor time.Duration
			some := files
			if c.latency > 0 {
				some = min(files, 100) // the time of one does not depend on their number
			}
			for i := 0; b.Loop(); i++ {
				began := time.Now()
				s.IngestNaively(b, filepath.Join(h.dir, "flight"), some)
				slow += time.Since(began) / time.Duration(some)
				s.Span()
				s.IngestBarely(b, filepath.Join(h.dir, "flight"), files)
				bare += s.Span() / time.Duration(files)
				cmd := h.command("run", "ingest.lua", "flight", fmt.Sprint("fast ", i))
				cmd.Stderr = os.Stderr
				out, err := cmd.Output()
				fast += s.Span() / time.Duration(files)
				processor += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()) / time.Duration(files)
				var a ingestAnswer
				if err := errors.Join(err, json.Unmarshal(out, &a)); err != nil || a.Uploaded != files {
					b.Fatal(err, string(out))
				}
			}
			b.ReportMetric(slow.Seconds()/fast.Seconds(), "times-faster")
			b.ReportMetric(bare.Seconds()/fast.Seconds(), "of-bare")
			b.ReportMetric(processor.Seconds()*1000/float64(b.N), "client-cpu-ms/file")
			b.ReportMetric(slow.Seconds()*1000/float64(b.N), "naive-ms/file")
			b.ReportMetric(fast.Seconds()*1000/float64(b.N), "ingest-ms/file")
		})
	}
}

// benchFiles is the number of files of a benchmark, TRANSECT_BENCH_FILES or 100.
func benchFiles(b *testing.B) int {
	text := os.Getenv("TRANSECT_BENCH_FILES")
	if text == "" {
		return 100
	}
	files, err := strconv.Atoi(text)
	if err != nil {
		b.Fatal(err)
	}
	return files
}

const mapScript = `
local sdk, fs, task = require("sdk"), require("fs"), require("task")
local names = fs.list(arg[1])
task.map(names, function(name)
  local dataset = sdk.datasets.create_image_dataset{ name = arg[2] .. " " .. name, project = "5d0c00000000000000000002" }
  sdk.datasets.upload_file{ dataset = dataset.id, component = "image", file_path = arg[1] .. "/" .. name }
end, { workers = 16 })
print('{"uploaded":' .. #names .. '}')
`
