package runtime

import (
	"bytes"
	"context"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"transect/bindings"
	"transect/client/fault"
	"transect/runtime/module"
	"transect/runtime/vm"
	"transect/stdlib"
)

// TestJob says how test files are run.
type TestJob struct {
	Job
	Only  *regexp.Regexp              // names of the tests to run; all when nil
	Line  func(file string, line int) // told the lines that run; nil when nobody asks
	Found func(TestResult)            // told of each test when it is over
}

// TestResult is what came of one test.
type TestResult struct {
	File, Name string
	Skipped    string // why it was left out; "" when it was not
	Failure    string // the report of what went wrong; "" when it passed
	Output     string // what it printed
	Duration   time.Duration
}

// Test runs the tests of one file, each in an interpreter of its own on a fresh
// local platform in memory. Failures are results, also that of a file that does
// not run at all; the error is for a stop from outside.
func Test(ctx context.Context, w *World, job TestJob) error {
	names, err := job.names(ctx, w)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		job.Found(TestResult{File: job.Script, Name: "the file itself", Failure: reported(w, err)})
		return nil
	}
	for i, name := range names {
		if job.Only != nil && !job.Only.MatchString(name) {
			continue
		}
		result := job.one(ctx, w, i+1)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		result.File, result.Name = job.Script, name
		job.Found(result)
	}
	return nil
}

// names lists the tests of the file, by running it.
func (job TestJob) names(ctx context.Context, w *World) (names []string, err error) {
	err = job.alone(ctx, w, func(r *run) error {
		if err := succeeded(r.in.RunFile(job.Script)); err != nil {
			return err
		}
		for _, c := range stdlib.SuiteOf(r.in).Cases {
			names = append(names, c.Name)
		}
		return nil
	})
	return names, err
}

// one runs test number n.
func (job TestJob) one(ctx context.Context, w *World, n int) (result TestResult) {
	var out bytes.Buffer
	quiet := *w
	quiet.Stdout, quiet.Stderr = &out, &out
	started := time.Now()
	err := job.alone(ctx, &quiet, func(r *run) error {
		stdlib.SuiteOf(r.in).Run = r.beside
		if err := succeeded(r.in.RunFile(job.Script)); err != nil {
			return err
		}
		err := job.part(r, "before", n)
		if err == nil {
			err = job.part(r, "body", n)
		}
		if reason := stdlib.SuiteOf(r.in).Skipped; reason != "" {
			result.Skipped, err = reason, nil
		}
		if after := job.part(r, "after", n); err == nil {
			err = after
		}
		return err
	})
	result.Duration, result.Output = time.Since(started), out.String()
	if err != nil {
		result.Failure = reported(w, err)
	}
	return result
}

// reported is what people would be told of an error.
func reported(w *World, err error) string {
	var out bytes.Buffer
	quiet := *w
	quiet.Stderr = &out
	if Report(&quiet, Output{}, err); out.Len() == 0 {
		return err.Error() + "\n"
	}
	return out.String()
}

func (job TestJob) part(r *run, part string, n int) error {
	_, err := r.in.RunString(caseName, stdlib.RunCase(part, n))
	var failed *vm.ScriptError
	if errors.As(err, &failed) { // where the runner calls the test says nothing
		failed.Frames = slices.DeleteFunc(failed.Frames, func(f vm.Frame) bool { return f.File == caseName })
	}
	return succeeded(err)
}

// caseName is what the code is called that calls a test.
const caseName = "test"

// alone gives work an interpreter, a platform and a state folder of its own.
func (job TestJob) alone(ctx context.Context, w *World, work func(*run) error) error {
	state, err := os.MkdirTemp("", "transect-state-")
	if err != nil {
		return fault.Of(&fault.FileError{}, "cannot make a folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(state) }() // it is among the temporary files
	own := job.Job
	own.Connection, own.line = Connection{Local: true}, job.Line
	apart := *w
	apart.Env = testEnvironment(w.Env, state)
	return perform(ctx, &apart, &own, func(r *run, _ context.Context) error {
		r.connector.local.memory = true
		module.Preload(r.in, stdlib.Modules()...)
		bindings.Open(r.in, r.connector.connect)
		return work(r)
	})
}

// beside runs a script on the platform of a test, in an interpreter of its own.
func (r *run) beside(ctx context.Context, script string, args []string) stdlib.Outcome {
	var out, told bytes.Buffer
	w, job := *r.world, *r.job
	w.Stdin, w.Stdout, w.Stderr = strings.NewReader(""), &out, &told
	job.Script, job.Args = script, args
	other := newRun(ctx, &w, &job, r.connector.named, r.connector.tuning)
	other.connector.local, other.connector.borrows = r.connector.local, true
	err := ending(other.whole(ctx, func(r *run, _ context.Context) error {
		module.Preload(r.in, stdlib.Modules()...)
		bindings.Open(r.in, r.connector.connect)
		return r.script()
	}))
	Report(&w, Output{}, err)
	return stdlib.Outcome{Code: ExitCode(err), Output: out.String(), Errors: told.String()}
}

// testEnvironment hides the variables that name a platform and the folder of
// lasting state: tests never reach what people work with.
func testEnvironment(env func(string) (string, bool), state string) func(string) (string, bool) {
	hidden := map[string]bool{}
	for _, o := range new(Connection).Options() {
		hidden[o.Env] = true
	}
	return func(name string) (string, bool) {
		switch {
		case hidden[name]:
			return "", false
		case name == vm.StateVariable:
			return state, true
		}
		return env(name)
	}
}
