package unattended

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"sync"
	"time"

	"transect/client"
	"transect/client/atomicfile"
	"transect/client/declare"
	"transect/client/fault"
	"transect/client/human"
	"transect/client/recovery"
	"transect/runtime"
	"transect/runtime/runledger"
	"transect/runtime/unattended/history"
	"transect/runtime/vm"
)

// calls counts the operations of a run.
type calls struct {
	mu    sync.Mutex
	named map[string]history.Calls
}

func (c *calls) intercept(ctx context.Context, call *declare.Call, next declare.Handler) (declare.Value, error) {
	if call.SendsNothing() {
		return next(ctx, call)
	}
	value, err := next(ctx, call)
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.named[call.Spec.FullName()]
	n.Count++
	if err != nil {
		n.Failed++
	}
	c.named[call.Spec.FullName()] = n
	return value, err
}

// all returns a copy: a run that hangs may still count.
func (c *calls) all() map[string]history.Calls {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.named)
}

// count reads the counters of a run, even of one that hangs.
func (r *run) count() {
	x := r.x
	if x == nil {
		return
	}
	items := x.Interp.Items()
	r.result.ItemsDone, r.result.ItemsFailed, r.result.Files = items.Done, items.Failed, items.Verdicts
	r.result.Sent, r.result.Received = x.Transferred()
	r.result.Writes = runledger.Of(x).Writes()
}

// end reports and records how the run ended, once, and sends its notifications.
func (r *run) end(ctx context.Context, err error, code int) {
	r.ending.Do(func() {
		code = r.finish(err, code)
		if r.started {
			r.notifyEnd(ctx, code)
		}
		r.close()
	})
}

// endAtOnce writes only the record, when no time is left for notifications.
func (r *run) endAtOnce(err error, code int) {
	r.ending.Do(func() {
		r.finish(err, code)
		r.close()
	})
}

// finish writes the record of the run, and returns its exit code.
func (r *run) finish(err error, code int) int {
	r.print(err, code)
	r.offerResumption(code)
	now := r.process.Now()
	e := &r.result
	e.At, e.Seconds = now, now.Sub(r.summary.Started).Seconds()
	e.ExitCode, e.Outcome, e.Operations = code, history.Outcome(code), r.calls.all()
	e.Error = r.failure(err)
	r.summary.State, r.summary.End = history.Ended, e
	if unwritten := r.writeFiles(); unwritten != nil {
		code = r.incomplete(unwritten, code)
	}
	r.note(fmt.Sprintf("run %s ended after %s: %s, exit code %d", r.summary.ID,
		human.Duration(time.Duration(e.Seconds*float64(time.Second))), e.Outcome, code))
	return code
}

// notifyEnd sends the notifications about the end of the run.
func (r *run) notifyEnd(ctx context.Context, code int) {
	r.pinging.Wait()
	if r.options.Ping != "" {
		r.ping(ctx, r.endEvent())
	}
	if r.options.OnFailure != "" && code != runtime.ExitOK && code != runtime.ExitTerminated {
		r.notifyFailure(ctx)
	}
}

// incomplete turns a success whose report or metrics could not be written into a failure: the files are
// missing, or from an earlier run.
func (r *run) incomplete(unwritten error, code int) int {
	if code != runtime.ExitOK {
		r.warn(unwritten.Error())
		return code
	}
	r.unwritten, code = unwritten, runtime.ExitCode(unwritten)
	e := &r.result
	e.ExitCode, e.Outcome, e.Error = code, history.Outcome(code), r.failure(unwritten)
	_ = r.writeFiles() // the other file should record the failure
	r.print(unwritten, code)
	return code
}

// print prints the buffered output of a run that failed, and the error.
func (r *run) print(err error, code int) {
	if err != nil {
		plain := *r.process
		plain.Stderr, plain.IsTerminal = r.lines.Stream(), func(any) bool { return false }
		runtime.Report(&plain, r.job.Output, err)
	}
	r.lines.Flush()
	if r.buffer != nil && code != runtime.ExitOK {
		r.buffer.Release(r.process.Stdout, r.process.Stderr)
		r.buffer = nil
	}
	runtime.Report(r.process, r.job.Output, err)
}

