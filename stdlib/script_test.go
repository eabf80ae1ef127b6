package stdlib_test

import (
	"errors"
	"strings"
	"testing"

	"transect/client/fault"
	"transect/runtime/vm"
	"transect/stdlib"
)

const declared = `
	local args = require("script").args({
		_doc = "Ingests a folder of images.",
		"folder", "files",
		folder = { "string", doc = "where the images are" },
		files = { "strings", optional = true },
		max_size = { "integer", default = 3, doc = "largest image" },
		mode = { "string", default = "fast", choices = { "fast", "careful" } },
		dry = "boolean",
		token = { "string", optional = true, env = "SECRET_TOKEN" },
	})
	print(args.folder, table.concat(args.files, "+"), args.max_size, args.mode, args.dry, args.token)`

func TestScriptArguments(t *testing.T) {
	for _, c := range []struct{ args, want, fails string }{
		{args: "flight", want: "flight  3 fast false nil"},
		{args: "flight a b --max-size 5 --mode=careful --dry", want: "flight a+b 5 careful true nil"},
		{args: "--dry flight --max_size=-2", want: "flight  -2 fast true nil"},
		{args: "--dry=false --folder f x", want: "f x 3 fast false nil"},
		{args: "-- --odd -1", want: "--odd -1 3 fast false nil"},
		{args: "", fails: "missing argument FOLDER"},
		{args: "f --mod fast", fails: "unknown argument --mod (did you mean --mode?)"},
		{args: "f --mode fats", fails: `--mode must be one of fast, careful, got "fats" (did you mean fast?)`},
		{args: "f --max-size 1.5", fails: `--max-size must be an integer, got "1.5"`},
		{args: "f --mode", fails: "--mode needs a value"},
		{args: "f -x", fails: "unknown argument -x"},
	} {
		out, _, err := run(t, vm.Options{Args: strings.Fields(c.args)}, declared)
		if c.fails != "" {
			var usage *fault.UsageError
			if !errors.As(err, &usage) || usage.Message != c.fails {
				t.Errorf("%q: got %v, want %s", c.args, err, c.fails)
			}
			continue
		}
		if got := strings.TrimSpace(strings.ReplaceAll(out, "\t", " ")); err != nil || got != c.want {
			t.Errorf("%q: got %q, %v, want %q", c.args, got, err, c.want)
		}
	}
	env := func(name string) (string, bool) { return "s3cret", name == "SECRET_TOKEN" }
	if out, _, _ := run(t, vm.Options{Args: []string{"f"}, Env: env}, declared); !strings.Contains(out, "s3cret") {
		t.Errorf("the environment is not read: %q", out)
	}
}

func TestScriptHelp(t *testing.T) {
	out, _, err := run(t, vm.Options{Script: "ingest.lua", Args: []string{"f", "--help"}}, declared+`; error("went on")`)
	var exit *vm.Exit
	if !errors.As(err, &exit) || exit.Code != 0 {
		t.Fatalf("got %v", err)
	}
	const want = `Ingests a folder of images.

Usage:
  transect run ingest.lua [options] FOLDER [FILES...]

Arguments:
  FOLDER  where the images are; required
  FILES

Options:
  --dry
  --max-size INTEGER  largest image; default 3
  --mode STRING       one of fast, careful; default fast
  --token STRING      or from $SECRET_TOKEN
  --help              show this text
`
	if out != want {
		t.Errorf("got:\n%s", out)
	}
}

// Defaults and choices are shown as somebody would write them.
func TestScriptHelpShowsValues(t *testing.T) {
	out, _, err := run(t, vm.Options{Script: "s.lua", Args: []string{"--help"}}, `require("script").args{
		match = { "string", default = "", doc = "part of a name" },
		separator = { "string", default = ",", choices = { ",", "\t" } },
		exclude = { "strings", default = { "**/.*", "*.tmp" } } }`)
	var exit *vm.Exit
	if !errors.As(err, &exit) {
		t.Fatal(err)
	}
	for _, want := range []string{"STRING      part of a name\n", `one of ",", "\t"; default ","` + "\n", "default **/.*, *.tmp\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in:\n%s", want, out)
		}
	}
}

