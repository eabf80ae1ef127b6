package runtime

import (
	"io"
	"log/slog"
	"regexp"
	"sync"
	"time"

	"transect/client/fault"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
)

// Job is one script to run and its settings.
type Job struct {
	Run    RunID     // has a ledger unless empty
	Script string    // path of the script; "-" is standard input
	Code   string    // Lua source to run when Script is empty
	Args   []string  // arguments of the script
	Stdin  io.Reader // read by the script; the input of the process when nil
	Path   []string  // additional folders for require

	Connection Connection // from the command line
	Transfers  Transfers
	Timeout    time.Duration // of the whole run; 0 is none
	Grace      time.Duration // after SIGTERM, to finish the items in hand
	Limits     vm.Limits
	Strict     bool // doubts are errors
	Sandbox    Sandbox
	DryRun     bool // plan writes instead of sending them
	Trace      bool // print each request and response
	Output     Output
	Version    string                      // of the program, for the User-Agent
	OnLine     func(file string, line int) // called for each line that runs; may be nil
	Parts      []Part                      // features of the run
	Backend    Backend                     // answers local connections; one of the process when nil, closed with the run

	policy *sandbox.Policy // nil without a sandbox
}

// RunID names a run, which may have several starts.
type RunID struct {
	ID    string
	Known bool // it was given by the user or has earlier starts
}

// runIDForm matches at most maxRunID characters; a count in the pattern would slow every start.
var runIDForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`) })

const maxRunID = 100

// CheckRunID returns an error for what cannot be the name of a run.
func CheckRunID(id string) error { return CheckName(id, "the ID of a run", maxRunID) }

// CheckName returns an error for an invalid name in files and on command lines; what names its kind.
func CheckName(name, what string, longest int) error {
	if len(name) <= longest && runIDForm().MatchString(name) {
		return nil
	}
	return fault.Hinted(fault.Of(&fault.UsageError{}, "%q cannot be %s", name, what),
		"use letters, digits, dots, dashes and underscores, at most %d", longest)
}

// Output selects the amount and the form of what goes to standard error.
type Output struct {
	Quiet   bool // errors only
	Verbose bool // debug messages, too
	JSON    bool // one JSON object per line
}

// Level returns the lowest level that is logged.
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
