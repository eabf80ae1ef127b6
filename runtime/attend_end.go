package runtime

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"transect/client/atomicfile"
	"transect/client/fault"
	"transect/runtime/unattended/report"
	"transect/runtime/vm"
	"transect/stdlib"
	"transect/stdlib/lock"
)

// begin is called when the run's settings are found good: it takes the lock and
// tells the world that the run has started.
func (a *attended) begin(ctx context.Context, r *run) error {
	if name := a.summary.Lock; name != "" {
		l, err := lock.Take(ctx, lock.Request{Folder: stdlib.LockFolder(a.world.StateDir()), Name: name, Script: a.summary.Script,
			Wait: a.set.LockWait, Now: a.world.Now, Waiting: func(held string) { a.note("waits for the lock of " + held) }})
		if err != nil {
			return err
		}
		a.lock = l
		if l.Abandoned != nil {
			a.note("took over the lock of " + l.DescribeAbandoned(a.world.Now()) + ", which ended without releasing it")
		}
		stdlib.HoldsLock(r.in, name)
	}
	a.begun = true
	if err := a.publish(); err != nil {
		a.note(err.Error()) // there may be room at the end
	}
	if a.set.Ping != "" {
		a.started.Go(func() { a.ping(context.WithoutCancel(ctx), pingStart) }) // also of a run that is over at once
	}
	r.connector.links = append(r.connector.links, a.calls.link)
	return nil
}

// count reads the counters of a run, whether or not it has come to an end.
func (a *attended) count(r *run) {
	items := r.in.Items()
	a.end_.ItemsDone, a.end_.ItemsFailed = items.Done, items.Failed
	a.end_.Sent, a.end_.Received = r.connector.stats.Sent(), r.connector.stats.Received()
}

// end tells everybody how the run ended, once. Without ctx there is only time
// to write it down.
func (a *attended) end(ctx context.Context, err error, code int) {
	a.once.Do(func() { a.finish(ctx, err, code) })
}

func (a *attended) finish(ctx context.Context, err error, code int) {
	a.tell(err, code)
	now := a.world.Now()
	e := &a.end_
	e.At, e.Seconds = now, now.Sub(a.summary.Started).Seconds()
	e.ExitCode, e.Outcome, e.Operations = code, report.Outcome(code), a.calls.all()
	e.Error = a.failure(err)
	a.summary.State, a.summary.End = report.Ended, e
	if missing := a.publish(); missing != nil {
		code = a.incomplete(missing, code)
	}
	a.note(fmt.Sprintf("run %s ended after %s: %s, exit code %d", a.summary.ID, time.Duration(e.Seconds*float64(time.Second)).Round(time.Millisecond), e.Outcome, code))
	if ctx != nil && a.begun {
		a.started.Wait()
		if a.set.Ping != "" {
			a.ping(ctx, pingEnd(code))
		}
		if a.set.OnFailure != "" && code != ExitOK {
			a.onFailure(ctx)
		}
	}
	a.close()
}

// incomplete is the end of a run whose report or metrics could not be written:
// what people rely on is missing, or that of an earlier run still lies there, so
// it did not succeed.
func (a *attended) incomplete(missing error, code int) int {
	if code != ExitOK {
		a.alarm(missing.Error())
		return code
	}
	a.missing, code = missing, ExitCode(missing)
	e := &a.end_
	e.ExitCode, e.Outcome, e.Error = code, report.Outcome(code), a.failure(missing)
	_ = a.publish() // what can be written has the truth, too
	a.tell(missing, code)
	return code
}

// tell shows what was held back, if the run failed, and why it failed.
func (a *attended) tell(err error, code int) {
	if err != nil {
		plain := *a.world
		plain.Stderr, plain.IsTerminal = a.lines.Stream(), func(any) bool { return false }
		Report(&plain, a.job.Output, err)
	}
	a.lines.Flush()
	if a.held != nil && code != ExitOK {
		a.held.Release(a.world.Stdout, a.world.Stderr)
		a.held = nil
	}
	Report(a.world, a.job.Output, err)
}

// failure is the error as the report has it.
func (a *attended) failure(err error) *report.Failure {
	var asked *vm.Exit
	if err == nil || errors.As(err, &asked) {
		return nil
	}
	r := newErrorReport(err)
	r.places = a.world.places(err)
	f := &report.Failure{Name: r.name, Message: a.secrets.all(r.headline()), Operation: r.operation, Cause: a.secrets.all(r.cause), Hint: a.secrets.all(r.hint)}
	if len(r.places) > 0 {
		f.File, f.Line = r.places[0].file, r.places[0].line
	}
	return f
}

// publish writes report and metrics. Those of a run that did not get the lock
// are left alone: they are the other run's.
func (a *attended) publish() (missing error) {
	if !a.begun && a.summary.State == report.Ended && a.summary.End.ExitCode == ExitLocked {
		return nil
	}
	write := func(what, path string, text func(before []byte) []byte) {
		if path == "" {
			return
		}
		path = a.world.path(path)
		before, _ := os.ReadFile(path) // there may be none
		if err := atomicfile.Write(path, text(before), 0o644); err != nil {
			missing = fault.Hinted(fault.Of(&fault.FileError{}, "the %s file %s cannot be written: %w", what, path, fault.Reason(err)),
				"what the script did is done; make room, or name another file with --%s", what)
		}
	}
	write("report", a.set.Report, func([]byte) []byte { return a.summary.JSON() })
	write("metrics", a.set.Metrics, a.summary.Metrics)
	return missing
}

// alarm is a warning that also a quiet run gives: what people rely on is missing.
func (a *attended) alarm(text string) {
	a.note(text)
	fmt.Fprintf(a.world.Stderr, "transect: %s\n", a.secrets.all(text))
}

// close ends logs and history, and gives the lock back last: the next run may
// write to the same files.
func (a *attended) close() {
	a.lines.Flush()
	if a.logFile != nil {
		if err := a.logFile.Err(); err != nil {
			fmt.Fprintf(a.world.Stderr, "transect: the log file %s is not whole: %s\n", a.set.LogFile, fault.Reason(err))
		}
		_ = a.logFile.Close()
	}
	a.remembering.Wait()
	if a.entry != nil {
		_ = a.entry.End(a.summary) // the history is not worth a failure
		if runs, age, err := a.world.keep(); err == nil {
			_, _ = a.world.History().Prune(runs, a.world.Now().Add(-age))
		}
	}
	if a.lock != nil {
		a.lock.Release()
	}
}

// StateDir is the folder of what outlives runs.
func (w *World) StateDir() string { return w.path(vm.StateDir(w.Env)) }

// readKeep reads "500", "90d" or "500,90d": how many runs are kept, how long.
func readKeep(text string) (runs int, age time.Duration, err error) {
	const day = 24 * time.Hour
	runs, age = 500, 90*day
	if text == "off" {
		return 0, 0, nil
	}
	for _, part := range splitList(text) {
		var n int
		var unit string
		if k, _ := fmt.Sscanf(part, "%d%s", &n, &unit); k == 0 || n < 0 || unit != "" && unit != "d" {
			return 0, 0, fault.Hinted(fault.Of(&fault.ConfigError{}, "%q is no number of runs or days to keep", part),
				"write it like 500, 90d or 500,90d; off keeps none")
		}
		if unit == "d" {
			age = time.Duration(n) * day
		} else {
			runs = n
		}
	}
	return runs, age, nil
}
