package repl

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"transect/bindings"
	"transect/client"
	"transect/runtime/luastd"
	"transect/runtime/module"
	"transect/runtime/vm"
	"transect/stdlib"
)

// offline is a session whose connection must not be used.
func offline(t *testing.T, dir string, out io.Writer) *Session {
	t.Helper()
	in := luastd.New(context.Background(), vm.Options{Dir: dir, Stdout: out, Stderr: io.Discard})
	t.Cleanup(in.Close)
	module.Preload(in, stdlib.Modules()...)
	bindings.Open(in, func(context.Context, *client.Settings) (*client.Client, error) {
		t.Error("it connects")
		return nil, io.EOF
	})
	return newSession(Config{Interp: in, Name: "test", Input: plainInput(strings.NewReader(""), io.Discard), Out: NewEdge(out),
		Profiles: func() ([]string, string) { return []string{"production", "staging"}, "" }})
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"flight.csv", "flight plan.txt", ".hidden"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "photos", "day1"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := offline(t, dir, io.Discard)
	for _, code := range []string{
		`local row = { alpha = 1, beta = { gamma = 2 }, ["not a name"] = 3, [1] = { delta = 4 } }`,
		`strict = setmetatable({ epsilon = 1 }, { __index = function() error("raised by Tab") end })`,
		`class = { method = print } object = setmetatable({ own = 1 }, { __index = class })`,
		`version = semver.parse("1.2.3") text = "abc" p = json`,
	} {
		if err := s.evaluate(code); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		before, line string // the cursor is at |
		want         string // what is among the words; "-x" must not be; "=x" is the only one
	}{
		{"", "projects.search{ filter = { na|", "=name = "},
		{"", "projects.search{ filter = { |", "name = creation_date = "},
		{"", "projects.search({ filter = { name = { |", `["$eq"] =  ["$in"] = `},
		{"", "projects.search{ filter = { name = { ['$e|", "$eq $exists -$in"},
		{"", "projects.search{ filter = { name = { ['$eq'] = 1 }, creation_d|", "=creation_date = "},
		{"", "projects.search{ filter = { ['$or'] = { { na|", "=name = "},
		{"", "projects.search{ limit = 3, sort = { na|", "=name = "},
		{"", "projects.search{ fields = { |", "include = exclude = "},
		{"", "projects.search{ fields = { include = { 'name', 'creation_d|", "=creation_date"},
		{"projects.search{", "filter = { na|", "=name = "},
		{"", "projects.search{ filter = {}, |", "sort =  -name"},
		{"", "x = { filter = { na|", "-name"},
		{"", "proj|", "=projects"},
		{"", "loc|", "=local"},
		{"", "ro|", "=row"},
		{"", "x = datas|", "datasets"},
		{"", "projects.sear|", "search search_generator"},
		{"", "sdk.proj|", "=projects"},
		{"", "sdk.projects.des|", "describe"},
		{"", "sdk.con|", "=connect"},
		{"", "json.dec|", "=decode"},
		{"", "p.dec|", "=decode"},
		{"", "row.|", "alpha beta -not"},
		{"", "row.beta.|", "=gamma"},
		{"", "row[1].|", "=delta"},
		{"", "row['beta'].|", "=gamma"},
		{"", "strict.e|", "=epsilon"},
		{"", "strict.zzz.|", ""},
		{"", "object:|", "own method"},
		{"", "text:up|", "=upper"},
		{"", "version:|", ""},
		{"", "nothing.at.|", ""},
		{"", "f().|", ""},
		{"", "projects.create{ na|", "=name = "},
		{"", "projects.create{ name = 'x', |", "company =  -name = "},
		{"", "projects.create{ name = proj|", "=projects"},
		{"", "projects.create({ comp|", "=company = "},
		{"projects.create{\n  name = 'x',", "  comp|", "=company = "},
		{"", "projects.create{ name = 'x' }.|", ""},
		{"", "json.encode(x, { ind|", "=indent = "},
		{"", "require('jso|", "=json"},
		{"", `require "jso|`, "=json"},
		{"", "help('projects.sear|", "projects.search"},
		{"", "sdk.connect{ profile = 'st|", "=staging"},
		{"", "fs.read('fl|", "flight.csv"},
		{"", "fs.read('fl|')", "flight.csv"},
		{"", "fs.read('ph|", "=photos/"},
		{"", "fs.read('photos/d|", "=day1/"},
		{"", "fs.read('.h|", "=.hidden"},
		{"", "fs.list('|", "photos/ -.hidden"},
		{"", "-- proj|", ""},
		{"x = [[", "proj|", ""},
		{"", "'a' .. proj|", "=projects"},
		{"", "1 .. proj|", "=projects"},
		{"", ":pro|", "=:profile"},
		{"", ":profile st|", "=staging"},
		{"", ":trace o|", "on off"},
		{"", ":help projects.cre|", "projects.create"},
		{"", ":load fl|", "flight.csv"},
		{"", ":load photos/|", "=day1/"},
		{"", ":time proj|", "=projects"},
		{"", "x = proj| + 1", "=projects"},
		{"", "Überflug = proj|", "=projects"},
	} {
		left, right, _ := strings.Cut(test.line, "|")
		s.before.Store(test.before)
		head, words, tail := s.completeLine(left+right, len([]rune(left)))
		if tail != right {
			t.Errorf("%s: the tail is %q", test.line, tail)
		}
		if !strings.HasPrefix(left, head) {
			t.Errorf("%s: the head is %q", test.line, head)
		}
		if test.want == "" && len(words) > 0 {
			t.Errorf("%s: got %v, want nothing", test.line, words)
			continue
		}
		if only, ok := strings.CutPrefix(test.want, "="); ok {
			if len(words) != 1 || words[0] != only {
				t.Errorf("%s: got %q, want only %q", test.line, words, only)
			}
			continue
		}
		for _, want := range strings.Fields(test.want) {
			if refused, ok := strings.CutPrefix(want, "-"); ok {
				if slices.Contains(words, refused) {
					t.Errorf("%s: got %q", test.line, refused)
				}
			} else if want != "=" && !slices.Contains(words, want) && !slices.Contains(words, want+" = ") {
				t.Errorf("%s: got %q, want %q", test.line, words, want)
			}
		}
	}
}
