package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"transect/testdata/flightgen"
	"transect/testdata/foldergen"
)

// What put sends, get brings back under the same names and with the same bytes; of every
// other file the report says why it was not sent. The long form is TRANSECT_FOLDERS=N.
func TestPutThenGetIsTheSameTree(t *testing.T) {
	t.Parallel()
	folders, seed := 40, rand.Uint64()
	if n, err := strconv.Atoi(os.Getenv("TRANSECT_FOLDERS")); err == nil {
		folders = n
	}
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	h := newHome(t, 0, flightgen.Options{})
	card, back := filepath.Join(h.dir, "card"), filepath.Join(h.dir, "back")
	for n := range folders {
		dir := filepath.Join(card, fmt.Sprintf("%03d", n/100), fmt.Sprintf("%05d", n))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := foldergen.Make(dir, fmt.Sprint("of ", n), random.IntN); err != nil {
			t.Fatal(err)
		}
	}
	_, stderr, code := h.run("put", "--local", "card", "P/M", "--create", "--damaged", "send", "--report", "r.json")
	if code != 3 && code != 0 {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	text, err := os.ReadFile(filepath.Join(h.dir, "r.json"))
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Files []struct {
			Path, Verdict, Dataset string
			Encoded                string `json:"path_encoded"`
			Files                  []struct {
				Path    string
				Encoded string `json:"path_encoded"`
			}
		}
	}
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	sent, told, left := map[string]bool{}, map[string]string{}, []string{}
	for _, f := range report.Files {
		paths := []string{f.Path}
		for _, part := range f.Files {
			paths = append(paths, part.Path)
		}
		for _, path := range paths {
			rel, err := filepath.Rel(card, path)
			if err != nil {
				t.Fatal(err)
			}
			if told[rel] = f.Verdict; f.Dataset != "" {
				sent[rel] = true
			}
			if f.Verdict == "left_out" {
				left = append(left, rel+"/") // with all in it, when it is a folder
			}
		}
	}
	h.must("get", "--local", "P/M", "back")
	got := fingerprint(t, back)
	seen := 0
	err = filepath.WalkDir(card, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(card, path)
		shown, arrived := strings.ReplaceAll(rel, "\xff", "%FF"), strings.ToValidUTF8(rel, "\ufffd")
		if arrived != rel && !strings.Contains(stderr, "valid UTF-8") {
			t.Errorf("put does not say that the name %q is no text:\n%s", rel, stderr)
		}
		below := slices.ContainsFunc(left, func(folder string) bool { return strings.HasPrefix(rel, folder) })
		switch _, there := got[arrived]; {
		case told[shown] == "" && !below:
			t.Errorf("the report does not say what became of %q", rel)
		case sent[shown] && !there:
			t.Errorf("%q was sent (%s), and did not come back", rel, told[shown])
		case there:
			mine, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			theirs, err := os.ReadFile(filepath.Join(back, arrived))
			if err != nil || string(mine) != string(theirs) {
				t.Errorf("%q came back with other bytes: %v", rel, err)
			}
			delete(got, arrived)
		}
		seen++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for path, what := range got {
		if !strings.HasPrefix(what, "d") {
			t.Errorf("%q came back, and was not there: %s", path, what)
		}
	}
	t.Logf("%d files, %d sent", seen, len(sent))
	if _, stderr, code := h.run("put", "--local", "card", "P/M", "--damaged", "send"); strings.Contains(stderr, " uploaded") {
		t.Errorf("the second put sends again, exit code %d\n%s", code, stderr)
	}
	stdout, stderr, _ := h.run("verify", "--local", "card", "P/M")
	if regexp.MustCompile(`(?m)^(missing|different): |, \d+ (missing|different)`).MatchString(stdout) {
		t.Errorf("%s%s", stdout, stderr)
	}
}