func TestWrongDeclarations(t *testing.T) {
	for code, want := range map[string]string{
		`{ n = "nubmer" }`:                                                "unknown type nubmer (did you mean number?)",
		`{ n = { "string", defalt=1 } }`:                                  "unknown key defalt (did you mean default?)",
		`{ "a", "b", a = "strings", b = { optional = true } }`:            "b cannot follow it",
		`{ n = { "integer", default = "four" } }`:                         `argument n: the default must be an integer, got "four"`,
		`{ n = { "integer", default = 1.5 } }`:                            "argument n: the default must be an integer, got 1.5",
		`{ n = { "number", default = true } }`:                            "argument n: the default must be a number, got true",
		`{ n = { "boolean", default = "yes" } }`:                          `argument n: the default must be true or false, got "yes"`,
		`{ n = { "string", default = 5 } }`:                               "argument n: the default must be a string, got 5",
		`{ n = { default = { "a" } } }`:                                   "argument n: the default must be a string, got a list",
		`{ n = { "strings", default = { "a", 1 } } }`:                     "argument n: the default[2] must be a string, got 1",
		`{ n = { "strings", default = { a = 1 } } }`:                      "argument n: the default must be a list of strings, got a table",
		`{ n = { default = "fat", choices = { "fast", "slow" } } }`:       `argument n: the default "fat" is not one of the choices fast, slow (did you mean fast?)`,
		`{ n = { "integer", choices = { 1, "two" } } }`:                   `argument n: the choice "two" is not an integer`,
		`{ n = { "string", "the folder" } }`:                              "argument n: only the type stands without a key, the folder follows it",
		`{ n = { choices = "fast" } }`:                                    "argument n: choices must be a list",
		`{ n = { "integer", default = 2, choices = { 1, 2 } }, m = "x" }`: "argument m: unknown type x",
		`{ n = { "integer", default = print } }`:                          "argument n: the default",
		`{ help = "boolean" }`:                                            "argument help: --help is built in",
	} {
		_, _, err := run(t, vm.Options{}, `require("script").args(`+code+`)`)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", code, err)
		}
	}
}

// Of several mistakes always the same one is reported.
func TestSeveralWrongDeclarations(t *testing.T) {
	for code, want := range map[string]string{
		`{ d = "x", c = "x", b = "x", a = "x", e = "x" }`:                        "argument a: unknown type x",
		`{ n = { "nubmer", defalt = 1, choices = 2, colour = 3, complete = 4 }}`: "unknown type nubmer",
		`{ n = { defalt = 1, choices = 2, colour = 3, complete = 4 }}`:           "argument n: choices must be a list",
	} {
		for range 20 {
			_, _, err := run(t, vm.Options{}, `require("script").args(`+code+`)`)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Fatalf("%s: got %v", code, err)
			}
		}
	}
}

// What only the run can know is no reason to refuse arguments before it.
func TestDeclaredArgs(t *testing.T) {
	for _, c := range []struct{ code, args, fails string }{
		{`script.args{ "to", to = { default = os.getenv("HOME") } }`, "", ""},
		{`script.args{ n = { "integer", default = 60*60 } }`, "", ""},
		{`script.args{ n = { "integer", default = 60*60 } }`, "--n x", "--n must be an integer"},
		{`local n = 1 script.args{ n = { "integer", default = n } }`, "", ""},
		{`script.args{ n = { optional = not arg[1] } }`, "", ""},
		{`script.args{ n = { env = "A_" .. name } }`, "", ""},
		{`script.args{ "a", "b", a = "strings", b = { default = os.getenv("B") } }`, "x y", ""},
		{`script.args{ n = { choices = { "a", os.getenv("B") }, doc = doc() } }`, "--n b", ""},
		{`script.args{ n = { choices = { "a", os.getenv("B") } } }`, "", "missing argument --n"},
		{`script.args{ n = { "string", short = letter } }`, "-x 1", ""},
		{`script.args{ n = kind }`, "--n 1 2", ""},
		{`script.args{ first, n = "string" }`, "1", ""},
		{`script.args{ [first] = "string" }`, "--x 1", ""},
		{`script.args(declared)`, "--x 1", ""},
		{`script.args{ _doc = text(), n = "string" }`, "", "missing argument --n"},
		{`require("script").args{ n = "string" }`, "", "missing argument --n"},
		{`local s = require "script" local args = s.args{ n = "string" }`, "", "missing argument --n"},
		{`local s = script local args = s.args{ n = "string" }`, "", "missing argument --n"},
		{`local other = require("other") other.args{ n = "string" }`, "", ""},
		{`local script = require("other") script.args{ n = "string" }`, "", ""},
		{`script = { args = print } script.args{ n = "string" }`, "", ""},
		{`other.args{ n = "string" } script.args{ m = "string" }`, "", "missing argument --m"},
	} {
		spec, err := stdlib.DeclaredArgs("s.lua", []byte(c.code))
		if err == nil && spec != nil {
			_, err = spec.Parse(strings.Fields(c.args), func(string) (string, bool) { return "", false })
		}
		if c.fails == "" && err != nil || c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
			t.Errorf("%s %s: got %v, want %q", c.code, c.args, err, c.fails)
		}
	}
}

func TestScriptExit(t *testing.T) {
	_, stderr, err := run(t, vm.Options{}, `pcall(require("script").fail_items, 2, 9); error("went on")`)
	var exit *vm.Exit
	if !errors.As(err, &exit) || exit.Code != 3 || !strings.Contains(stderr, "2 of 9 items failed") {
		t.Errorf("got %v, %s", err, stderr)
	}
}
