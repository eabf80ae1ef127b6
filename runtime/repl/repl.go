// Package repl is the prompt: it reads Lua line by line, runs it and prints its
// values. On a terminal it edits, completes and keeps a history; in a pipe it is
// a filter.
//
// Run makes a Config and a session and calls Session.Run, which
// reads complete inputs (reading.go, input.go, editor.go), executes them
// (commands.go, session.go) and prints their values (print.go, table.go,
// page.go). complete.go finds completions with scan.go and members.go. Begin
// reading with Session.Run.
package repl

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"transect/runtime/vm"
)

// Config configures a prompt.
type Config struct {
	Interp   *vm.Interp
	Input    *Input
	Out      *Edge // of the interpreter
	Name     string
	Version  string
	Quiet    bool
	Terminal bool          // interactive; otherwise lines come from a pipe or a file
	Colours  bool          // values may be coloured
	Timeout  time.Duration // of one input; 0 is none

	Label    func() string                           // names the platform in the prompt
	Report   func(err error, source string)          // prints an error; source is everything typed
	Failed   func(err error, source string) error    // converts an error to the result of a pipe
	Edit     func(text string) (string, error)       // lets the user edit a text; nil without a terminal
	Trace    func(on bool)                           // turns tracing on and off
	Profile  func(name string) error                 // switches the platform; "-" is the first one
	Attach   func(name string) (string, error)       // shows a running script
	Profiles func() (names []string, current string) // lists the available ones
}

// Run reads and runs inputs until they end, or ctx does. Its error is a *vm.Exit when the code requested it;
// in a pipe, the first error.
func (s *Session) Run(ctx context.Context) error {
	if s.cfg.Terminal {
		s.open()
		defer s.cfg.Input.close()
	}
	for {
		switch err := s.step(ctx); {
		case err == nil:
		case errors.Is(err, io.EOF):
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		default:
			return err
		}
	}
}

// step reads and runs one input. On a terminal it returns an error only to end the session.
func (s *Session) step(ctx context.Context) error {
	text, err := s.read(ctx)
	if err != nil || text == "" {
		return err
	}
	s.interrupted.Store(false)
	s.stuck.Store(false)
	s.fresh = false
	s.busy.Store(true) // Ctrl-C cancels the input from now on
	defer s.busy.Store(false)
	err = s.execute(text)
	s.remember(text)
	return s.handle(err)
}

// handle prints an error and drops it, unless it ends the session.
func (s *Session) handle(err error) error {
	var exit *vm.Exit
	switch {
	case errors.Is(err, io.EOF), errors.As(err, &exit):
		return err
	case s.interrupted.Load():
		s.note("interrupted")
		return nil
	case err == nil:
		return nil
	case !s.cfg.Terminal:
		return s.cfg.Failed(err, s.source())
	}
	s.cfg.Report(err, s.source())
	return nil
}

// size returns the size of the terminal, or a default.
func (s *Session) size() (width, height int) {
	if f, ok := s.cfg.Out.to.(*os.File); ok {
		if w, h, err := term.GetSize(int(f.Fd())); err == nil && w > 0 && h > 0 {
			return w, h
		}
	}
	return 80, 24
}
