package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"transect/client"
	"transect/client/fault"
)

// ask asks for URL, user and password on the terminal. What was found
// elsewhere is the default.
func (c *connector) ask(ctx context.Context, s *client.Settings) error {
	p := c.process
	if !p.IsTerminal(p.Stdin) || !p.IsTerminal(p.Stderr) {
		return fault.Hinted(fault.Of(&fault.ConfigError{}, "the script asks for the connection (force_prompt), but there is no terminal"),
			"run it on a terminal, or leave force_prompt out and give the settings")
	}
	found, err := c.defaults(*s)
	if err != nil {
		return err
	}
	q := &question{process: p, out: c.in.Options().Stderr}
	if s.URL, err = q.line(ctx, "Platform address", found.URL); err != nil {
		return err
	}
	if s.User, err = q.line(ctx, "User", found.User); err != nil {
		return err
	}
	if found.User != s.User {
		found.Password = "" // of another user
	}
	if s.Password, err = q.secret(ctx, "Password", found.Password); err != nil {
		return err
	}
	s.AccessToken = ""
	return nil
}

// defaults adds the configuration file to the settings. Only an unreadable
// file is an error: what is missing is about to be asked for.
func (c *connector) defaults(s client.Settings) (client.Settings, error) {
	complete := s
	complete.URL, complete.AccessToken = "https://complete.invalid", "complete"
	if _, err := complete.Resolve(); err != nil {
		return s, err
	}
	found, _ := s.Resolve()
	return found, nil
}

// question asks on standard error: standard output belongs to the script.
type question struct {
	process *Process
	out     io.Writer
}

func (q *question) line(ctx context.Context, text, known string) (string, error) {
	if known != "" {
		text += " [" + known + "]"
	}
	return q.read(ctx, text, known, func() (string, error) { return readLine(q.process.Stdin) })
}

// secret reads without echo.
func (q *question) secret(ctx context.Context, text, known string) (string, error) {
	if known != "" {
		text += " [unchanged]"
	}
	f, ok := q.process.Stdin.(*os.File)
	if !ok {
		return q.read(ctx, text, known, func() (string, error) { return readLine(q.process.Stdin) })
	}
	state, err := term.GetState(int(f.Fd()))
	if err != nil {
		return "", fault.Of(&fault.ConfigError{}, "cannot read from the terminal: %w", err)
	}
	// Restores the echo also when ctx ends while reading.
	defer func() { _ = term.Restore(int(f.Fd()), state) }()
	answer, err := q.read(ctx, text, known, func() (string, error) {
		answer, err := term.ReadPassword(int(f.Fd()))
		return string(answer), err
	})
	fmt.Fprintln(q.out)
	return answer, err
}

// read waits for the answer or the end of ctx. The read itself cannot be
// cancelled and is abandoned.
func (q *question) read(ctx context.Context, text, known string, read func() (string, error)) (string, error) {
	fmt.Fprintf(q.out, "%s: ", text)
	type answer struct {
		text string
		err  error
	}
	answered := make(chan answer, 1)
	go func() {
		text, err := read()
		answered <- answer{text, err}
	}()
	select {
	case a := <-answered:
		text := strings.TrimRight(a.text, "\r\n")
		switch {
		case text != "":
			return text, nil
		case a.err != nil && !errors.Is(a.err, io.EOF):
			return "", fault.Of(&fault.ConfigError{}, "cannot read from the terminal: %w", a.err)
		case a.err != nil && known == "":
			return "", fault.Of(&fault.ConfigError{}, "the question for the connection was not answered")
		}
		return known, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// readLine reads up to the end of the line and not a byte more: the rest
// belongs to the script.
func readLine(in io.Reader) (string, error) {
	var line strings.Builder
	var b [1]byte
	for {
		n, err := in.Read(b[:])
		if n > 0 {
			if b[0] == '\n' {
				return line.String(), nil
			}
			line.WriteByte(b[0])
		}
		if err != nil {
			return line.String(), err
		}
	}
}

// Confirm asks a yes/no question; the default is no.
func (p *Process) Confirm(ctx context.Context, text string) (bool, error) {
	q := &question{process: p, out: p.Stderr}
	answer, err := q.line(ctx, text+" (yes/no)", "no")
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", err
}
