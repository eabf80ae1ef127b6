package bundle

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMakeAndUnpack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"work/season.lua":           "local a = require 'lib.a'\nlocal b = require(\"shared\")\nrequire('json') require [[gone]] jobs.submit{ script = 'parts/one.lua' } jobs.map({}, { script = \"season.lua\" }) script = 'none.lua'",
		"work/parts/one.lua":        "return require('lib.a')",
		"work/parts/one.allow.json": "{}",
		"work/season.allow.json":    "{}",
		"work/lib/a.lua":            "return require('lib.b')",
		"work/lib/b/init.lua":       "return require('lib.a')",
		"work/unused.lua":           "",
		"work/templates/x.txt":      "x",
		"work/templates/.secret":    "s",
		"more/shared.lua":           "return 1",
	})
	source := Source{Script: filepath.Join(dir, "work/season.lua"), Manifest: filepath.Join(dir, "work/season.allow.json"),
		Path: []string{filepath.Join(dir, "none"), filepath.Join(dir, "more")}, Include: []string{filepath.Join(dir, "work/templates")}}
	b, err := Make(source)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"path002/shared.lua", "script/lib/a.lua", "script/lib/b/init.lua", "script/parts/one.allow.json", "script/parts/one.lua", "script/season.allow.json", "script/season.lua", "script/templates/x.txt"}
	if !slices.Equal(b.Files, want) {
		t.Errorf("%q", b.Files)
	}
	if again, err := Make(source); err != nil || again.Hash != b.Hash {
		t.Error("the same files have another hash", err)
	}
	to := filepath.Join(dir, "unpacked")
	s, err := Unpack(b.Content, b.Hash, to)
	if err != nil || s.Main != filepath.Join(to, "script/season.lua") || !slices.Equal(s.Path, []string{filepath.Join(to, "path002")}) {
		t.Fatal(s, err)
	}
	if text, err := os.ReadFile(filepath.Join(to, "script/lib/b/init.lua")); err != nil || string(text) != "return require('lib.a')" {
		t.Error(string(text), err)
	}
	write(t, dir, map[string]string{"placed/templates/x.txt": "changed"})
	if err := s.Place(filepath.Join(dir, "placed")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"templates/x.txt": "changed", "lib/a.lua": "return require('lib.b')", "season.lua": ""} {
		if text, _ := os.ReadFile(filepath.Join(dir, "placed", name)); string(text) != want {
			t.Errorf("%s is placed as %q, not %q", name, text, want)
		}
	}
	write(t, dir, map[string]string{"work/lib/a.lua": "return 2"})
	if changed, err := Make(source); err != nil || changed.Hash == b.Hash {
		t.Error("a changed module has the same hash", err)
	}
	if _, err := Unpack(b.Content, strings.Repeat("0", 64), filepath.Join(dir, "other")); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Error(err)
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"w/s.lua": "", "w/big": strings.Repeat("x", MaxSize), "data": ""})
	main := filepath.Join(dir, "w/s.lua")
	for _, c := range []struct {
		source Source
		want   string
	}{
		{Source{Script: filepath.Join(dir, "w/none.lua")}, "cannot read"},
		{Source{Script: filepath.Join(dir, "w")}, "is not a file"},
		{Source{Script: main, Include: []string{filepath.Join(dir, "data")}}, "is not below the folder of the script"},
		{Source{Script: filepath.Join(dir, "data"), Include: []string{filepath.Join(dir, "w")}}, ""},
	} {
		if _, err := Make(c.source); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v", c.source, err)
		}
	}
	write(t, dir, map[string]string{"w/big2": "x"})
	if _, err := Make(Source{Script: main, Include: []string{filepath.Join(dir, "w")}}); err == nil || !strings.Contains(err.Error(), "16 MiB") {
		t.Error(err)
	}
}

// FuzzUnpack reads any bytes: nothing is written outside of the folder.
func FuzzUnpack(f *testing.F) {
	for _, files := range []map[string][]byte{
		{"main": []byte("script/a.lua"), "script/a.lua": []byte("x")},
		{"main": []byte("../a"), "../a": []byte("x")},
		{"main": []byte("script/a"), "script/a": nil, "script/a/b": nil},
	} {
		b, err := pack(files)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b.Content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		parent := t.TempDir()
		if _, err := read(content); err != nil {
			return
		}
		_, _ = Unpack(content, Hash(content), filepath.Join(parent, "to"))
		if list, err := os.ReadDir(parent); err != nil || len(list) > 1 {
			t.Error(list, err)
		}
	})
}

// The user learns of modules that do not travel before the job fails elsewhere.
func TestComputedNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"lib/a.lua": "return 1", "lib/b.lua": "return require(select(1, ...) .. '.c')", "s.lua": strings.Join([]string{
		`local a, json = pcall(require, "lib.a"), require("json")`,
		`local m = require("lib." .. arg[1])`, `require(name)`, `pcall(require, name)`, `require('lib.b')`, `-- require(name)`, `require 'lib.a' print("a" .. "b")`, `local r = require`,
	}, "\n")})
	b, err := Make(Source{Script: filepath.Join(dir, "s.lua")})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(b.Computed)
	if want := []string{"lib/b.lua:1", "s.lua:2", "s.lua:3", "s.lua:4"}; !slices.Equal(b.Computed, want) {
		t.Errorf("computed %q, not %q", b.Computed, want)
	}
	if want := []string{"script/lib/a.lua", "script/lib/b.lua", "script/s.lua"}; !slices.Equal(b.Files, want) {
		t.Errorf("files %q, not %q", b.Files, want)
	}
}
