// Package suite runs the tests of scripts: transect test.
package suite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"transect/client/fault"
	"transect/runtime"
	"transect/runtime/local"
	"transect/runtime/plan"
	"transect/runtime/planrun"
	"transect/runtime/vm"
	"transect/stdlib"
)

// Job configures how test files are run.
type Job struct {
	runtime.Job
	Only    *regexp.Regexp // names of the tests to run; nil for all
	OnTest  func(Result)   // called after each test
	Planned bool           // scripts that a test runs are planned first, and carried out by their plan
}

// Result is the result of one test.
type Result struct {
	File, Name string
	Skipped    string // the reason, or ""
	Failure    string // the report of the error, or ""
	Output     string
	Duration   time.Duration
}

// Run runs the tests of one file, each in an interpreter of its own on a new
// local platform in memory. Failures are results, also for a file that cannot
// be loaded; the error is for a run that was cancelled.
func Run(ctx context.Context, p *runtime.Process, job Job) error {
	names, err := job.names(ctx, p)
	if ended := ending(ctx, err); ended != nil {
		return ended
	}
	if err != nil {
		job.OnTest(Result{File: job.Script, Name: "the file itself", Failure: reportText(p, err)})
		return nil
	}
	for i, name := range names {
		if job.Only != nil && !job.Only.MatchString(name) {
			continue
		}
		result, err := job.runTest(ctx, p, i+1)
		if ended := ending(ctx, err); ended != nil {
			return ended
		}
		result.File, result.Name = job.Script, name
		job.OnTest(result)
	}
	return nil
}

// ending returns the reason why no further test is run: ctx has ended, or a signal came, which the run of the
// test received.
func ending(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if interrupted, ok := errors.AsType[*runtime.Interrupted](err); ok {
		return interrupted
	}
	return nil
}

// names lists the tests of the file by loading it.
func (job Job) names(ctx context.Context, p *runtime.Process) (names []string, err error) {
	err = job.isolated(ctx, p, func(x *runtime.Execution) error {
		if _, err := x.Interp.RunFile(job.Script); runtime.WithoutSuccess(err) != nil {
			return err
		}
		for _, c := range stdlib.SuiteOf(x.Interp).Cases {
			names = append(names, c.Name)
		}
		return nil
	})
	return names, err
}

// runTest runs test number n.
func (job Job) runTest(ctx context.Context, p *runtime.Process, n int) (result Result, err error) {
	var out bytes.Buffer
	buffered := *p
	buffered.Stdout, buffered.Stderr = &out, &out
	started := time.Now()
	err = job.isolated(ctx, &buffered, func(x *runtime.Execution) error {
		stdlib.SuiteOf(x.Interp).Run = job.other(x)
		if _, err := x.Interp.RunFile(job.Script); runtime.WithoutSuccess(err) != nil {
			return err
		}
		err := runPart(x, "before", n)
		if err == nil {
			err = runPart(x, "body", n)
		}
		if reason := stdlib.SuiteOf(x.Interp).Skipped; reason != "" {
			result.Skipped, err = reason, nil
		}
		if after := runPart(x, "after", n); err == nil {
			err = after
		}
		return err
	})
	result.Duration, result.Output = time.Since(started), out.String()
	if err != nil {
		result.Failure = reportText(p, err)
	}
	return result, err
}

// reportText formats the error as Report prints it.
func reportText(p *runtime.Process, err error) string {
	var out bytes.Buffer
	buffered := *p
	buffered.Stderr = &out
	if runtime.Report(&buffered, runtime.Output{}, err); out.Len() == 0 {
		return err.Error() + "\n"
	}
	return out.String()
}

// caseName is the source name of the code that calls a test.
const caseName = "test"

func runPart(x *runtime.Execution, part string, n int) error {
	_, err := x.Interp.RunString(caseName, stdlib.RunCase(part, n))
	if script, ok := errors.AsType[*vm.ScriptError](err); ok { // the line that calls the test is of no interest
		script.Frames = slices.DeleteFunc(script.Frames, func(f vm.Frame) bool { return f.File == caseName })
	}
	return runtime.WithoutSuccess(err)
}

// isolated calls work with its own interpreter, platform and state folder.
func (job Job) isolated(ctx context.Context, p *runtime.Process, work func(*runtime.Execution) error) error {
	state, err := os.MkdirTemp("", "transect-state-")
	if err != nil {
		return fault.Of(&fault.FileError{}, "cannot create a folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(state) }() // a leftover remains among the temporary files
	isolated, own := *p, job.Job
	isolated.Env = testEnvironment(p.Env, state)
	own.Connection = runtime.Connection{Local: true}
	own.Backend = local.InMemory(&isolated)
	defer own.Backend.Close()
	return runtime.Perform(ctx, &isolated, &own, func(x *runtime.Execution, _ context.Context) error {
		x.Open()
		return work(x)
	})
}

// other returns how a test runs a script on its platform, in a separate interpreter.
func (job Job) other(x *runtime.Execution) func(ctx context.Context, script string, args []string) stdlib.Outcome {
	plans := 0
	return func(ctx context.Context, script string, args []string) stdlib.Outcome {
		other := *x.Job()
		other.Script, other.Args = script, args
		if !job.Planned {
			return runJob(ctx, x, other)
		}
		rehearsal, recorder := planrun.Record(other)
		if runJob(ctx, x, rehearsal).Code != runtime.ExitOK {
			return runJob(ctx, x, other)
		}
		agreed := recorder.Plan()
		plans++
		agreed.ID = fmt.Sprintf("plan-%d", plans)
		gate := &plan.Gate{Plan: agreed, Allow: true}
		other.Run = runtime.RunID{ID: agreed.ID, Known: true}
		outcome := runJob(ctx, x, planrun.CarryOut(other, gate))
		if outcome.Code == runtime.ExitOK && len(gate.Result().Missing) > 0 {
			outcome.Code, outcome.Errors = runtime.ExitPartial, outcome.Errors+gate.Result().Text()+"\n"
		}
		return outcome
	}
}

func runJob(ctx context.Context, x *runtime.Execution, job runtime.Job) stdlib.Outcome {
	var stdout, stderr bytes.Buffer
	p := *x.Process()
	p.Stdin, p.Stdout, p.Stderr = strings.NewReader(""), &stdout, &stderr
	err := x.RunInside(ctx, &p, job)
	runtime.Report(&p, runtime.Output{}, err)
	return stdlib.Outcome{Code: runtime.ExitCode(err), Output: stdout.String(), Errors: stderr.String()}
}

// testEnvironment hides the variables of the connection and the state folder:
// tests never touch real data.
func testEnvironment(env func(string) (string, bool), state string) func(string) (string, bool) {
	hidden := map[string]bool{}
	for _, o := range new(runtime.Connection).Options() {
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
