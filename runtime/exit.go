package runtime

import (
	"errors"
	"net/http"
	"os"
	"syscall"
	"time"

	"transect/client/fault"
	"transect/client/transfer"
	"transect/runtime/vm"
)

// The exit codes. They are an interface: never renumbered, only added to.
const (
	ExitOK          = 0
	ExitRaised      = 1   // the script raised an error
	ExitUsage       = 2   // usage, configuration or syntax
	ExitPartial     = 3   // finished, some items failed: set by scripts
	ExitCredentials = 4   // credentials refused
	ExitTemporary   = 5   // temporary failure, running again may help
	ExitLocked      = 6   // another run holds the lock
	ExitDecision    = 7   // the outcome of a write is unknown, and needs a decision
	ExitPlanned     = 8   // planned only: something would be written
	ExitDrift       = 9   // the plan no longer holds; nothing was sent
	ExitTimeLimit   = 10  // --timeout passed
	ExitInterrupted = 130 // interrupted
	ExitTerminated  = 143 // terminated
)

// ExitCode returns the process's exit code for the error of a run or a command. Of several errors in the
// chain, the most specific one counts.
func ExitCode(err error) int {
	if reported, ok := errors.AsType[*Reported](err); ok {
		err = reported.Err
	}
	if exit, ok := errors.AsType[*vm.Exit](err); ok {
		return truncate(exit.Code)
	}
	if interrupted, ok := errors.AsType[*Interrupted](err); ok {
		return interrupted.code()
	}
	if own, ok := errors.AsType[interface {
		error
		ExitCodeOfRun() int // not ExitCode, which errors of programs that were started have
	}](err); ok {
		return own.ExitCodeOfRun()
	}
	response, _ := errors.AsType[*fault.ResponseError](err)
	switch {
	case err == nil:
		return ExitOK
	case is[*timeoutError](err):
		return ExitTimeLimit
	case is[*fault.UsageError](err), is[*fault.ConfigError](err), is[*fault.SyntaxError](err),
		is[*fault.MissingCredentialsError](err):
		return ExitUsage
	case is[*fault.LockedError](err):
		return ExitLocked
	case is[*fault.UnknownOutcomeError](err):
		return ExitDecision
	case is[*fault.TokenRenewalError](err):
		return ExitCredentials
	case response != nil && response.Status == http.StatusUnauthorized:
		return ExitCredentials
	case fault.Transient(err), transfer.IsFull(err), response != nil && response.Status == http.StatusInsufficientStorage:
		return ExitTemporary
	}
	return ExitRaised
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// truncate keeps the eight bits that every system hands on. A code that would
// become 0 must not look like success.
func truncate(code int) int {
	if low := code & 0xff; low != 0 || code == 0 {
		return low
	}
	return ExitRaised
}

// Interrupted is the cause of a run ended by a signal. It is not a fault: several tasks end for this one
// cause, and each wraps it in its own.
type Interrupted struct{ Signal os.Signal }

func (e *Interrupted) Error() string {
	if e.code() == ExitTerminated {
		return "terminated"
	}
	return "interrupted"
}

func (e *Interrupted) code() int {
	if e.Signal == syscall.SIGTERM {
		return ExitTerminated
	}
	return ExitInterrupted
}

// timeoutError is the cause of a run ended by --timeout.
type timeoutError struct{ limit time.Duration }

func (e *timeoutError) Error() string { return "the run reached its time limit of " + e.limit.String() }

// stopReason returns the error of a run that was cancelled: the cause itself, without the faults of the calls
// that were cancelled with it.
func stopReason(err error) error {
	if interrupted, ok := errors.AsType[*Interrupted](err); ok {
		return interrupted
	}
	limit, ok := errors.AsType[*timeoutError](err)
	if !ok {
		return err
	}
	timeout := fault.Hinted(fault.Of(&fault.TimeoutError{}, "%w", limit), "give it more time with --timeout")
	if script, ok := errors.AsType[*vm.ScriptError](err); ok {
		return &vm.ScriptError{Err: timeout, Frames: script.Frames}
	}
	return timeout
}
