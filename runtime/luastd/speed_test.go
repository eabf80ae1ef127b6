package luastd_test

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"transect/runtime/luastd"
	"transect/runtime/vm"
)

// BenchmarkBesideLua times the operations of testdata/speed.lua beside lua5.1: ratio is
// the time of the largest size by that of lua5.1, growth by how much it grows more than
// there, from the smallest size to the largest, four times as large.
func BenchmarkBesideLua(b *testing.B) {
	const script = "testdata/speed.lua"
	code, err := os.ReadFile(script)
	if err != nil {
		b.Fatal(err)
	}
	theirs, err := exec.Command("lua5.1", script).Output()
	if err != nil {
		b.Skipf("lua5.1, which must be installed: %v", err)
	}
	var ours bytes.Buffer
	in := luastd.New(b.Context(), vm.Options{Stdout: &ours})
	defer in.Close()
	if _, err := in.RunString(script, string(code)); err != nil {
		b.Fatal(err)
	}
	reference := timesOf(b, string(theirs))
	for name, times := range timesOf(b, ours.String()) {
		b.Run(name, func(b *testing.B) {
			first, last := times[0]/reference[name][0], times[2]/reference[name][2]
			b.ReportMetric(last, "ratio")
			b.ReportMetric(last/first, "growth")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// timesOf reads what the script prints, by operation. The least is a microsecond, which
// the clock does not go below.
func timesOf(b *testing.B, printed string) map[string][]float64 {
	found := map[string][]float64{}
	for line := range strings.Lines(printed) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), "\t")
		for field := range strings.SplitSeq(rest, "\t") {
			t, err := strconv.ParseFloat(field, 64)
			if err != nil {
				b.Fatalf("%q: %v", line, err)
			}
			found[name] = append(found[name], max(t, 1e-6))
		}
	}
	return found
}
