package suite

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"transect/runtime"
	"transect/runtime/vm"
)

// TAP prints a result in the Test Anything Protocol, version 13.
func TAP(out io.Writer, n int, r Result) {
	if n == 1 {
		fmt.Fprintln(out, "TAP version 13")
	}
	status, more := "ok", ""
	if r.Failure != "" {
		status = "not ok"
	}
	if r.Skipped != "" {
		more = " # SKIP " + r.Skipped
	}
	name := strings.NewReplacer("#", `\#`, "\n", " ").Replace(r.File + ": " + r.Name)
	fmt.Fprintf(out, "%s %d - %s%s\n", status, n, name, more)
	if r.Failure != "" {
		for _, line := range strings.Split(strings.TrimRight(r.Output+r.Failure, "\n"), "\n") {
			fmt.Fprintln(out, "# "+line)
		}
	}
}

type (
	junitSuite struct {
		XMLName  xml.Name    `xml:"testsuite"`
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Time     string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		File    string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitMessage `xml:"failure"`
		Skipped *junitMessage `xml:"skipped"`
		Output  string        `xml:"system-out,omitempty"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes the results as JUnit XML, a suite for each file.
func JUnit(results []Result) ([]byte, error) {
	suites := map[string]*junitSuite{}
	seconds := map[string]float64{}
	for _, r := range results {
		s := suites[r.File]
		if s == nil {
			s = &junitSuite{Name: r.File}
			suites[r.File] = s
		}
		one := junitCase{File: r.File, Name: r.Name, Time: fmt.Sprintf("%.3f", r.Duration.Seconds()), Output: r.Output}
		switch {
		case r.Failure != "":
			s.Failures++
			first, _, _ := strings.Cut(r.Failure, "\n")
			one.Failure = &junitMessage{first, r.Failure}
		case r.Skipped != "":
			s.Skipped++
			one.Skipped = &junitMessage{Message: r.Skipped}
		}
		s.Tests++
		seconds[r.File] += r.Duration.Seconds()
		s.Time = fmt.Sprintf("%.3f", seconds[r.File])
		s.Cases = append(s.Cases, one)
	}
	all := struct {
		XMLName xml.Name `xml:"testsuites"`
		Suites  []*junitSuite
	}{}
	for _, file := range slices.Sorted(maps.Keys(suites)) {
		all.Suites = append(all.Suites, suites[file])
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	return append([]byte(xml.Header), append(text, '\n')...), err
}

// Coverage records which lines of the files ran. Safe for concurrent use.
type Coverage struct {
	mu    sync.Mutex
	lines map[string]map[int]bool
}

// Add records that a line ran.
func (c *Coverage) Add(file string, line int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lines == nil {
		c.lines = map[string]map[int]bool{}
	}
	if c.lines[file] == nil {
		c.lines[file] = map[int]bool{}
	}
	c.lines[file][line] = true
}

// Print prints how much of each script ran, without tests.
func (c *Coverage) Print(p *runtime.Process, out io.Writer) {
	for _, file := range slices.Sorted(maps.Keys(c.lines)) {
		code, err := os.ReadFile(p.Path(file))
		if err != nil || strings.HasSuffix(file, "_test.lua") {
			continue // not a file, or a test
		}
		lines := vm.Lines(file, code)
		if len(lines) == 0 {
			continue
		}
		missed := slices.DeleteFunc(slices.Clone(lines), func(n int) bool { return c.lines[file][n] })
		name := file
		if within, err := filepath.Rel(cmp.Or(p.Dir, "."), file); err == nil && filepath.IsLocal(within) {
			name = within
		}
		fmt.Fprintf(out, "%s: %.1f%% of %d lines ran%s\n", name, 100*float64(len(lines)-len(missed))/float64(len(lines)),
			len(lines), ranges(missed))
	}
}

// ranges formats line numbers as "; not 3, 7-9".
func ranges(lines []int) string {
	if len(lines) == 0 {
		return ""
	}
	var parts []string
	for i := 0; i < len(lines); {
		j := i
		for j+1 < len(lines) && lines[j+1] == lines[j]+1 {
			j++
		}
		if i == j {
			parts = append(parts, fmt.Sprint(lines[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", lines[i], lines[j]))
		}
		i = j + 1
	}
	return "; not " + strings.Join(parts, ", ")
}
