package unattended

import (
	"context"
	"fmt"
	"strconv"

	"transect/runtime"
	"transect/runtime/unattended/notice"
	"transect/stdlib/notify"
)

func (r *run) sender() *notice.Sender {
	return &notice.Sender{Env: r.process.Env, Dir: r.process.Dir, Output: r.process.Stderr, Host: r.summary.Host,
		Version: r.job.Version}
}

// ping notifies the monitor. An unresponsive monitor does not fail the run.
func (r *run) ping(ctx context.Context, event string) {
	body, what := "run "+r.summary.ID+" of "+r.summary.Script, "start"
	if event != notify.Start {
		what = "end"
		body = fmt.Sprintf("exit code %d (%s) after %.1f s: %s\n%s", r.result.ExitCode, r.result.Outcome, r.result.Seconds,
			body, r.lastLines())
	}
	if err := r.sender().Ping(ctx, r.options.Ping, r.summary.ID, event, body); err != nil &&
		ctx.Err() != context.Canceled {
		r.warn(fmt.Sprintf("the monitor was not notified of the %s: %s", what, err))
	}
}

// endEvent returns the event for the monitor at the end of a run: a failure as its exit status. SIGTERM ends
// runs when the machine shuts down, which is neither success nor failure.
func (r *run) endEvent() string {
	switch r.result.ExitCode {
	case runtime.ExitOK:
		return notify.Success
	case runtime.ExitTerminated:
		return notify.Log
	}
	return strconv.Itoa(r.result.ExitCode)
}

// lastLines returns the last lines of output, without secrets.
func (r *run) lastLines() string { return r.redact.all(r.tail.String()) }

// notifyFailure carries out --on-failure.
func (r *run) notifyFailure(ctx context.Context) {
	s, e := r.summary, r.result
	message := ""
	if e.Error != nil {
		message = e.Error.Name + ": " + e.Error.Message
	}
	err := r.sender().Send(ctx, r.options.OnFailure,
		notice.Of(fmt.Sprintf("%s failed on %s: exit code %d (%s)", s.Script, s.Host, e.ExitCode, e.Outcome), r.lastLines(),
			notice.Outcome{Script: s.Script, Run: s.ID, Host: s.Host, ExitCode: &e.ExitCode, Outcome: e.Outcome,
				Seconds: e.Seconds, Error: e.Error, Message: message}))
	if err != nil {
		r.warn("--on-failure failed: " + notice.Explain(err))
	}
}
