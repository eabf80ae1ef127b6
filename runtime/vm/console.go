package vm

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"transect/client/fault"
	"transect/client/human"
)

// Console writes to the error stream and keeps one status line below what is
// written, such as a progress bar. Options.Stderr is one.
type Console struct {
	mu     sync.Mutex
	out    io.Writer
	copy   io.Writer // of what is written, not of the status line; may be nil
	status string

	visible bool // hidden characters are shown on terminals
}

const eraseLine = "\r\x1b[K"

// Write writes above the status line.
func (s *Console) Write(p []byte) (int, error) { return s.write(s.out, s.copy, p) }

func (s *Console) write(w, twin io.Writer, p []byte) (int, error) {
	if s.visible && isTerminal(w) {
		n, err := s.print(w, twin, []byte(human.Visible(string(p))))
		return min(n, len(p)), err
	}
	return s.print(w, twin, p)
}

func (s *Console) print(w, twin io.Writer, p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if twin != nil {
		_, _ = twin.Write(p) // the copy handles its own errors
	}
	if s.status == "" {
		n, err := w.Write(p)
		return n, unwritten(err)
	}
	_, _ = io.WriteString(s.out, eraseLine)
	n, err := w.Write(p)
	if len(p) > 0 && p[len(p)-1] == '\n' {
		_, _ = io.WriteString(s.out, s.status)
	}
	return n, unwritten(err)
}

// unwritten returns the error of output that cannot be written.
func unwritten(err error) error {
	if _, ok := errors.AsType[*os.PathError](err); !ok {
		return err // nil, or a writer's own description
	}
	return fault.Hinted(fault.Of(&fault.FileError{}, "cannot print: %w", err),
		"is the disk full that the output goes to, or has the program ended that reads it?")
}

// SetStatus draws the status line; "" removes it.
func (s *Console) SetStatus(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if line != s.status {
		s.status = line
		_, _ = io.WriteString(s.out, eraseLine+line)
	}
}

// Terminal reports whether the stream is a terminal, and its width.
func (s *Console) Terminal() (width int, ok bool) {
	if !isTerminal(s.out) {
		return 0, false
	}
	width, _, err := term.GetSize(int(s.out.(*os.File).Fd()))
	if err != nil || width <= 0 {
		width = 80
	}
	return width, true
}

func isTerminal(w io.Writer) bool {
	f, isFile := w.(*os.File)
	return isFile && term.IsTerminal(int(f.Fd()))
}

// consoleOut is standard output, which may share the terminal with a status line.
type consoleOut struct {
	screen *Console
	out    io.Writer
	copy   io.Writer
}

func (b consoleOut) Write(p []byte) (int, error) { return b.screen.write(b.out, b.copy, p) }

func newLogger(w io.Writer, l Log) *slog.Logger {
	opt := &slog.HandlerOptions{Level: l.Level}
	if l.JSON {
		return slog.New(slog.NewJSONHandler(w, opt))
	}
	opt.ReplaceAttr = func(groups []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey && len(groups) == 0 {
			a.Value = slog.StringValue(a.Value.Time().Format(time.TimeOnly))
		}
		return a
	}
	return slog.New(slog.NewTextHandler(w, opt))
}
