package embed_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"transect/client/fault"
	"transect/platform"
	"transect/runtime/embed"
	"transect/runtime/module"
	"transect/runtime/vm"
)

func compile(t testing.TB, src string) *embed.Program {
	t.Helper()
	p, err := embed.Compile("test.lua", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func open(t testing.TB, o embed.Options) *embed.Runtime {
	t.Helper()
	r, err := embed.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// What a runtime is not given it does not have.
func TestClosedByDefault(t *testing.T) {
	t.Setenv("SECRET_OF_THE_HOST", "open-sesame")
	file := filepath.Join(t.TempDir(), "file.txt")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := open(t, embed.Options{Globals: map[string]any{"file": file}})
	for _, code := range []string{
		`return io.open(file)`, `return io.open(file, "w")`, `return require("fs").read(file)`, `return require("fs").list("/")`,
		`return io.popen("true")`, `return require("process").run{ "true" }`, `return os.execute("true")`,
		`return require("http").get("http://127.0.0.1:1")`, `return os.remove(file)`, `return dofile(file)`, `return loadfile(file)`,
		`os.setenv("X_OF_THE_SCRIPT", "1")`, `return require("projects").search()`,
		`return require("sdk").connect{ url = "http://127.0.0.1:1", access_token = "t" }.url`,
	} {
		got, err := r.Run(t.Context(), compile(t, code))
		if err == nil && got != nil {
			if list, ok := got.([]any); !ok || len(list) > 0 && list[0] != nil {
				t.Errorf("%s: %v", code, got)
			}
		}
	}
	if got, err := r.Run(t.Context(), compile(t, `return tostring(os.getenv("SECRET_OF_THE_HOST")) .. tostring(os.getenv("HOME"))`)); err != nil || got != "nilnil" {
		t.Errorf("environment: %v, %v", got, err)
	}
	if os.Getenv("X_OF_THE_SCRIPT") != "" {
		t.Error("a script changed the environment of the host")
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "x" {
		t.Error("a script changed a file", err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(file), "beside.lua"), []byte("return 'loaded'"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Dir(file))
	for _, dir := range []string{"", filepath.Dir(file)} {
		r := open(t, embed.Options{Dir: dir})
		if got, err := r.Run(t.Context(), compile(t, `return require("beside")`)); err == nil {
			t.Errorf("a module of the working folder %q was loaded: %v", dir, got)
		}
	}
	allowed := open(t, embed.Options{Dir: filepath.Dir(file), Allow: []string{"read=."}})
	if got, err := allowed.Run(t.Context(), compile(t, `return require("beside")`)); err != nil || got != "loaded" {
		t.Errorf("an allowed module: %v, %v", got, err)
	}
	if got, err := allowed.Run(t.Context(), compile(t, `return require("fs").read("file.txt")`)); err != nil || got != "x" {
		t.Errorf("allowed: %v, %v", got, err)
	}
	if _, err := embed.New(t.Context(), embed.Options{Allow: []string{"wread=."}}); err == nil {
		t.Error("a misspelt rule is accepted")
	}
}

type meter struct{ N int }

func (m *meter) Add(n int) int { m.N += n; return m.N }

func TestValues(t *testing.T) {
	m := &meter{N: 1}
	var out bytes.Buffer
	r := open(t, embed.Options{Stdout: &out, Env: map[string]string{"A": "b"}, Args: []string{"first"}, Globals: map[string]any{
		"meter": m, "double": func(x float64) float64 { return 2 * x }, "list": []any{"a", int64(2), map[string]any{"k": true}}}})
	got, err := r.Run(t.Context(), compile(t, `
		print(os.getenv("A"), arg[1], ...)
		function total(a, b) return a + b end
		mine = { deep = { of = function(v) return { v = v, n = meter:Add(2) } end } }
		return { double(21), list[3].k, #list, meter.N }`), "given", 3)
	if err != nil || fmt.Sprint(got) != "[42 true 3 1]" || out.String() != "b\tfirst\tgiven\t3\n" {
		t.Errorf("%v, %v, %q", got, err, out.String())
	}
	if got, err := r.Call(t.Context(), "total", 1, 2.5); err != nil || fmt.Sprint(got) != "3.5" {
		t.Error(got, err)
	}
	if got, err := r.Call(t.Context(), "mine.deep.of", "x"); err != nil || m.N != 3 || fmt.Sprint(got) != "map[n:3 v:x]" {
		t.Error(got, err, m.N)
	}
	for _, name := range []string{"missing", "mine.deep.none", "mine.x.y", "arg"} {
		if _, err := r.Call(t.Context(), name); err == nil || !strings.Contains(err.Error(), "there is no function "+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestErrors(t *testing.T) {
	if _, err := embed.Compile("a.lua", []byte("x = = 1")); fault.Find(err) == nil || fault.Find(err).Name() != "SyntaxError" || !strings.Contains(err.Error(), "a.lua:1") {
		t.Errorf("%v", err)
	}
	r := open(t, embed.Options{})
	_, err := r.Run(t.Context(), compile(t, "local function f()\n  error('mine')\nend\nf()"))
	var failed *vm.ScriptError
	if !errors.As(err, &failed) || len(failed.Frames) == 0 || failed.Frames[0].Line != 2 || !strings.Contains(err.Error(), "mine") {
		t.Errorf("%v, %+v", err, failed)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := r.Run(ctx, compile(t, "while true do pcall(function() while true do end end) end")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an endless script: %v", err)
	}
	if got, err := r.Run(t.Context(), compile(t, "return 1")); err != nil || fmt.Sprint(got) != "1" {
		t.Errorf("after it: %v, %v", got, err)
	}
}

// Many runtimes share a program; one that does not end and one that fails disturb none.
func TestManyAtOnce(t *testing.T) {
	shared := compile(t, `
		local kind = ...
		while kind == "endless" do end
		if kind == "wrong" then error("mine") end
		local t = {}
		for i = 1, 2000 do t[i] = ("x"):rep(i % 7) end
		return #table.concat(t)`)
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			kind := map[int]string{7: "endless", 13: "wrong"}[i]
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if kind == "endless" {
				time.AfterFunc(100*time.Millisecond, cancel)
			}
			r, err := embed.New(ctx, embed.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Close()
			if got, err := r.Run(ctx, shared, kind); (err == nil) != (kind == "") || err == nil && fmt.Sprint(got) != "6000" {
				t.Errorf("%d %s: %v, %v", i, kind, got, err)
			}
		})
	}
	wg.Wait()
}

// A host's module is checked like those of Transect, and its platform answers the managers.
func TestHost(t *testing.T) {
	p, err := platform.Open(t.Context(), platform.Options{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c, err := p.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tariffs := &module.Module{Name: "tariffs", Doc: "Prices of the host.", Funcs: []module.Func{{
		Name: "price", Doc: "Prices an area.", Params: []module.Param{{Name: "hectares", Type: "number", Doc: "area"}},
		Call: func(c *module.Call) (any, error) { return 1.5 * c.Number("hectares"), nil }}}}
	r := open(t, embed.Options{Platform: c, Modules: []*module.Module{tariffs}})
	got, err := r.Run(t.Context(), compile(t, `
		local company = require("companies").search{ limit = 1 }[1]
		local p = require("projects").create("Host", company)
		return { #require("projects").search{ filter = { name = { ["$eq"] = "Host" } } }, require("tariffs").price(10), p.name }`))
	if err != nil || fmt.Sprint(got) != "[1 15 Host]" {
		t.Error(got, err)
	}
	if _, err := r.Run(t.Context(), compile(t, `require("tariffs").price("ten")`)); err == nil || !strings.Contains(err.Error(), "hectares") {
		t.Error(err)
	}
}

func ExampleRuntime_Call() {
	p, _ := embed.Compile("rule.lua", []byte(`function due(hours) return hours > 200 end`))
	r, _ := embed.New(context.Background(), embed.Options{})
	defer r.Close()
	_, _ = r.Run(context.Background(), p)
	answer, err := r.Call(context.Background(), "due", 250)
	fmt.Println(answer, err)
	// Output: true <nil>
}

func BenchmarkRuntime(b *testing.B) {
	p := compile(b, "return 1")
	for b.Loop() {
		r, err := embed.New(b.Context(), embed.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := r.Run(b.Context(), p); err != nil {
			b.Fatal(err)
		}
		r.Close()
	}
}

// Each run has the whole limit of instructions, and one that goes past it leaves the runtime usable.
func TestInstructionsOfEachRun(t *testing.T) {
	r := open(t, embed.Options{Limits: vm.Limits{Instructions: 1_000_000}})
	for range 5 {
		if _, err := r.Run(t.Context(), compile(t, "for i = 1, 200000 do end")); err != nil {
			t.Fatal(err)
		}
	}
	_, err := r.Run(t.Context(), compile(t, "while true do pcall(function() while true do end end) end"))
	if limit := fault.Find(err); limit == nil || limit.Name() != "LimitError" || strings.Contains(fmt.Sprint(vm.Failure(err)), "--max") {
		t.Errorf("%v", err)
	}
	if _, err := r.Run(t.Context(), compile(t, "return 1")); err != nil {
		t.Errorf("after it: %v", err)
	}
}

// A limit of memory is that of one runtime: of many at once, only the greedy one is ended, wherever it keeps what it
// takes.
func TestMemoryOfOneRuntime(t *testing.T) {
	const limit, others = 16 << 20, 6
	for where, greedy := range map[string]string{
		"a global":       `kept = {} for i = 1, 1e9 do kept[i] = { i } end`,
		"a local":        `local kept = {} for i = 1, 1e9 do kept[i] = "text " .. i end`,
		"keys":           `local kept = {} for i = 1, 1e9 do kept["key " .. i] = true end`,
		"a text":         `local text = "x" while true do text = text .. text .. "y" end`,
		"texts":          `local kept = {} for i = 1, 1e9 do kept[i] = ("x"):rep(1000) .. i end`,
		"an upvalue":     `local kept = {} local function add(v) kept[#kept + 1] = v end for i = 1, 1e9 do add{ i } end`,
		"the stack":      `local function deep(n) local t = {} for i = 1, 1000 do t[i] = { i } end return deep(n + 1) + #t end deep(1)`,
		"a coroutine":    `local c = coroutine.wrap(function() local kept = {} while true do kept[#kept + 1] = { 1 } if #kept % 100 == 0 then coroutine.yield() end end end) while true do c() end`,
		"coroutines":     `local kept = {} for i = 1, 1e9 do kept[i] = coroutine.create(function() coroutine.yield() end) coroutine.resume(kept[i]) end`,
		"a task":         `local task = require("task") task.spawn(function() local kept = {} for i = 1, 1e9 do kept[i] = { i } end end):await()`,
		"a long table":   `local t = {} for i = 1, 1e9 do t[i] = i end`,
		"protected":      `while true do pcall(function() local kept = {} for i = 1, 1e9 do kept[i] = { i } end end) end`,
		"string.rep":     `local t = {} for i = 1, 1e9 do t[i] = ("x"):rep(5000000) end`,
		"table.concat":   `local t = {} for i = 1, 1000 do t[i] = ("x"):rep(1000) end local all = {} for i = 1, 1e9 do all[i] = table.concat(t) end`,
		"a metatable":    `local t = setmetatable({}, { __index = {} }) local m = getmetatable(t).__index for i = 1, 1e9 do m[i] = { i } end`,
		"decoded values": `local json, t = require("json"), {} for i = 1, 1e9 do t[i] = json.decode('[1,2,3,{"a":"b"}]') end`,
	} {
		if testing.Short() && where != "a task" && where != "a text" { // the others differ in where values lie alone
			continue
		}
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			run := func(code string) error {
				r, err := embed.New(t.Context(), embed.Options{Limits: vm.Limits{Memory: limit}})
				if err != nil {
					return err
				}
				defer r.Close()
				_, err = r.Run(t.Context(), compile(t, code))
				return err
			}
			var wg sync.WaitGroup
			wg.Go(func() {
				if err := run(greedy); fault.Find(err) == nil || fault.Find(err).Name() != "LimitError" || !strings.Contains(err.Error(), "memory") {
					t.Errorf("the greedy one: %v", err)
				}
			})
			for range others { // each makes more garbage than the limit, and keeps a fifth of it
				wg.Go(func() {
					if err := run(`
						local kept = {}
						for i = 1, 40000 do kept[i % 20000 + 1] = { ("x"):rep(i % 100) } end
						local long = ("x"):rep(1000000)
						for i = 1, 100 do local copy = long .. i; kept[i] = long:sub(i) end
						return #kept`); err != nil {
						t.Errorf("a harmless one: %v", err)
					}
				})
			}
			wg.Wait()
		})
	}
}
