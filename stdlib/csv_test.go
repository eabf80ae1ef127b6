package stdlib_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	lua "github.com/yuin/gopher-lua"
	"pgregory.net/rapid"

	"transect/runtime/luastd"
	"transect/runtime/module"
	"transect/runtime/vm"
	"transect/stdlib"
)

func TestCSVDialects(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"bom.csv": "\xef\xbb\xbfid,n\r\na,1\r\n", "ragged.csv": "id,n\na,1\nb\n", "empty.csv": "", "wide.csv": "\xff\xfei\x00"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, stderr, err := run(t, vm.Options{Dir: dir}, `
		local csv, fs = require("csv"), require("fs")
		local function rows(...) local r = {}; for row, line in csv.read(...) do row.line = line; r[#r+1] = row end; return r end
		local r = rows("bom.csv", { types = { n = "integer" } })
		assert(#r == 1 and r[1].id == "a" and r[1].n == 1 and r[1].line == 2)
		assert(#rows("empty.csv", { types = { n = "integer" } }) == 0)
		local _, e = try(rows, "ragged.csv"); assert(e.name == "ValueError" and e.message:find("^ragged.csv, line 3 has 1 field, the lines before it have 2"), tostring(e))
		assert(#rows("wide.csv") >= 0) -- UTF-16, by its mark
		assert(csv.parse("ort\nM\252nchen\n", { encoding = "windows-1252" })[1].ort == "München")
		assert(csv.encode({ { ort = "München" } }, { encoding = "latin1" }) == "ort\nM\252nchen\n")
		local _, e = try(csv.encode, { { a = "日本" } }, { encoding = "latin1" }); assert(e.name == "ValueError" and e.hint, tostring(e))
		local _, e = try(csv.parse, "a", { encoding = "latin-1" }); assert(e.message:find("did you mean latin1"), tostring(e))
		local _, e = try(rows, "none.csv"); assert(e.name == "FileError" and e.message:find("none.csv"), tostring(e))
		local _, e = try(csv.parse, "n\nx\n", { types = { n = "number" } }); assert(e.message:find('line 2, column n: "x" is not a number'), tostring(e))
		local _, e = try(csv.parse, "area\n1\n", { types = { aera = "number" } }); assert(e.message:find("did you mean area"), tostring(e))
		local _, e = try(csv.parse, "a,a\n"); assert(e.message:find("twice"), tostring(e))
		local _, e = try(csv.parse, 'a,b\n1,"x\n2,3\n'); assert(e.message:find("line"), tostring(e))
		local _, e = try(csv.parse, "a", { separator = ";;" }); assert(e.name == "ParameterError")
		local _, e = try(csv.parse, "a", { seperator = ";" }); assert(e.message:find("did you mean separator"), tostring(e))
		local r = csv.parse("# x\na\t b \n 1 \t\n", { separator = "\t", comment = "#", trim = true })
		assert(r[1].a == "1" and r[1].b == "")
		local r = csv.parse('5" wide|x\n', { separator = "|", quote = "", header = { "size", "n" } })
		assert(r[1].size == '5" wide' and r[1].n == "x")
		assert(csv.parse(",b\n1,2\n")[1].column_1 == "1")
		assert(csv.parse("big\n9007199254740993\n", { types = { big = "integer" } })[1].big == "9007199254740993")
		assert(csv.encode({ { "a'b", 'c"d' } }, { quote = "'", header = false, crlf = true }) == "'a''b',c\"d\r\n")
		assert(csv.encode({ { b = 1, a = true }, { a = 0.5 } }) == "a,b\ntrue,1\n0.5,\n")
		assert(csv.encode({ { a = "" } }) == 'a\n""\n' and csv.encode({}) == "")
		local _, e = try(csv.encode, { { a = 1 }, { aa = 1 } }); assert(e.message:find("row 2 has aa, which is not a column %(did you mean a%?%)"), tostring(e))
		local _, e = try(csv.encode, { { a = {} } }); assert(e.message:find("row 1, column a"), tostring(e))
		local r = csv.parse("Flight log\nmade by \"X\"\nid;area\nn1;2,5\n", { skip = 2, separator = ";", decimal = ",", types = { area = "number" } })
		assert(#r == 1 and r[1].id == "n1" and r[1].area == 2.5)
		local _, e = try(csv.parse, "x\na;b\n1;2,5,6\n", { skip = 1, separator = ";", decimal = ",", types = { b = "number" } }); assert(e.message:find('line 3, column b: "2,5,6" is not a number'), tostring(e))
		local _, e = try(csv.parse, "x\na,b\n1\n", { skip = 1 }); assert(e.message:find("^line 3 has 1 field,"), tostring(e))
		local _, e = try(csv.parse, "a\n1.5\n", { decimal = ",", types = { a = "number" } }); assert(e.message:find("is not a number"), tostring(e))
		local _, e = try(csv.parse, "a", { skip = -1 }); assert(e.message:find("skip must be at least 0, got %-1"), tostring(e))
		assert(#csv.parse("only one line", { skip = 5 }) == 0)
		fs.write("kept.csv", "old")
		local _, e = try(csv.write, "kept.csv", { { a = 1 }, 5 }); assert(e.message:find("row 2"), tostring(e))
		assert(fs.read("kept.csv") == "old")
		csv.write("kept.csv", csv.read("bom.csv"), { header = { "n", "id" } })
		assert(fs.read("kept.csv") == "n,id\n1,a\n")
		local out = csv.writer("kept.csv"); out:write({ a = 1 })
		for row in csv.read("bom.csv") do if row then break end end
		assert(#fs.list() == 6)`)
	if err != nil {
		t.Fatalf("%v %+v", err, vm.Failure(err).Frames)
	}
	if !strings.Contains(stderr, "kept.csv was never closed") {
		t.Errorf("got %q", stderr)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".transect-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestCSVComesBackAsItWent(t *testing.T) {
	in := luastd.New(context.Background(), vm.Options{})
	defer in.Close()
	module.Preload(in, stdlib.Modules()...)
	rapid.Check(t, func(rt *rapid.T) {
		width := rapid.IntRange(1, 4).Draw(rt, "width")
		field := rapid.StringOfN(rapid.RuneFrom([]rune(`a"';,| é#`+"\n\t")), 0, 6, -1)
		rows := rapid.SliceOfN(rapid.SliceOfN(field, width, width), 1, 5).Draw(rt, "rows")
		dialect := rapid.SampledFrom([]string{`{}`, `{ separator = ";" }`, `{ quote = "'", separator = "|" }`, `{ separator = "\t", crlf = true }`,
			`{ separator = " ", bom = true }`, `{ quote = "|", separator = "#" }`, `{ quote = ";", crlf = true, bom = true }`}).Draw(rt, "dialect")
		code := "local rows = {}\n"
		for _, row := range rows {
			code += "rows[#rows+1] = {"
			for _, f := range row {
				code += " " + quoteLua(f) + ","
			}
			code += " }\n"
		}
		code += `local csv, o, p = require("csv"), ` + dialect + `, ` + dialect + `
			o.header, p.header, p.crlf, p.bom = false, false, nil, nil
			local text = csv.encode(rows, o)
			local again = csv.parse(text, p)
			if #again ~= #rows then return text end
			for i, row in ipairs(rows) do for j, f in ipairs(row) do if again[i][j] ~= f then return text end end end
			return ""`
		values, err := in.RunString("round", code)
		if err != nil || values[0] != lua.LString("") {
			rt.Fatalf("%v %v", values, err)
		}
	})
}

func quoteLua(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(s) + `"`
}
