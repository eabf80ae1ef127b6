package stdlib_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"transect/runtime/vm"
)

func TestJSONFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"bom.json": "\ufeff{\"a\": [1]}", "bad.json": "{\n  x", "bad.jsonl": "{\"a\":1}\r\n\r\n{\"a\":\n", "last.jsonl": "1\nnull"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := run(t, vm.Options{Dir: dir}, `
		local json, fs = require("json"), require("fs")
		local function refused(name, message, f, ...)
			local _, e = try(f, ...)
			assert(e and e.name == name and tostring(e):find(message, 1, true), tostring(e))
		end
		assert(json.read("bom.json").a[1] == 1)
		refused("ValueError", "bad.json: line 2, column 3", json.read, "bad.json")
		refused("FileError", "missing.json: ", json.read, "missing.json")
		local next = json.read_lines("bad.jsonl"); assert(next().a == 1); refused("ValueError", "bad.jsonl: line 3 is not JSON", next)
		local t = {}; for v, n in json.read_lines("last.jsonl") do t[n] = v end; assert(t[1] == 1 and t[2] == json.null)
		local n = 0
		assert(json.write_lines("out.jsonl", function() n = n + 1; if n <= 20000 then return { n = n, text = ("x"):rep(20) } end end) == 20000)
		local sum = 0; for v in json.read_lines("out.jsonl") do sum = sum + v.n end; assert(sum == 20000 * 20001 / 2)
		refused("ParameterError", "row 2: ", json.write_lines, "out.jsonl", { 1, print })
		local first = json.read_lines("out.jsonl")(); assert(first.n == 1) -- still the old one
		refused("ParameterError", "argument rows must be a list or an iterator", json.encode_lines, 5)
		refused("ValueError", "not a whole number", json.integer, "1.5")
		local big = json.integer("-123456789012345678901234567890"); assert(tostring(big) == "-123456789012345678901234567890")
		assert(json.encode({ big, json.decode(json.encode(big)) }) == '[-123456789012345678901234567890,"-123456789012345678901234567890"]')`); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".transect*")); len(left) > 0 {
		t.Error("left behind: ", left)
	}
}

// What is read from JSON is written as the same JSON.
func TestJSONComesBackAsItWas(t *testing.T) {
	in := opened(t, `local json = require("json")
		function back(text) return json.encode(json.decode(text, { nulls = true })) end
		function lines(text) local t = {}; for v in json.lines(text) do t[#t + 1] = v end; return json.encode_lines(t) end`)
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		kinds := []*rapid.Generator[any]{
			rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.String().AsAny(), rapid.Float64Range(-1e15, 1e15).AsAny(),
			rapid.Map(rapid.Int64Range(-1<<53, 1<<53), func(n int64) any { return float64(n) }),
		}
		if depth > 0 {
			kinds = append(kinds, rapid.SliceOfN(value(depth-1), 0, 4).AsAny(), rapid.MapOfN(rapid.String(), value(depth-1), 0, 4).AsAny())
		}
		return rapid.OneOf(kinds...)
	}
	decode := func(t *rapid.T, text string) any {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err, text)
		}
		return v
	}
	rapid.Check(t, func(t *rapid.T) {
		text, err := json.Marshal(value(3).Draw(t, "value"))
		if err != nil {
			t.Fatal(err)
		}
		got := in.call(t, "back", string(text))[0].String()
		if diff := cmp.Diff(decode(t, string(text)), decode(t, got)); diff != "" {
			t.Fatal(diff)
		}
		// A null in an object reads as nil in lines, so compare lists of scalars.
		scalars, err := json.Marshal(value(0).Draw(t, "line"))
		if err != nil {
			t.Fatal(err)
		}
		many := string(bytes.Repeat(append(scalars, '\n'), 3))
		again := in.call(t, "lines", many)[0].String()
		if diff := cmp.Diff(decode(t, string(scalars)), decode(t, string(bytes.SplitN([]byte(again), []byte("\n"), 2)[0]))); diff != "" || bytes.Count([]byte(again), []byte("\n")) != 3 {
			t.Fatal(diff, again)
		}
	})
}
