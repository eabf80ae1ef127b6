package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"transect/client/fault"
	"transect/runtime/sandbox"
)

func manifest(t *testing.T, text string) string {
	t.Helper()
	path := sandbox.ManifestOf(filepath.Join(t.TempDir(), "x.lua"))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestManifest(t *testing.T) {
	path := manifest(t, `{"sandbox": true, "allow": {"read": ["flight", "/data/*.tif"], "ops": ["datasets.*"], "net": []},
		"deny": {"write": ["flight/raw"]}, "budget": {"creates": 3, "bytes": 1000, "deletes": null}}`)
	dir := sandbox.Canonical(filepath.Dir(path))
	r, found, err := sandbox.ReadManifest(path)
	if err != nil || !found {
		t.Fatal(found, err)
	}
	g := sandbox.NewPolicy(r, path, false)
	for _, c := range []struct {
		kind sandbox.Access
		what string
		want bool
	}{
		{sandbox.Read, filepath.Join(dir, "flight", "1.jpg"), true},
		{sandbox.Read, filepath.Join(dir, "other"), false},
		{sandbox.Read, "/data/dem.tif", true},
		{sandbox.Write, filepath.Join(dir, "flight", "raw", "1"), false},
		{sandbox.Op, "datasets.search", true},
		{sandbox.Op, "projects.search", false},
		{sandbox.Net, "example.com:443", false},
		{sandbox.Write, path, false},
	} {
		if err := g.Permit(c.kind, c.what); (err == nil) != c.want {
			t.Errorf("%s %s: %v", c.kind, c.what, err)
		}
	}
	if g.Sending(900) != nil || g.Sending(200) == nil {
		t.Error("the budget of the manifest does not bound")
	}
	if _, found, err := sandbox.ReadManifest(path + "x"); found || err != nil {
		t.Errorf("one that is not there: %t, %v", found, err)
	}
}

func TestWrongManifests(t *testing.T) {
	for text, want := range map[string]string{
		``:                                  "the file is empty",
		`[]`:                                "the file: a JSON array cannot be here",
		`{"alow": {}}`:                      `unknown field "alow" (did you mean allow?)`,
		"{\n \"allow\" {}}":                 "line 2: invalid character",
		`{"allow": {"read": []}`:            "ends before the closing brace",
		`{} {"sandbox": true}`:              "something follows the closing brace",
		`{"allow": {"raed": ["x"]}}`:        `"raed" is not a kind of permission`,
		`{"allow": {"read": "x"}}`:          "allow: a JSON string cannot be here",
		`{"budget": {"deletes": -1}}`:       "deletes is negative",
		`{"budget": {"files": 1}}`:          `"files" is not a budget`,
		`{"allow": {"read": ["/w/[x"]}}`:    "not a valid path pattern",
		`{"deny": {"write": ["ok", "[x"]}}`: "not a valid path pattern",
	} {
		_, found, err := sandbox.ReadManifest(manifest(t, text))
		if f := fault.Find(err); !found || f == nil || f.Name() != "ConfigError" || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), sandbox.ManifestSuffix) || f.Facts().Hint == "" {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// What was learned from a run permits the same again, also after it was
// written and read, and no write beside it.
func TestLearnedPermitsTheSameAgain(t *testing.T) {
	root := sandbox.Canonical(t.TempDir())
	path := filepath.Join(root, "x"+sandbox.ManifestSuffix)
	name := rapid.SampledFrom([]string{"a.jpg", "b.jpg", "c d.jpg", "ä.tif", "IMG[1].jpg", "{x}.csv", "q?.txt", "star*.txt", "deep/er/f", "back\\slash", "plain"})
	folder := rapid.SampledFrom([]string{root, root + "/flight", root + "/out", "/elsewhere", "/"})
	rapid.Check(t, func(t *rapid.T) {
		g := sandbox.NewPolicy(sandbox.Rules{}, path, true)
		type reached struct {
			kind sandbox.Access
			what string
		}
		var all []reached
		inRoot := map[string]bool{} // files written in root itself: four of them permit the folder
		for range rapid.IntRange(0, 12).Draw(t, "n") {
			r := reached{kind: rapid.SampledFrom(sandbox.Kinds).Draw(t, "kind")}
			switch r.kind {
			case sandbox.Read, sandbox.Write:
				r.what = filepath.Join(folder.Draw(t, "folder"), name.Draw(t, "name"))
			case sandbox.Net:
				r.what = rapid.SampledFrom([]string{"example.com:443", "127.0.0.1:80", "[::1]:8080"}).Draw(t, "host")
			case sandbox.Env:
				r.what = rapid.SampledFrom([]string{"HOME", "AWS_KEY"}).Draw(t, "variable")
			case sandbox.Exec:
				r.what = "sh"
			case sandbox.Op:
				r.what = rapid.SampledFrom([]string{"projects.search", "datasets.create"}).Draw(t, "operation")
			}
			if err := g.Permit(r.kind, r.what); err != nil {
				t.Fatalf("while learning: %v", err)
			}
			if r.kind == sandbox.Write && filepath.Dir(r.what) == root {
				inRoot[r.what] = true
			}
			all = append(all, r)
		}
		sent := rapid.Int64Range(0, 5_000_000).Draw(t, "sent")
		if err := g.Sending(sent); err != nil {
			t.Fatal(err)
		}
		if err := g.Learned().Write(path); err != nil {
			t.Fatal(err)
		}
		learned, _, err := sandbox.ReadManifest(path)
		if err != nil {
			t.Fatal(err)
		}
		again := sandbox.NewPolicy(learned, path, false)
		for _, r := range all {
			if err := again.Permit(r.kind, r.what); err != nil {
				t.Fatalf("the same again: %v", err)
			}
		}
		if err := again.Sending(sent); err != nil {
			t.Fatalf("the same bytes again: %v", err)
		}
		for _, other := range []reached{{sandbox.Write, root + "/fresh/new.txt"}, {sandbox.Write, "/elsewhere2/a.jpg"}, {sandbox.Env, "PATH"},
			{sandbox.Net, "example.com:80"}, {sandbox.Op, "projects.delete"}, {sandbox.Read, "/etc/passwd"}} {
			if other.what == root+"/fresh/new.txt" && len(inRoot) >= 4 {
				continue
			}
			if again.Permit(other.kind, other.what) == nil {
				t.Fatalf("learned also %s %s from %v", other.kind, other.what, all)
			}
		}
		if learned.Budget["deletes"] != 0 {
			t.Fatal("deletions were learned from nothing")
		}
	})
}
