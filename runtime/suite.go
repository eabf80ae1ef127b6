package runtime

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
	"transect/runtime/plan"
	"transect/runtime/vm"
	"transect/stdlib"
)

// TestJob says how test files are run.
type TestJob struct {
	Job
	Only   *regexp.Regexp   // names of the tests to run; nil for all
	OnTest func(TestResult) // called after each test
}

// TestResult is the result of one test.
type TestResult struct {
	File, Name string
	Skipped    string // the reason, or ""
	Failure    string // the report of the error, or ""
	Output     string
	Duration   time.Duration
}

// Test runs the tests of one file, each in an interpreter of its own on a new
// local platform in memory. Failures are results, also that of a file that
// cannot be loaded; the error is for a run that was cancelled.
func Test(ctx context.Context, p *Process, job TestJob) error {
	names, err := job.names(ctx, p)
	if ended := ending(ctx, err); ended != nil {
		return ended
	}
	if err != nil {
		job.OnTest(TestResult{File: job.Script, Name: "the file itself", Failure: reportText(p, err)})
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

// ending is the reason why no further test is run: ctx has ended, or a signal came, which
// the run of the test took.
func ending(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if interrupted, ok := errors.AsType[*Interrupted](err); ok {
		return interrupted
	}
	return nil
}

// names lists the tests of the file by loading it.
func (job TestJob) names(ctx context.Context, p *Process) (names []string, err error) {
	err = job.isolated(ctx, p, func(x *Execution) error {
		if _, err := x.Interp.RunFile(job.Script); WithoutSuccess(err) != nil {
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
func (job TestJob) runTest(ctx context.Context, p *Process, n int) (result TestResult, err error) {
	var out bytes.Buffer
	buffered := *p
	buffered.Stdout, buffered.Stderr = &out, &out
	started := time.Now()
	err = job.isolated(ctx, &buffered, func(x *Execution) error {
		stdlib.SuiteOf(x.Interp).Run = x.runOther
		if _, err := x.Interp.RunFile(job.Script); WithoutSuccess(err) != nil {
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

// reportText is the error as Report prints it.
func reportText(p *Process, err error) string {
	var out bytes.Buffer
	buffered := *p
	buffered.Stderr = &out
	if Report(&buffered, Output{}, err); out.Len() == 0 {
		return err.Error() + "\n"
	}
	return out.String()
}

// caseName is the source name of the code that calls a test.
const caseName = "test"

func runPart(x *Execution, part string, n int) error {
	_, err := x.Interp.RunString(caseName, stdlib.RunCase(part, n))
	if script, ok := errors.AsType[*vm.ScriptError](err); ok { // the line that calls the test is of no interest
		script.Frames = slices.DeleteFunc(script.Frames, func(f vm.Frame) bool { return f.File == caseName })
	}
	return WithoutSuccess(err)
}

// isolated gives work an interpreter, a platform and a state folder of its own.
func (job TestJob) isolated(ctx context.Context, p *Process, work func(*Execution) error) error {
	state, err := os.MkdirTemp("", "transect-state-")
	if err != nil {
		return fault.Of(&fault.FileError{}, "cannot create a folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(state) }() // a leftover lies among the temporary files
	own := job.Job
	own.Connection = Connection{Local: true}
	isolated := *p
	isolated.Env = testEnvironment(p.Env, state)
	return Perform(ctx, &isolated, &own, func(x *Execution, _ context.Context) error {
		x.connector.local.inMemory = true
		x.Open()
		return work(x)
	})
}

// runOther runs a script on the platform of a test, in its own interpreter.
func (x *Execution) runOther(ctx context.Context, script string, args []string) stdlib.Outcome {
	job := *x.job
	job.Script, job.Args = script, args
	if job.Planned {
		rehearsal := job
		rehearsal.DryRun, rehearsal.Recorder = true, plan.NewRecorder()
		if x.runJob(ctx, &rehearsal).Code == ExitOK {
			agreed := rehearsal.Recorder.Plan()
			x.planned++
			agreed.ID = fmt.Sprintf("plan-%d", x.planned)
			job.Gate, job.Run = &plan.Gate{Plan: agreed, Allow: true}, RunID{ID: agreed.ID, Known: true}
		}
	}
	outcome := x.runJob(ctx, &job)
	if g := job.Gate; g != nil && outcome.Code == ExitOK && len(g.Result().Missing) > 0 {
		outcome.Code, outcome.Errors = ExitPartial, outcome.Errors+g.Result().Text()+"\n"
	}
	return outcome
}

func (x *Execution) runJob(ctx context.Context, job *Job) stdlib.Outcome {
	var stdout, stderr bytes.Buffer
	p := *x.process
	p.Stdin, p.Stdout, p.Stderr = strings.NewReader(""), &stdout, &stderr
	other := newExecution(ctx, &p, job, x.connector.named)
	other.connector.local, other.connector.sharesLocal = x.connector.local, true
	err := stopReason(other.run(ctx, (*Execution).script))
	Report(&p, Output{}, err)
	return stdlib.Outcome{Code: ExitCode(err), Output: stdout.String(), Errors: stderr.String()}
}

// testEnvironment hides the variables of the connection and the state folder:
// tests never touch real data.
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
