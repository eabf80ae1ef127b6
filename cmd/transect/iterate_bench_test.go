package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"transect/testdata/flightgen"
	"transect/testdata/floor"
	"transect/testdata/peaktest"
)

// BenchmarkIterate stands for the races "iterate": a fresh process reads the name of
// each dataset of a search. It is compared with the way of the platform's Python SDK
// in Go, one page after the other, decoded whole, and with a bare program of the same
// libraries. The server takes the time, so that start and login are outside. TRANSECT_BENCH_RECORDS is the number of records on
// loopback, a tenth with latency; the time of the last tenth is compared with that of
// the second.
func BenchmarkIterate(b *testing.B) {
	records := 20_000
	if text := os.Getenv("TRANSECT_BENCH_RECORDS"); text != "" {
		var err error
		if records, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, limit string
		latency     time.Duration
	}{
		{"@50", "50", 0}, {"@500", "500", 0}, {"growing", "nil", 0}, {"@50_20ms", "50", 20 * time.Millisecond},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := floor.Serve(b, c.latency)
			if s.Records = records; c.latency > 0 {
				s.Records /= 10
			}
			h := newHome(b, 0, flightgen.Options{})
			h.settings = []string{"TRANSECT_URL=" + s.URL, "TRANSECT_ACCESS_TOKEN=token"}
			h.file("iterate.lua", fmt.Sprintf(iterateScript, s.Records, c.limit))
			size, _ := strconv.Atoi(c.limit)
			size = max(size, 50)
			some := min(s.Records, 10_000) // the time of one does not depend on their number
			var slow, fast, bare time.Duration
			var later, peak float64
			for b.Loop() {
				s.Span()
				s.SearchNaively(b, size, some)
				slow += s.Span() / time.Duration(some/size)
				s.SearchBarely(b, size, s.Records)
				bare += s.Span() / time.Duration(s.Records/size)
				cmd := h.command("run", "iterate.lua")
				out, err := cmd.Output()
				fast += s.Span() / time.Duration(s.Records/size)
				ratio, wrong := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
				if err := errors.Join(err, wrong); err != nil {
					var exit *exec.ExitError
					errors.As(err, &exit)
					b.Fatalf("%v\n%s%s", err, out, exit.Stderr)
				}
				later += ratio
				peak = max(peak, float64(peaktest.Of(cmd.ProcessState))/(1<<20))
			}
			b.ReportMetric(slow.Seconds()/fast.Seconds(), "times-sdk-way")
			b.ReportMetric(bare.Seconds()/fast.Seconds(), "of-bare")
			b.ReportMetric(later/float64(b.N), "last/second-tenth")
			b.ReportMetric(peak, "peak-MiB")
		})
	}
}

const iterateScript = `
local count, limit = %d, %s
local time = require("time")
local n, letters, clocks = 0, 0, {}
for d in require("sdk").datasets.search_generator{ limit = limit } do
  letters, n = letters + #d.name, n + 1
  if n %% (count / 10) == 0 then clocks[n / count * 10] = time.clock() end
end
assert(n == count, n)
print((clocks[10] - clocks[9]) / (clocks[2] - clocks[1]))
`
