package runtime

import (
	"errors"
	"net/http"
	"os"
	"syscall"
	"time"

	"transect/client/fault"
	"transect/runtime/vm"
)

// The exit codes. They are an interface: never renumbered, only added to.
const (
	ExitOK          = 0
	ExitRaised      = 1   // the script raised
	ExitUsage       = 2   // usage, configuration or syntax
	ExitPartial     = 3   // finished, some items failed: scripts say so themselves
	ExitCredentials = 4   // credentials refused
	ExitTemporary   = 5   // temporary, running again may help
	ExitLocked      = 6   // another run holds the lock
	ExitTimeLimit   = 10  // the time limit of the run passed
	ExitInterrupted = 130 // interrupted
	ExitTerminated  = 143 // terminated
)

// ExitCode decides the exit code of the process from the error of a run or a
// command. Where several errors are in the chain, the most telling one counts.
func ExitCode(err error) int {
	var (
		asked       *vm.Exit
		interrupted *Interrupted
		late        *overrun
		refused     *fault.TokenRenewalError
		answer      *fault.ResponseError
		usage       *fault.UsageError
		config      *fault.ConfigError
		syntax      *fault.SyntaxError
		missing     *fault.MissingCredentialsError
		locked      *fault.LockedError
	)
	var told *Told
	if errors.As(err, &told) {
		err = told.Err
	}
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &asked):
		return portable(asked.Code)
	case errors.As(err, &interrupted):
		return interrupted.code()
	case errors.As(err, &late):
		return ExitTimeLimit
	case errors.As(err, &usage), errors.As(err, &config), errors.As(err, &syntax), errors.As(err, &missing):
		return ExitUsage
	case errors.As(err, &locked):
		return ExitLocked
	case errors.As(err, &refused):
		return ExitCredentials
	case errors.As(err, &answer) && answer.Status == http.StatusUnauthorized:
		return ExitCredentials
	case fault.Transient(err), answer != nil && answer.Status == http.StatusInsufficientStorage:
		return ExitTemporary
	}
	return ExitRaised
}

// portable brings a code into the range every system hands on. One that would
// be cut down to 0 must not look like success.
func portable(code int) int {
	if cut := code & 0xff; cut != 0 || code == 0 {
		return cut
	}
	return ExitRaised
}

// Interrupted is why a run that was asked to stop by a signal ended. It is no
// fault: several tasks end for this one reason, and each makes its own fault
// around it.
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

// overrun is why a run that took longer than it may ended.
type overrun struct{ limit time.Duration }

func (e *overrun) Error() string { return "the run reached its time limit of " + e.limit.String() }

// ending is the error of a run that was stopped from outside: the reason
// itself, without the faults of the calls it cut short.
func ending(err error) error {
	var interrupted *Interrupted
	if errors.As(err, &interrupted) {
		return interrupted
	}
	var late *overrun
	if errors.As(err, &late) {
		overdue := fault.Hinted(fault.Of(&fault.TimeoutError{}, "%w", late), "give it more time with --timeout")
		var placed *vm.ScriptError
		if errors.As(err, &placed) {
			return &vm.ScriptError{Err: overdue, Frames: placed.Frames}
		}
		return overdue
	}
	return err
}
