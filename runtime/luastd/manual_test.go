package luastd_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"transect/testdata/luaoracle"
)

// manualCase is a case of testdata/manual.txt.
type manualCase struct {
	line   int
	code   string
	reason string // why it may differ, "" where it may not
}

// manualCases reads the file of cases. A line is a case, with the lines after it
// that begin with a tab. "@ f | x | y" are the cases f(x) and f(y). A line that
// begins with ! says why the case after it differs from Lua 5.1.
func manualCases(t *testing.T) []manualCase {
	t.Helper()
	text, err := os.ReadFile("testdata/manual.txt")
	if err != nil {
		t.Fatal(err)
	}
	var cases []manualCase
	reason := ""
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		switch {
		case line == "" || strings.HasPrefix(line, "# "):
			continue
		case strings.HasPrefix(line, "! "):
			reason = line[2:]
			continue
		case strings.HasPrefix(line, "@ "):
			parts := strings.Split(strings.ReplaceAll(line[2:], "| |", "|  |"), " | ")
			for _, args := range parts[1:] {
				cases = append(cases, manualCase{i + 1, strings.TrimSpace(parts[0]) + "(" + strings.TrimSpace(args) + ")", reason})
			}
		default:
			first := i + 1
			for i+1 < len(lines) && strings.HasPrefix(lines[i+1], "\t") {
				i++
				line += "\n" + lines[i]
			}
			cases = append(cases, manualCase{first, line, reason})
		}
		reason = ""
	}
	return cases
}

// TestManual runs cases in the order of the reference manual.
func TestManual(t *testing.T) {
	cases := manualCases(t)
	programs := make([]string, len(cases))
	for i, c := range cases {
		programs[i] = c.code
	}
	want, err := luaoracle.Reference(t.TempDir(), luaoracle.Case, programs)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	differs := map[string]bool{} // of each marked line
	count := 0
	for i, c := range cases {
		got := luaoracle.Ours(dir, luaoracle.Case, c.code)
		where := fmt.Sprintf("%d: %s", c.line, c.reason)
		if c.reason != "" {
			differs[where] = differs[where] || got != want[i]
		}
		if got == want[i] {
			continue
		}
		if c.reason != "" {
			count++
			continue
		}
		t.Errorf("testdata/manual.txt:%d: %s\ngives   %swants %s", c.line, c.code, got, want[i])
	}
	for where, differ := range differs {
		if !differ {
			t.Errorf("testdata/manual.txt:%s: does not differ any more", where)
		}
	}
	t.Logf("%d cases, %d of them differ as listed", len(cases), count)
}

// TestDifferencesAreListed compares the reasons with docs/lua.md.
func TestDifferencesAreListed(t *testing.T) {
	page, err := os.ReadFile("../../docs/lua.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, " | ")
		if what, ok := strings.CutPrefix(cells[0], "| "); ok && what != "what" {
			listed[what] = false
		}
	}
	for _, c := range manualCases(t) {
		if _, ok := listed[c.reason]; c.reason != "" && !ok {
			t.Errorf("testdata/manual.txt:%d: docs/lua.md does not list %q", c.line, c.reason)
		}
		listed[c.reason] = true
	}
	for what, met := range listed {
		if !met {
			t.Errorf("docs/lua.md lists %q, and no case in testdata/manual.txt shows it", what)
		}
	}
}
