package main

import (
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"transect/runtime"
)

// tap prints a result in the Test Anything Protocol, version 13.
func tap(out io.Writer, n int, r runtime.TestResult) {
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

// junit writes the results as JUnit XML, a suite for each file.
func junit(results []runtime.TestResult) ([]byte, error) {
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
	for _, file := range sortedKeys(suites) {
		all.Suites = append(all.Suites, suites[file])
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	return append([]byte(xml.Header), append(text, '\n')...), err
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
