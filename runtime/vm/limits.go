package vm

// Limits bound what the scripts of an interpreter may use, all runs together.
// Zero values are no limits. A script cannot catch what happens when it goes
// past one: its run ends with a LimitError.
type Limits struct {
	Instructions int64 // of the interpreter; a step of matching a pattern counts as one
	Memory       int64 // bytes on the heap beyond what the program had at the start

	// Exceeded is called with the LimitError: it can end a run that hangs in Go.
	// Optional.
	Exceeded func(error)
}

// exceed ends all runs of the interpreter.
func (in *Interp) exceed(err error) {
	in.cancel(err)
	if in.opt.Limits.Exceeded != nil {
		in.opt.Limits.Exceeded(err)
	}
}
