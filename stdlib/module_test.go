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

func TestProgressOfAnIterator(t *testing.T) {
	_, stderr, err := run(t, vm.Options{}, `
		local progress, task = require("progress"), require("task")
		for n, i in progress.each({ 5, 6 }, { label = "list" }) do assert(n == i + 4) end
		local n = 0
		local next = progress.each(function() n = n + 1; if n <= 20 then return n, "x" end end, { label = "tasks", total = 20 })
		local got = task.map(next, function(n, x) task.sleep(0.001); return n .. x end, { workers = 3 })
		assert(#got == 20 and got[20] == "20x")
		for n in progress.each({ 1, 2, 3 }, { label = "left" }) do break end
		local _, e = try(progress.each, 5); assert(tostring(e):find("must be a list or an iterator"), tostring(e))`)
	if err != nil || !strings.Contains(stderr, "list: 2 of 2 files") || !strings.Contains(stderr, "tasks: 20 of 20") {
		t.Errorf("%v: %s", err, stderr)
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

func TestInspectWithinLimits(t *testing.T) {
	out, _, err := run(t, vm.Options{}, `
		local inspect = require("inspect")
		local function is(want, ...) local got = inspect.value(...); assert(got == want, got) end
		is('{ 1, 2, … 1 more }', { 1, 2, 3 }, { items = 2 })
		is('{\n  1,\n  a = { … },\n  … 1 more\n}', { 1, a = { 1 }, b = 2 }, { items = 2, depth = 1 })
		is('"Übu"…', "Übung", { width = 3 })
		is('{\n  {},\n  { … },\n}', { {}, { 1 } }, { depth = 1 })
		local deep = {}; local at = deep; for i = 1, 5000 do at.x = {}; at = at.x end
		at.x = 1; assert(#inspect.value(deep) < 200000)
		local function refused(message, f, ...) local _, e = try(f, ...); assert(e and tostring(e):find(message, 1, true), tostring(e)) end
		refused("option depth must be at least 1, got 0", inspect.value, 1, { depth = 0 })
		refused("did you mean depth", inspect.value, 1, { dept = 1 })
		refused("row 2 must be a table or resource, got a number", inspect.table, { { a = 1 }, 5 })
		refused("argument rows must be a list or an iterator", inspect.table, 5)
		refused("a table has at most 100000 rows", inspect.table, function() return { a = 1 } end)
		local n = 0
		inspect.print_table(function() n = n + 1; return { n = n, text = "a long text" } end, { "n", "text" }, { limit = 2, width = 6 })
		inspect.print_table({ { a = 1 }, { a = 2 }, { a = 3 } }, nil, { limit = 1 })
		inspect.print("x"); inspect.print(nil)`)
	const want = "n  text\n1  a lon…\n2  a lon…\n… and more\na\n1\n… 2 more\n\"x\"\nnil\n"
	if err != nil || out != want {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestLoggerKeepsItsFields(t *testing.T) {
	_, stderr, err := run(t, vm.Options{}, `
		local log = require("log").with({ mission = "m1", part = 1 })
		log:info("a"); log:with({ part = 2 }):warn("b", { mission = "m2", z = true }); log:info("c")
		require("log").info("d")
		assert(tostring(log) == "logger (mission=m1 part=1)", tostring(log))
		local _, e = try(log.info, "x"); assert(tostring(e):find("object:info"), tostring(e))
		local _, e = try(require("log").with, { 1, 2 }); assert(tostring(e):find("must have names"), tostring(e))`)
	for _, want := range []string{"msg=a mission=m1 part=1\n", "msg=b mission=m2 part=2 z=true\n", "msg=c mission=m1 part=1\n", "msg=d\n"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("no %q in %s", want, stderr)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

func TestHash(t *testing.T) {
	if _, _, err := run(t, vm.Options{}, `
		local hash, fs = require("hash"), require("fs")
		local text = ("x"):rep(300000)
		fs.write("f", text)
		for _, method in ipairs({ "md5", "sha1", "sha256", "sha512", "crc32", "crc32c", "xxh64" }) do
			local h = hash.new(method)
			for i = 1, 300 do h:update(text:sub(1, 1000)) end
			assert(h:sum() == hash[method](text) and h:sum() == hash[method .. "_file"]("f") and tostring(h) == "hasher (" .. method .. ")")
		end
		assert(hash.crc32("123456789", { form = "number" }) == 3421780262)
		assert(#hash.sha256("", { form = "raw" }) == 32)
		assert(hash.hmac_file("sha256", "k", "f") == hash.new("sha256", { key = "k" }):update(text):sum())
		local function refused(message, f, ...) local _, e = try(f, ...); assert(e and tostring(e):find(message, 1, true), tostring(e)) end
		refused("did you mean sha256", hash.new, "sha265")
		refused("one of md5, sha1, sha256, sha512", hash.hmac, "crc32", "k", "x")
		refused("only checksums of 32 bits", hash.md5, "x", { form = "number" })
		refused("did you mean form", hash.md5, "x", { from = "raw" })
		refused("the methods are md5, sha1", hash.new, "crc32", { key = "k" })
		refused("missing.txt", hash.xxh64_file, "missing.txt")`); err != nil {
		t.Error(err)
	}
}
