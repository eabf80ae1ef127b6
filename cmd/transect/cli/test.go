package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"transect/client/fault"
	"transect/client/human"
	"transect/runtime"
	"transect/runtime/suite"
	"transect/runtime/unattended"
	"transect/runtime/vm"
)

// testRun is a run of tests: its flags and results.
type testRun struct {
	job            runtime.Job
	only, junit    string
	tap, coverage  bool
	planned        bool
	results        []suite.Result
	covered        suite.Coverage
	failed, passed int
	skipped        int
}

func (a *App) test() *cobra.Command {
	var f testRun
	cmd := &cobra.Command{
		Use:   "test [flags] [DIR|FILE...]",
		Short: "Run the tests of scripts",
		Long: `Run the tests of scripts: all files named like survey_test.lua in DIR, by default
the current folder, and below it. Each test has an interpreter of its own and a
new local platform in memory; no other platform is used, whatever the
environment says. The output of a test is printed when it fails.

Exit codes: 0 all passed, 1 a test failed, 2 there are no tests.`,
		Example: `  transect test
  transect test --run 'bad photo' --verbose scripts/
  transect test --coverage --junit report.xml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.Complete(cmd.Flags(), &f.job); err != nil {
				return err
			}
			return a.runTests(cmd, args, &f)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.only, "run", "", "run only tests whose names match the regular expression `REGEX`")
	flags.BoolVar(&f.coverage, "coverage", false, "print which lines of the scripts ran")
	flags.StringVar(&f.junit, "junit", "", "write the results to `FILE` as JUnit XML")
	flags.BoolVar(&f.tap, "tap", false, "print the results in the Test Anything Protocol")
	AddOptions(flags, Option{Name: "timeout", Env: "TRANSECT_TIMEOUT", Kind: "duration", Parse: ToDuration(&f.job.Timeout),
		Doc: "limit `DURATION` of each test"})
	AddOptions(flags, Option{Name: "planned", Kind: "bool", Parse: toBool(&f.planned),
		Doc: "plan each script that a test runs, and carry out the plan instead"})
	a.AddRunOptions(flags, &f.job, &unattended.Options{}, OnLua)
	return cmd
}

func (a *App) runTests(cmd *cobra.Command, args []string, f *testRun) error {
	if len(args) == 0 {
		args = []string{"."}
	}
	files, err := a.testFiles(args)
	if err != nil {
		return err
	}
	job := suite.Job{Job: f.job, Planned: f.planned, OnTest: func(r suite.Result) { a.printResult(f, r) }}
	if f.only != "" {
		if job.Only, err = regexp.Compile(f.only); err != nil {
			return fault.Of(&fault.UsageError{}, "--run is not a regular expression: %w", err)
		}
	}
	if f.coverage {
		job.OnLine = f.covered.Add
	}
	started := time.Now()
	for _, file := range files {
		job.Script = file
		if err := suite.Run(cmd.Context(), a.Process, job); err != nil {
			return err
		}
	}
	return a.summary(f, files, time.Since(started))
}

// testFiles lists the files with tests.
func (a *App) testFiles(args []string) ([]string, error) {
	all, err := a.Process.Scripts(args)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, file := range all {
		switch tests := file.Folder == "" || strings.HasSuffix(file.Name, "_test.lua"); {
		case file.Err != nil && (tests || filepath.Ext(file.Name) != ".lua"): // a folder may have tests
			return nil, file.Err
		case tests:
			files = append(files, file.Name)
		}
	}
	if len(files) == 0 {
		return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "no tests were found in %s", strings.Join(args, ", ")),
			"tests are files named like survey_test.lua; transect doc test shows how to write one")
	}
	return files, nil
}

// printResult prints the result of a test.
func (a *App) printResult(f *testRun, r suite.Result) {
	f.results = append(f.results, r)
	status, more := "ok", ""
	switch {
	case r.Failure != "":
		f.failed++
		status = "FAIL"
	case r.Skipped != "":
		f.skipped++
		status, more = "skip", ": "+r.Skipped
	default:
		f.passed++
	}
	out := a.Stdout
	if f.tap {
		suite.TAP(out, len(f.results), r)
		return
	}
	if status == "ok" && a.Output.Quiet {
		return
	}
	fmt.Fprintf(out, "%-4s  %s: %s (%s)%s\n", status, r.File, r.Name, human.Duration(r.Duration), more)
	if r.Output != "" && (r.Failure != "" || a.Output.Verbose) {
		fmt.Fprint(out, indented(r.Output))
	}
	if r.Failure != "" {
		fmt.Fprint(out, indented(r.Failure))
	}
}

func indented(text string) string {
	return "      " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n      ") + "\n"
}

func (a *App) summary(f *testRun, files []string, took time.Duration) error {
	if f.junit != "" {
		text, err := suite.JUnit(f.results)
		if err == nil {
			err = os.WriteFile(a.Process.Path(f.junit), text, 0o666)
		}
		if err != nil {
			return fault.Of(&fault.FileError{}, "cannot write %s: %w", f.junit, fault.Reason(err))
		}
	}
	if len(f.results) == 0 {
		return fault.Hinted(fault.Of(&fault.UsageError{}, "no test of %s ran", human.Count(len(files), "file")),
			"--run skips tests that it does not match; transect doc test shows how to write tests")
	}
	if f.tap {
		fmt.Fprintf(a.Stdout, "1..%d\n", len(f.results))
	} else {
		fmt.Fprintf(a.Stdout, "%d passed, %d failed, %d skipped in %s\n", f.passed, f.failed, f.skipped, human.Duration(took))
	}
	if f.coverage {
		var out io.Writer = a.Stdout
		if f.tap {
			out = a.Process.Stderr
		}
		f.covered.Print(a.Process, out)
	}
	if f.failed > 0 {
		return &vm.Exit{Code: runtime.ExitRaised}
	}
	return nil
}
