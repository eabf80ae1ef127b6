//go:build unix

package vm_test

import (
	"os/exec"
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
	// lua5.1 runs the same code where it is installed, start included.
	lua51, _ := exec.LookPath("lua5.1")
	for _, script := range []struct{ name, code string }{
		{"loop", `local n = 0; for i = 1, 1e6 do n = n + i % 7 end; return n`},
		{"calls", fib + `return fib(24)`},
		{"calls in pcall", fib + `return pcall(fib, 24)`},
		{"pcall", `local function f(x) return x end; for i = 1, 2e5 do pcall(f, i) end`},
		{"pcall of an error", `local function f(x) error(x) end; for i = 1, 2e4 do pcall(f, {}) end`},
		{"methods", `local o = { n = 0 }; function o:add(k) self.n = self.n + k end; for i = 1, 5e5 do o:add(i) end`},
		{"closures", `local s = 0; for i = 1, 3e5 do local f = function(k) s = s + k + i end; f(1) end`},
		{"while", `local i, s = 0, 0; while i < 1e6 do i = i + 1; s = s + i end`},
		{"pairs", `local t, s = {}, 0; for i = 1, 1000 do t[i] = i end; for n = 1, 200 do for _, v in ipairs(t) do s = s + v end end`},
		{"concat", `local s; for i = 1, 2e5 do s = "item " .. i .. ": " .. "value" end`},
		{"concat of texts", `local a, b, s = "one", "two"; for i = 1, 3e5 do s = a .. b end`},
		{"deep recursion", `local function f(n) if n == 0 then return 0 end return 1 + f(n - 1) end; for i = 1, 2e3 do f(190) end`},
		{"coroutines", `local f = coroutine.wrap(function() while true do coroutine.yield(1) end end); for i = 1, 1e5 do f() end`},
		{"remainder", `local a, s = 1e9, 0; for i = 1, 3e5 do s = s + a % i end`},
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
			if lua51 != "" {
				start := time.Now()
				if err := exec.Command(lua51, "-e", script.code).Run(); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(time.Since(start).Microseconds())/1000, "lua5.1-ms")
			}
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
