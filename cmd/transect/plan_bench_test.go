package main

import (
	"testing"
	"time"

	"transect/runtime"
	"transect/testdata/flightgen"
)

// BenchmarkPlanPut plans to put photos that are all there, beside the put that finds
// nothing to do, in turn, each in a process of its own. The figures that count are those
// of 10,000 photos.
func BenchmarkPlanPut(b *testing.B) {
	h := newHome(b, benchFiles(b), flightgen.Options{Width: 16, Height: 16})
	s := serve(b, h)
	h.settings = []string{"TRANSECT_URL=" + s.URL, "TRANSECT_USER=" + s.User, "TRANSECT_PASSWORD=" + s.Password}
	h.must("put", "flight", "Quarry/May survey", "--create")
	put := []string{"put", "flight", "Quarry/May survey"}
	timed := func(args ...string) time.Duration {
		began := time.Now()
		if out, stderr, exit := h.run(args...); exit != runtime.ExitOK {
			b.Fatalf("%v: exit code %d\n%s%s", args, exit, out, stderr)
		}
		return time.Since(began)
	}
	var bare, planned time.Duration
	for b.Loop() {
		bare += timed(put...)
		planned += timed(append(put, "--plan")...)
	}
	b.ReportMetric(planned.Seconds()/bare.Seconds(), "plan/put")
	b.ReportMetric(bare.Seconds()*1000/float64(b.N), "put-ms")
}
