//go:build unix

package vm_test

import (
	"slices"
	"syscall"
	"testing"
	"time"

	glua "github.com/yuin/gopher-lua"

	"transect/runtime/luastd"
	"transect/runtime/vm"
)

// BenchmarkInterpreter compares scripts under the clock, with limits and
// cancellation on, with plain gopher-lua. ratio is the median of the ratios of
// processor times of alternating runs.
func BenchmarkInterpreter(b *testing.B) {
	const fib = `local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end; `
	for _, script := range []struct{ name, code string }{
		{"loop", `local n = 0; for i = 1, 1e6 do n = n + i % 7 end; return n`},
		{"calls", fib + `return fib(24)`},
		{"calls in pcall", fib + `return pcall(fib, 24)`},
		{"library calls", `local t = { n = 0 }; for i = 1, 3e5 do t.n = t.n + math.floor(i / 2) end; return t.n`},
	} {
		b.Run(script.name, func(b *testing.B) {
			in := interp(b, vm.Options{Limits: vm.Limits{Instructions: 1 << 50, Memory: 1 << 30}})
			plain := glua.NewState()
			defer plain.Close()
			var ratios []float64
			for b.Loop() {
				start := processorTime(b)
				if _, err := in.RunString("script", script.code); err != nil {
					b.Fatal(err)
				}
				middle := processorTime(b)
				if err := plain.DoString(script.code); err != nil {
					b.Fatal(err)
				}
				plain.SetTop(0)
				ratios = append(ratios, float64(middle-start)/float64(processorTime(b)-middle))
			}
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "ratio")
		})
	}
}

// processorTime is what the process has used: wall time says little on a busy machine.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		luastd.New(b.Context(), vm.Options{}).Close()
	}
}

func BenchmarkProtectedCall(b *testing.B) {
	in := interp(b, vm.Options{})
	for b.Loop() {
		if _, err := in.RunString("loop", `local f = function() end; for i = 1, 1000 do pcall(f) end`); err != nil {
			b.Fatal(err)
		}
	}
}
