package ingest

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
	"transect/client/files"
	"transect/client/verdict"
)

// TestExactPaths: any path is read back from a report unchanged, and the report is text.
func TestExactPaths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := string(rapid.SliceOf(rapid.SampledFrom([]byte("ab/% \r\n,\"\xe9\xff\xc3\xa9"))).Draw(t, "path"))
		o := Outcome{Path: path, Files: []Part{{Path: path}}}
		line, err := json.Marshal(o.encoded())
		if err != nil || !utf8.Valid(line) {
			t.Fatalf("%s %v", line, err)
		}
		var read Outcome
		if err := json.Unmarshal(line, &read); err != nil {
			t.Fatal(err)
		}
		if err := read.decode(); err != nil || read.Path != path || read.Files[0].Path != path {
			t.Fatalf("%q came back as %q, %q: %v", path, read.Path, read.Files[0].Path, err)
		}
		if plain := encodePath(path) == ""; plain != (utf8.ValidString(path) && !strings.Contains(path, "\r")) {
			t.Fatalf("%q is encoded as %q", path, encodePath(path))
		}
	})
}

// TestDamagedPath: a report with a damaged encoded path is refused, not read as another file.
func TestDamagedPath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.csv")
	write(t, path, []byte("name,path,verdict,path_encoded\na,/a,failed,%G1\n"))
	for o, err := range OpenReport(path, files.Tree{}) {
		if err == nil {
			t.Errorf("%v", o)
		}
	}
}

func TestRootOf(t *testing.T) {
	for _, c := range []struct {
		path, name, root string
		ok               bool
	}{
		{"/card/a.jpg", "a.jpg", "/card", true}, {"/card/d/a.jpg", "d/a.jpg", "/card", true}, {"/a.jpg", "a.jpg", "", true},
		{"/card/b.jpg", "a.jpg", "/card", false}, {"a.jpg", "a.jpg", "", false}, {"/x\xe9/d\xe9/a.jpg", "d%E9/a.jpg", "/x\xe9", true},
		{"/card/xa.jpg", "a.jpg", "/card", false},
	} {
		root, ok := rootOf(c.path, c.name)
		if ok != c.ok || ok && root != c.root {
			t.Errorf("%+v: %q %v", c, root, ok)
		}
	}
}

// TestRewriteKeepsPaths: a path that is not valid UTF-8 survives rewriting the log.
func TestRewriteKeepsPaths(t *testing.T) {
	l, err := newOutcomeLog(t.TempDir(), "run")
	if err != nil {
		t.Fatal(err)
	}
	path := "/card/caf\xe9.txt"
	if err := l.add(Outcome{Name: "caf%E9.txt", Path: path, Verdict: verdict.Uploaded}); err != nil {
		t.Fatal(err)
	}
	if err := l.rewrite(func(o *Outcome) { o.Dataset = "d" }); err != nil {
		t.Fatal(err)
	}
	if err := l.add(Outcome{Name: "b.txt", Path: "/card/b.txt", Verdict: verdict.Uploaded}); err != nil {
		t.Fatal(err)
	}
	n := 0
	for o, err := range l.All {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 1 && (o.Path != path || o.Dataset != "d") {
			t.Errorf("%+v", o)
		}
	}
	if n != 2 {
		t.Errorf("%d outcomes", n)
	}
	if err := l.close(); err != nil {
		t.Error(err)
	}
}
