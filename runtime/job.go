package runtime

import (
	"context"
	"io"
	"log/slog"
	"time"

	"transect/client/declare"
	"transect/runtime/jobs"
	"transect/runtime/jobs/link"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
)

// Job is one script to run and its settings.
type Job struct {
	Run    RunID         // of the run; nothing is noted without one
	Link   *link.Child   // with the worker that started the process for a job, else nil
	Jobs   Jobs          // that the script submits
	Settle time.Duration // how long after it was sent a lost request may still arrive; 30 s when 0
	Script string        // path of the script; "-" is standard input
	Code   string        // Lua source to run when Script is empty
	Args   []string      // arguments of the script
	Stdin  io.Reader     // read by the script; the input of the process when nil
	Path   []string      // additional folders for require

	Connection Connection // from the command line
	Transfers  Transfers
	Timeout    time.Duration // of the whole run; 0 is none
	Grace      time.Duration // after SIGTERM, to finish the items in hand
	Limits     vm.Limits
	Strict     bool // what is doubtful is an error
	Sandbox    Sandbox
	DryRun     bool // plan writes instead of sending them
	Trace      bool // print each request and response
	Output     Output
	Version    string // of the program, for the User-Agent
	Hooks      Hooks
	OnLine     func(file string, line int) // called for each line that runs; may be nil
	Parts      []Part                      // features that take part in the run
	Backend    Backend                     // answers local connections; one of the process when nil, closed with the run

	Profile Profile // what of the run is measured

	policy *sandbox.Policy // nil without a sandbox

}

// Jobs says where the jobs are that a script submits, and what they have in common.
type Jobs struct {
	URL string // see runtime/jobs
	// Template is a job of a script with its arguments, as transect submit would
	// make it with the flags of this run. Optional.
	Template func(script string, args []string) (jobs.Spec, error)
}

// Hooks let a caller follow a run.
type Hooks struct {
	Stdout, Stderr io.Writer                               // receive a copy of the output
	Before         func(context.Context, *Execution) error // runs when the settings are valid, before the script
	After          func(*Execution)                        // runs at the end, also when the script hangs
	Interceptor    declare.Interceptor                     // of every call to the platform
	Attach         func(name string) (string, error)       // what the prompt shows of a running script
}

// Output selects the amount and the form of what goes to standard error.
type Output struct {
	Quiet   bool // errors only
	Verbose bool // debug messages, too
	JSON    bool // one JSON object per line
}

// Level is the lowest level that is logged.
func (o Output) Level() slog.Level {
	switch {
	case o.Quiet:
		return slog.LevelError
	case o.Verbose:
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

func (o Output) progress() vm.ProgressMode {
	switch {
	case o.Quiet:
		return vm.ProgressQuiet
	case o.JSON:
		return vm.ProgressJSON
	}
	return vm.ProgressAuto
}
