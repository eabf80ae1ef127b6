package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"transect/client/fault"
	"transect/client/transfer"
	"transect/runtime/jobs"
	"transect/runtime/jobs/link"
)

// process is the process of an attempt, with its process group.
type process struct {
	cmd      *exec.Cmd
	link     *link.Worker
	outputs  *outputs
	out, err *lineWriter
	exited   chan struct{}      // closed at its end
	lease    chan time.Duration // the newest deadline
	stopped  bool               // the group is stopped until the lease is renewed
}

// start starts a process for a job.
func (a *attempt) start(w *work) (*process, error) {
	o := a.s.w.o
	cmd := exec.Command(o.Program[0], append(slices.Clone(o.Program[1:]), w.args...)...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = w.folder, slices.Concat(o.Env, a.job.Spec.Env, a.job.Spec.SlotEnv()), attributes()
	p := &process{cmd: cmd, out: a.log.writer(jobs.StreamOut), err: a.log.writer(jobs.StreamErr),
		exited: make(chan struct{}), lease: make(chan time.Duration, 1)}
	p.out.seen = func(string) { a.moved() }
	p.err.seen = func(line string) { a.moved(); a.last.see(line) }
	var err error
	if p.outputs, err = newOutputs(cmd, p.out, p.err); err != nil {
		return nil, err
	}
	if p.link, err = link.Attach(cmd); err == nil {
		if err = cmd.Start(); err != nil {
			_ = p.link.Close()
		}
	}
	if err != nil {
		p.outputs.close()
		return nil, err
	}
	p.outputs.started()
	go func() { _ = cmd.Wait(); close(p.exited) }()
	return p, nil
}

// execute runs an attempt in a process until it ends.
func (a *attempt) execute(w *work) end {
	s := a.s
	p, err := a.start(w)
	if err != nil {
		a.log.say("cannot start the process of the job: %v", err)
		return endOf(codeTemporary, "cannot start its process: "+err.Error())
	}
	begin := link.Begin{Run: jobs.RunID(a.job.ID), Job: a.job.ID, Files: s.w.folder("files", a.localName()),
		Until: s.lease.until(), TakenOver: a.takeOver, Beside: w.scriptDir, Policy: w.policy}
	calls, stopCalls := context.WithCancel(s.over)
	defer stopCalls()
	var sending sync.WaitGroup
	answers := a.watchRecord(s.store.Answers(calls, a.job.ID, a.epoch, a.waits, a.patience()))
	served := make(chan struct{})
	go func() {
		defer close(served)
		if err := p.link.Serve(calls, begin, answers); err != nil {
			s.log.Debug("the link to a job broke", "job", a.job.ID, "error", err)
		}
	}()
	sending.Go(func() { p.sendDeadlines(calls) })
	a.mu.Lock()
	a.process = p
	lost := a.killed
	a.mu.Unlock()
	if lost {
		a.kill()
	}
	a.renewed(s.lease.until())
	why := a.await(p)
	a.mu.Lock()
	a.process = nil
	a.mu.Unlock()
	killGroup(p.cmd.Process) // including programs that the script left behind
	p.outputs.drain()
	stopCalls()
	<-served
	sending.Wait()
	p.out.flush()
	p.err.flush()
	_ = p.link.Close()
	return a.ended(p.cmd.ProcessState, why)
}

// reason is why the worker ended a process; natural if it did not.
type reason int

const (
	natural reason = iota
	cancelling
	releasing
	overtime
	fencedOff
)

// await waits for the end of the process, and ends it when due.
func (a *attempt) await(p *process) (why reason) {
	var limit, kill <-chan time.Time
	if t := a.job.Spec.Timeout; t > 0 {
		limit = time.After(t + a.s.w.o.KillAfter) // the process enforces its limit itself
	}
	stop := func(because reason) {
		if why == natural {
			why = because
			a.continueGroup()
			endGroup(p.cmd.Process)
			kill = time.After(a.s.w.o.KillAfter)
		}
	}
	cancels := time.NewTicker(100 * time.Millisecond)
	defer cancels.Stop()
	release, fenced := a.s.release, a.s.fenced
	for {
		select {
		case <-p.exited:
			return why
		case <-cancels.C:
			if a.isCancelled() && why == natural {
				go func() { _ = p.link.Cancel("by a user") }() // it also gets the signal; a stopped process does not read
				stop(cancelling)
			}
		case <-release:
			release = nil
			stop(releasing)
		case <-limit:
			stop(overtime)
		case <-fenced:
			fenced, why = nil, fencedOff
			killGroup(p.cmd.Process)
		case <-kill:
			killGroup(p.cmd.Process)
		}
	}
}

// ended returns the outcome of an attempt by the state of its process.
func (a *attempt) ended(state *os.ProcessState, why reason) end {
	code := codeFailed
	if state != nil {
		code = state.ExitCode()
	}
	signal, requested := "", false
	if code < 0 {
		code, signal = codeTemporary, "its process was killed"
		if status, ok := state.Sys().(syscall.WaitStatus); ok {
			signal = fmt.Sprintf("its process was killed (%s)", status.Signal())
			requested = status.Signal() == syscall.SIGTERM || status.Signal() == syscall.SIGINT
		}
	}
	switch {
	case why == fencedOff:
		return end{lost: errFenced}
	case code == 0 || code == codePartial && why == natural:
		return endOf(code, "")
	case why == cancelling:
		return end{outcome: jobs.Cancelled}
	case why == releasing:
		return end{outcome: jobs.Released}
	case why == overtime:
		return endOf(codeTimeLimit, "it exceeded its time limit of "+a.job.Spec.Timeout.String())
	case signal != "" && a.s.lease.left() <= 0: // its lease had expired and it exited by itself
		return end{outcome: jobs.Released}
	case signal != "":
		a.log.say("%s", signal)
		if requested {
			return a.signalled(code, signal)
		}
		return endOf(code, signal)
	case code == codeTerminated || code == codeInterrupted || code == codeKilled:
		return a.signalled(code, cmp.Or(a.last.get(), fmt.Sprintf("its process was terminated (exit code %d)", code)))
	}
	return endOf(code, a.last.get())
}

// sendDeadlines sends new deadlines to the process, which may be too busy to read.
func (p *process) sendDeadlines(ctx context.Context) {
	for {
		select {
		case until := <-p.lease:
			if p.link.Lease(until) != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// with calls f with the process, if there is one.
func (a *attempt) with(f func(*process)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.process != nil {
		f(a.process)
	}
}

// renewed sends the process its new deadline.
func (a *attempt) renewed(until time.Duration) {
	a.with(func(p *process) {
		select {
		case <-p.lease: // an unread one
		default:
		}
		p.lease <- until
	})
}

// hold stops or continues the process group.
func (a *attempt) hold(stop bool) {
	a.with(func(p *process) {
		if p.stopped == stop {
			return
		}
		if p.stopped = stop; stop {
			stopGroup(p.cmd.Process)
		} else {
			continueGroup(p.cmd.Process)
		}
	})
}

func (a *attempt) continueGroup() { a.hold(false) }

// cancel ends the attempt for good.
func (a *attempt) cancel() { a.setCancelled(true) }

// kill ends the process at once.
func (a *attempt) kill() {
	a.mu.Lock()
	a.killed = true
	a.mu.Unlock()
	a.with(func(p *process) { killGroup(p.cmd.Process) })
}

// exitCode returns the exit code of transect for an error before the process was started.
func exitCode(err error) int {
	var usage *fault.UsageError
	switch {
	case errors.As(err, &usage):
		return codeUsage
	case fault.Transient(err), transfer.IsFull(err):
		return codeTemporary
	}
	return codeFailed
}