// offerResumption prints the command that resumes a run that has written.
func (r *run) offerResumption(code int) {
	w := r.result.Writes
	if code == runtime.ExitOK || w == nil || w.Sent+w.Taken+w.Adopted+w.Open == 0 ||
		r.supervisor() != nil || // a worker resumes jobs
		!strings.HasPrefix(r.summary.Command, "transect run ") {
		return
	}
	if r.recording.Wait(); r.entry != nil {
		again := "transect run --resume=" + r.job.Run.ID
		if g := r.gate(); g != nil && g.Refused() != nil {
			return // it would be refused again: the error has the advice
		} else if g != nil && g.File != "" {
			if again = "transect apply "; !g.Plan.Own {
				again += "--trust "
			}
			again += human.Line(g.File)
		}
		r.warn("resume it with: " + again)
	}
}

// failure returns the error in recorded form.
func (r *run) failure(err error) *history.Failure {
	if _, exit := errors.AsType[*vm.Exit](err); err == nil || exit {
		return nil
	}
	d := runtime.Describe(r.process, err)
	f := &history.Failure{Name: d.Name, Message: r.redact.all(d.Message), Operation: d.Operation,
		Cause: r.redact.all(d.Cause), Hint: r.redact.all(d.Hint)}
	if len(d.Stack) > 0 {
		f.File, f.Line = d.Stack[0].File, d.Stack[0].Line
	}
	f.Frames = r.framesOf(f, d.Message)
	return f
}

// writeFiles writes report and metrics. A run that did not get the lock leaves
// both alone: they belong to the other run.
func (r *run) writeFiles() (failed error) {
	if !r.started && r.summary.State == history.Ended && r.summary.End.ExitCode == runtime.ExitLocked {
		return nil
	}
	write := func(flag, path string, content func(before []byte) []byte) {
		if path == "" {
			return
		}
		path = r.process.Path(path)
		before, _ := os.ReadFile(path) // the file may not exist
		if err := atomicfile.Write(path, content(before), 0o644); err != nil {
			failed = fault.Hinted(fault.Of(&fault.FileError{}, "the %s file %s cannot be written: %w", flag, path,
				fault.Reason(err)),
				"the work of the script is done; make room, or name another file with --%s", flag)
		}
	}
	write("report", r.options.Report, func([]byte) []byte { return r.summary.JSON() })
	write("metrics", r.options.Metrics, r.summary.Metrics)
	return failed
}

// close closes the logs and the history, and releases the lock last: the next
// run may write to the same files.
func (r *run) close() {
	r.lines.Flush()
	if r.logFile != nil {
		if err := r.logFile.Err(); err != nil {
			fmt.Fprintf(r.process.Stderr, "transect: the log file %s is incomplete: %s\n", r.options.LogFile, fault.Reason(err))
		}
		_ = r.logFile.Close()
	}
	r.recording.Wait()
	if r.progress != nil {
		r.progress.end()
	}
	if r.entry != nil {
		_ = r.entry.End(r.summary) // an error of the history does not fail the run
	}
	if r.entry != nil && r.supervisor() == nil {
		runs, age := retention(r.process)
		_, _ = History(r.process).Prune(runs, r.process.Now().Add(-age))
	}
	// failures are retried the next day
	soon, _ := History(r.process).SweepLedgers(r.process.Now(), recovery.Readable(client.Declarations))
	for _, f := range soon {
		fmt.Fprintf(r.process.Stderr, "transect: the unfinished run %s is forgotten on %s, with %d recorded writes: "+
			"resume it with transect run --resume=%s\n",
			f.Run, f.Gone.Local().Format(time.DateOnly), f.Writes, f.Run)
	}
	if r.lock != nil {
		r.lock.Release()
	}
}
