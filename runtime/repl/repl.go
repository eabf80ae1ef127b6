// Package repl is the prompt: it reads Lua line by line, runs it, and shows
// what came of it. On a terminal it edits, completes and remembers; in a pipe
// it is a filter.
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

// Config is what a prompt works with.
type Config struct {
	Interp   *vm.Interp
	Input    *Input
	Out      *Edge // what the interpreter's standard output goes to
	Name     string
	Version  string
	Quiet    bool
	Terminal bool          // a person types; else lines come from a pipe or a file
	Timeout  time.Duration // limit of one input; 0 is none

	Label    func() string                             // of the platform that is worked on, for the prompt
	Report   func(err error, source string)            // tells about an error; source is all that was typed
	Failed   func(err error, source string) error      // makes the end of a pipe of an error
	Trace    func(on bool)                             // turns the trace on and off
	Profile  func(name string) error                   // connects to another platform; "-" is the first one
	Profiles func() (names []string, current string)   // there are
	Env      func(name string) (value string, ok bool) // the environment
}

// Run reads and runs until the input ends, or ctx does. Its error is a
// *vm.Exit where the code asked for an end; in a pipe, the first error.
func (s *Session) Run(ctx context.Context) error {
	if s.cfg.Terminal {
		s.open()
		defer s.cfg.Input.close()
	}
	for {
		err := s.step(ctx)
		var asked *vm.Exit
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.As(err, &asked), !s.cfg.Terminal:
			return err
		default:
			return err
		}
	}
}

// step reads one input and runs it. On a terminal only what ends the session
// is an error.
func (s *Session) step(ctx context.Context) error {
	text, err := s.read(ctx)
	if err != nil || text == "" {
		return err
	}
	s.begin()
	defer s.end()
	err = s.obey(text)
	s.keep(text)
	return s.told(err)
}

// told reports an error and forgets it, unless it ends the session.
func (s *Session) told(err error) error {
	var asked *vm.Exit
	switch {
	case err == nil && s.stopped():
		s.note("interrupted")
		return nil
	case err == nil, errors.Is(err, io.EOF), errors.As(err, &asked):
		return err
	case s.stopped():
		s.note("interrupted")
		return nil
	case !s.cfg.Terminal:
		return s.cfg.Failed(err, s.source())
	}
	s.cfg.Report(err, s.source())
	return nil
}

// size is that of the terminal, or of an ordinary one.
func (s *Session) size() (width, height int) {
	if f, ok := s.cfg.Out.to.(*os.File); ok {
		if w, h, err := term.GetSize(int(f.Fd())); err == nil && w > 0 && h > 0 {
			return w, h
		}
	}
	return 80, 24
}
