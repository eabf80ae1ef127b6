package main

import (
	"bufio"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	maxFiles = 40  // in a folder
	maxWidth = 120 // of a line in columns; raw strings and tags cannot be broken
)

// goFiles calls visit for the lines of each Go file outside tests.
func goFiles(t *testing.T, visit func(file string, lines []string)) {
	t.Helper()
	err := filepath.WalkDir("../..", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(file)
		if err == nil {
			lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
			visit(strings.TrimPrefix(filepath.ToSlash(file), "../../"), lines)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFilesAreReadable(t *testing.T) {
	files := map[string]int{}
	goFiles(t, func(file string, lines []string) {
		files[path.Dir(file)]++
		raw := false
		for i, line := range lines {
			quotes := strings.Count(line, "`")
			if utf8.RuneCountInString(line) > maxWidth && !raw && quotes == 0 {
				t.Errorf("%s:%d: longer than %d columns", file, i+1, maxWidth)
			}
			raw = raw != (quotes%2 == 1)
		}
	})
	for dir, n := range files {
		if n > maxFiles {
			t.Errorf("%s has %d files", dir, n)
		}
	}
}

// The map tells how large each room is, within a tenth.
func TestLinesOfTheMap(t *testing.T) {
	text, err := os.Open("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()
	room := map[string]string{} // of a package, by its first one
	told, lines := map[string]float64{}, map[string]float64{}
	row := regexp.MustCompile("^\\| (`[^|]*`) \\| ([0-9,]+) \\|")
	for s := bufio.NewScanner(text); s.Scan(); {
		cells := row.FindStringSubmatch(s.Text())
		if cells == nil {
			continue
		}
		names := strings.Fields(strings.ReplaceAll(cells[1], "`", ""))
		for _, name := range names {
			if name != names[0] {
				name = path.Join(path.Dir(names[0]), name)
			}
			room[name] = names[0]
		}
		told[names[0]], _ = strconv.ParseFloat(strings.ReplaceAll(cells[2], ",", ""), 64)
	}
	goFiles(t, func(file string, all []string) {
		dir := path.Dir(file)
		for room[dir] == "" && dir != "." {
			dir = path.Dir(dir)
		}
		lines[room[dir]] += float64(len(all))
	})
	for name, n := range lines {
		if name != "" && math.Abs(n-told[name]) > max(100, n/10) {
			t.Errorf("%s has %v lines, docs/architecture.md says %v", name, n, told[name])
		}
	}
}
