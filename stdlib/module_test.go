package stdlib_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"transect/runtime/vm"
)

func TestTaskMap(t *testing.T) {
	for name, code := range map[string]string{
		"keeps the order": `
			local r = task.map({ 5, 3, 1 }, function(ms, i) task.sleep(ms / 1000); return i * ms end, { workers = 3 })
			assert(r[1] == 5 and r[2] == 6 and r[3] == 3)`,
		"takes iterators": `
			local n = 0
			local r = task.map(function() n = n + 1; task.sleep(0.001); if n <= 20 then return n, "x" end end, function(n, x) return n .. x end)
			assert(#r == 20 and r[20] == "20x")`,
		"never runs more than workers": `
			local now, most = 0, 0
			local list = {}; for i = 1, 50 do list[i] = i end
			task.map(list, function() now = now + 1; most = math.max(most, now); task.sleep(0.0005); now = now - 1 end, { workers = 4 })
			assert(most == 4, most)`,
		"stops at the first failure": `
			local ran = 0
			local ok, e = pcall(task.map, { 1, 2, 3, 4, 5, 6 }, function(n) ran = ran + 1; if n == 2 then error("two") end; task.sleep(5) end, { workers = 2 })
			assert(not ok and e:find("two") and ran <= 3, tostring(e))`,
		"passes on a failing iterator": `
			local ok, e = pcall(task.map, function() error("source") end, function() end)
			assert(not ok and e:find("source"), tostring(e))
			assert(task.map({}, print) ~= nil)`,
		"refuses no workers": `
			local ok, e = pcall(task.map, {}, print, { workers = 0 })
			assert(e.name == "ParameterError" and e.operation == "task.map")`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := run(t, vm.Options{}, `local task = require("task"); `+code); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestFilesAreReplacedInOneStep(t *testing.T) {
	dir := t.TempDir()
	_, _, err := run(t, vm.Options{Dir: dir}, `
		local fs = require("fs")
		fs.write("a.txt", "one"); fs.write("a.txt", "two")
		assert(fs.read("a.txt") == "two")
		local ok, e = pcall(fs.write, "a.txt", "three", { overwrite = false })
		assert(e.name == "FileExistsError" and fs.read("a.txt") == "two")
		local ok, e = pcall(fs.read, "missing.txt")
		assert(e.name == "FileError" and tostring(e):find("fs.read: missing.txt", 1, true), tostring(e))
		local ok, e = pcall(fs.write, "no/such/folder.txt", ""); assert(e.name == "FileError")
		local ok, e = pcall(fs.write, ".", ""); assert(e.name == "FileError")
		local ok, e = pcall(fs.read, "a.txt", "r"); assert(e.name == "ParameterError")
		assert(#fs.list() == 1)`)
	if err != nil {
		t.Fatal(err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "a.txt")); string(got) != "two" {
		t.Errorf("got %q", got)
	}
}

func TestJSONModule(t *testing.T) {
	if _, _, err := run(t, vm.Options{}, `
		local json = require("json")
		assert(json.encode({ a = json.null }) == '{"a":null}')
		assert(json.encode({}) == "{}" and json.encode("<é>") == '"<é>"')
		local v = json.decode('{"a": null, "l": [1, null], "e": [], "deep": {"big": 12345678901234567890}}')
		assert(v.a == nil and v.l[2] == json.null and json.encode(v.e) == "[]" and v.deep.big == "12345678901234567890")
		assert(json.decode('{"a": null}', { nulls = true }).a == json.null)
		assert(json.decode("null") == json.null and tostring(json.null) == "null")
		local ok, e = pcall(json.decode, '{"a": 1,\n  "b": x}')
		assert(e.name == "ValueError" and e.message:find("line 2, column 8"), e.message)
		assert(not pcall(json.encode, 0/0) and not pcall(json.decode, "1 2"))
		local loop = {}; loop.me = loop
		local ok, e = pcall(json.encode, loop); assert(e.message:find("contains itself"))
		local ok, e = pcall(json.decode, ""); assert(e.message:find("ends too early"), e.message)`); err != nil {
		t.Error(err)
	}
}

func TestProgressOffTheTerminal(t *testing.T) {
	const code = `
		local p = require("progress").start({ label = "upload", files = 2 })
		p:add({ files = 1 }); p:add({ files = 1, failed = 1 }); p:finish(); p:finish()
		local q = require("progress").start({ label = "scan" }); q:add({ files = 7 }); q:finish()`
	out, stderr, err := run(t, vm.Options{}, code)
	if err != nil || out != "" {
		t.Fatal(out, err)
	}
	if !strings.Contains(stderr, "upload: 2 of 2 files (100%), 1 failed") || !strings.Contains(stderr, "scan: 7 files, ") {
		t.Errorf("got %s", stderr)
	}
	if _, scan, _ := strings.Cut(stderr, "scan"); strings.Contains(scan, "%") {
		t.Error("a percentage without a total")
	}
	_, stderr, _ = run(t, vm.Options{Log: vm.Log{JSON: true}}, code)
	for line := range strings.Lines(stderr) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil || v["type"] != "progress" {
			t.Errorf("not a JSON line: %s", line)
		}
	}
	if _, stderr, _ = run(t, vm.Options{Progress: vm.ProgressQuiet}, code); stderr != "" {
		t.Errorf("not quiet: %s", stderr)
	}
}

func TestLogLevels(t *testing.T) {
	_, stderr, err := run(t, vm.Options{}, `local log = require("log"); log.debug("hidden"); log.warn("careful", { b = 2, a = "x y" })`)
	if err != nil || strings.Contains(stderr, "hidden") || !strings.Contains(stderr, `level=WARN msg=careful a="x y" b=2`) {
		t.Errorf("got %q, %v", stderr, err)
	}
}

func TestInspectTable(t *testing.T) {
	out, _, err := run(t, vm.Options{}, `print(require("inspect").table({ { id = "a", n = 5 }, { id = "longer", n = 120 } }, { "id", "n" }))`)
	const want = "id        n\na         5\nlonger  120\n"
	if err != nil || out != want {
		t.Errorf("got %q, %v", out, err)
	}
}
