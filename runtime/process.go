// Package runtime runs scripts: the life of one script from its settings to
// its exit code.
//
// cmd/transect fills a Process (what a run may use of the operating system) and
// a Job (the script and its settings) and calls Run, Test or Call. Each of them
// goes through Perform in run.go: it resolves the connection and the sandbox,
// makes the interpreter (runtime/vm) with the toolbox (stdlib) and the client
// (bindings), and cancels the run on signals and timeouts. Connections are
// opened in connect.go when the script needs one. Report prints the error,
// ExitCode turns it into an exit code.
//
// Begin reading in run.go. Runs by cron and the like: runtime/unattended.
package runtime

import (
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/term"

	"transect/bindings"
	"transect/runtime/module"
	"transect/runtime/vm"
)

// Process is a run's view of the operating system. Nothing below uses the globals of package os, so that runs can be
// tested in memory.
type Process struct {
	Args           []string // the command line without the program's name
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Env            func(name string) (string, bool)
	Now            func() time.Time
	Dir            string // relative paths start here; "" is the working directory
	IsTerminal     func(stream any) bool
	Signals        <-chan os.Signal         // nil for none
	Exit           func(code int)           // exits at once
	Backend        func(p *Process) Backend // makes the backend of a run; nil for a program without one
	Extensions     []bindings.Extension     // modules of parts that use the client
	Library        func() []*module.Module  // modules that do not use the client
	Parts          []NewPart                // take part in every run
	Ready          ReadyScripts             // scripts of the program; none when zero

	waiting *atomic.Int32 // how many read Signals
}

// ReadyScripts are the scripts and modules inside a program, which users name @NAME.
type ReadyScripts struct {
	Code    func(ref string) ([]byte, error)
	Program func(name string) string                     // how a shell runs the script of a name; "" for none
	Module  func(name string) (file string, code []byte) // for require; no code for none
}

// isReady reports whether a script of the command line is one of the program.
func isReady(script string) bool { return strings.HasPrefix(script, "@") }

// NewProcess returns the process of this program, with its command line, streams, environment and signals.
func NewProcess() *Process {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	p := &Process{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Env: os.LookupEnv, Now: time.Now,
		Exit: os.Exit, IsTerminal: isTerminal,
	}
	p.Relay(signals)
	return p
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Getenv returns the value of an environment variable; "" if it is not set.
func (p *Process) Getenv(name string) string {
	value, _ := p.Env(name)
	return value
}

// Path resolves a path of the command line.
func (p *Process) Path(path string) string {
	if p.Dir == "" || path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(p.Dir, path)
}

// StateDir returns the folder for what outlives a run.
func (p *Process) StateDir() string { return p.Path(vm.StateDir(p.Env)) }

// colours reports whether messages may be coloured.
func (p *Process) colours() bool {
	return p.IsTerminal(p.Stderr) && p.Getenv("NO_COLOR") == "" && p.Getenv("TERM") != "dumb"
}
