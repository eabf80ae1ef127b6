package vm_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"transect/client/fault"
	"transect/runtime/luastd"
	"transect/runtime/module"
	"transect/runtime/vm"
)

func TestThousandTasks(t *testing.T) {
	lua(t, `
		local probe = require("probe")
		local done, tasks = 0, {}
		for i = 1, 1000 do
			tasks[i] = probe.spawn(function(n)
				local iter = coroutine.wrap(function()
					for k = 1, 5 do
						if k == 3 then probe.wait(0.001) end
						coroutine.yield(k)
					end
				end)
				local sum = 0
				for k in iter do
					local ok, e = pcall(function() probe.wait(0); if k == 4 then error("four") end; return k end)
					sum = sum + (ok and e or 0)
					assert(ok or e:find("four"))
				end
				done = done + 1
				return n, sum
			end, i)
		end
		for i, t in ipairs(tasks) do
			local n, sum = t:await()
			assert(n == i and sum == 11, sum)
		end
		assert(done == 1000)`)
}

func TestTasksShareTheInterpreterFairly(t *testing.T) {
	lua(t, `
		local probe = require("probe")
		local stop = false
		local spinner = probe.spawn(function() local n = 0; while not stop do n = n + 1 end; return n end)
		probe.wait(0.01)
		stop = true
		assert(spinner:await() > 0)`)
}

func TestTaskFailures(t *testing.T) {
	for name, c := range map[string]struct {
		code string
		want string // of the run's error; "" is success
		line int
	}{
		"awaited and caught": {code: `local t = probe.spawn(function() error("bad") end); probe.wait(0.01); assert(not pcall(t.await, t))`},
		"raised again": {code: `local t = probe.spawn(function()
			error("bad") end)
			t:await()`, want: "test:2: bad", line: 2},
		"a fault keeps its line": {code: `local t = probe.spawn(function()
			local x = 1
			probe.fail("x") end)
			t:await()`, want: "probe.fail: no such thing", line: 3},
		"unobserved": {code: `probe.spawn(function()
			error("alone") end)`, want: "test:2: alone", line: 2},
		"unobserved in a nested task": {code: `probe.spawn(function() probe.spawn(function() error("deep") end) end)`, want: "test:1: deep", line: 1},
		"unobserved cancels the rest": {code: `probe.spawn(function() probe.wait(60) end); probe.spawn(function() error("first") end)`, want: "test:1: first", line: 1},
		"a scope cancels the rest": {code: `
			local ok, e = pcall(probe.scope, function()
				probe.spawn(function() probe.wait(60) end)
				probe.spawn(function() probe.wait(0.01); error("inner") end)
				while true do pcall(probe.wait, 1) end
			end)
			assert(not ok and e:find("inner"), e)`},
		"a failing body cancels its tasks": {code: `
			local ok, e = pcall(probe.scope, function() probe.spawn(function() probe.wait(60) end); error("body") end)
			assert(not ok and e:find("body"))`},
		"a scope waits": {code: `
			local n = 0
			probe.scope(function() for i = 1, 3 do probe.spawn(function() probe.wait(0.005); n = n + 1 end) end end)
			assert(n == 3)`},
		"a time limit": {code: `
			local ok, e = pcall(probe.scope, function() while true do pcall(probe.wait, 5) end end, 0.02)
			assert(not ok and e.name == "TimeoutError", tostring(e))
			probe.wait(0.001)`},
		"cancelling": {code: `
			local t = probe.spawn(function() probe.wait(60) end)
			probe.wait(0.005); assert(t:status() == "running")
			t:cancel()
			local ok, e = pcall(t.await, t)
			assert(not ok and e.name == "CancelledError" and t:status() == "cancelled")`},
		"waiting for itself": {code: `local t; t = probe.spawn(function() probe.wait(0.002); t:await() end)`, want: "a task cannot wait for itself", line: 1},
		"error values":       {code: `local t = probe.spawn(function() error({n = 4}) end); local ok, e = pcall(t.await, t); assert(e.n == 4)`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := interp(t, vm.Options{}).RunString("test", `local probe = require("probe"); `+c.code)
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || err.Error() != c.want {
				t.Fatalf("got %v, want %s", err, c.want)
			}
			r := vm.Failure(err)
			if len(r.Frames) == 0 || r.Frames[0].Line != c.line {
				t.Errorf("frames %+v, want line %d first", r.Frames, c.line)
			}
		})
	}
}

