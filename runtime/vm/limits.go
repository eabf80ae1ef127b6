package vm

import (
	"strings"

	"transect/client/fault"
)

// Limits bound what the scripts of an interpreter may use, all runs together.
// Zero values are no limits. A script cannot catch what happens when it goes
// past one: its run ends with a LimitError. With Options.Size they are those of each run.
type Limits struct {
	Instructions int64 // a step of matching a pattern counts as one
	Memory       int64 // bytes on the heap beyond what the program had at the start, or as Options.Size says

	// Exceeded is called with the LimitError: it can end a run that hangs in Go.
	// Optional.
	Exceeded func(error)
}

// exceed ends all runs of the interpreter; of one among others the run under way.
func (in *Interp) exceed(err error) {
	if in.opt.Size != nil {
		in.Interrupt(err)
	} else {
		in.cancel(err)
	}
	if in.opt.Limits.Exceeded != nil {
		in.opt.Limits.Exceeded(err)
	}
}

// overLimit returns the error of a run that went past a limit. flag names what allows more, which there is not
// where a program has set the limit.
func (in *Interp) overLimit(advice, flag, format string, args ...any) error {
	err := fault.Of(&fault.LimitError{}, format, args...)
	switch {
	case in.opt.Size == nil:
		advice += "allow more with " + flag
	case advice == "":
		return err
	}
	return fault.Hinted(err, "%s", strings.TrimSuffix(advice, ", or "))
}