func TestCancelStopsTheScriptAnywhere(t *testing.T) {
	for name, code := range map[string]string{
		"pcall loop":        `while true do pcall(function() while true do end end) end`,
		"xpcall loop":       `while true do xpcall(function() while true do end end, function() while true do end end) end`,
		"coroutine":         `local co = coroutine.wrap(function() while true do pcall(function() while true do end end) end end); while true do pcall(co) end`,
		"coroutine chain":   `while true do coroutine.resume(coroutine.create(function() while true do end end)) end`,
		"waiting":           `while true do pcall(probe.wait, 60) end`,
		"waiting coroutine": `coroutine.wrap(function() while true do pcall(probe.wait, 60) end end)()`,
		"metamethod":        `local t = setmetatable({}, {__index = function() while true do end end}); while true do pcall(function() return t.x end) end`,
		"task":              `probe.spawn(function() while true do pcall(probe.wait, 60) end end):await()`,
		"spinning tasks":    `for i = 1, 3 do probe.spawn(function() while true do pcall(error) end end) end; probe.wait(60)`,
		"scope":             `probe.scope(function() while true do pcall(probe.wait, 60) end end)`,
		"sort":              `while true do pcall(table.sort, {3, 2, 1}, function(a, b) while true do end end) end`,
		"try":               `while true do try(function() while true do end end) end`,
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			ctx, cancel := context.WithCancelCause(context.Background())
			in := luastd.New(ctx, vm.Options{Stdout: &out})
			defer in.Close()
			module.Preload(in, probe)
			var at time.Time
			stop := time.AfterFunc(30*time.Millisecond, func() { at = time.Now(); cancel(errors.New("interrupt")) })
			defer stop.Stop()
			_, err := in.RunString("test", `local probe = require("probe"); `+code+`; print("went on")`)
			late := time.Since(at)
			var stopped *fault.CancelledError
			if !errors.As(err, &stopped) {
				t.Errorf("got %v", err)
			}
			if late > 20*time.Second { // what is not stopped waits for 60 s, or goes on for ever
				t.Errorf("took %s", late)
			}
			if out.Len() > 0 {
				t.Errorf("Lua ran on: %s", out.String())
			}
		})
	}
}

func TestOutcomeIsTheCauseWhenItIsAFault(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	in := luastd.New(ctx, vm.Options{})
	defer in.Close()
	late := fault.Of(&fault.TimeoutError{}, "the run took too long")
	cancel(late)
	if err := func() error { _, err := in.RunString("x", "while true do end"); return err }(); !errors.Is(err, late) {
		t.Errorf("got %v", err)
	}
}

func TestExitEndsTheRun(t *testing.T) {
	for code, want := range map[string]int{
		`pcall(os.exit, 3); error("went on")`: 3,
		`os.exit()`:                           0,
		`os.exit(false)`:                      1,
		`local co = coroutine.wrap(function() pcall(os.exit, 7) while true do end end); pcall(co)`:      7,
		`require("probe").spawn(function() os.exit(4) end); while true do require("probe").wait(1) end`: 4,
	} {
		in := interp(t, vm.Options{})
		_, err := in.RunString("test", code)
		var exit *vm.Exit
		if !errors.As(err, &exit) || exit.Code != want {
			t.Errorf("%s: got %v", code, err)
		}
		if _, err := in.RunString("next", "return 1"); err != nil {
			t.Errorf("the interpreter is unusable after an exit: %v", err)
		}
	}
}

func BenchmarkLockRelease(b *testing.B) {
	in := interp(b, vm.Options{})
	module.Preload(in, &module.Module{Name: "bench", Funcs: []module.Func{{Name: "loop", Call: func(c *module.Call) (any, error) {
		for b.Loop() {
			_ = vm.Blocking(c.L, func(context.Context) error { return nil })
		}
		return nil, nil
	}}}})
	if _, err := in.RunString("bench", `require("bench").loop()`); err != nil {
		b.Fatal(err)
	}
}
