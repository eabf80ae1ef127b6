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

// ask asks for address, user and password on the terminal, with what was found
// as the answers for an empty line.
func (c *connector) ask(ctx context.Context, s *client.Settings) error {
	w := c.world
	if !w.IsTerminal(w.Stdin) || !w.IsTerminal(w.Stderr) {
		return fault.Hinted(fault.Of(&fault.ConfigError{}, "the connection is to be asked for (force_prompt), but there is no terminal to ask on"),
			"run it on a terminal, or leave force_prompt out and give the settings")
	}
	found, err := c.found(*s)
	if err != nil {
		return err
	}
	p := &prompt{world: w, out: c.in.Options().Stderr}
	if s.URL, err = p.line(ctx, "Platform address", found.URL); err != nil {
		return err
	}
	if s.User, err = p.line(ctx, "User", found.User); err != nil {
		return err
	}
	if found.User != s.User {
		found.Password = "" // somebody else's
	}
	if s.Password, err = p.secret(ctx, "Password", found.Password); err != nil {
		return err
	}
	s.AccessToken = ""
	return nil
}

// found is what is known already, from the configuration file too. Only a file
// that cannot be read is an error: what is missing is about to be asked for.
func (c *connector) found(s client.Settings) (client.Settings, error) {
	complete := s
	complete.URL, complete.AccessToken = "https://complete.invalid", "complete"
	if _, err := complete.Resolve(); err != nil {
		return s, err
	}
	found, _ := s.Resolve()
	return found, nil
}

// prompt asks on the error stream: standard output is the script's.
type prompt struct {
	world *World
	out   io.Writer
}

func (p *prompt) line(ctx context.Context, question, known string) (string, error) {
	if known != "" {
		question += " [" + known + "]"
	}
	return p.read(ctx, question, known, func() (string, error) { return readLine(p.world.Stdin) })
}

// secret reads without showing what is typed.
func (p *prompt) secret(ctx context.Context, question, known string) (string, error) {
	if known != "" {
		question += " [unchanged]"
	}
	f, ok := p.world.Stdin.(*os.File)
	if !ok {
		return p.read(ctx, question, known, func() (string, error) { return readLine(p.world.Stdin) })
	}
	state, err := term.GetState(int(f.Fd()))
	if err != nil {
		return "", fault.Of(&fault.ConfigError{}, "cannot read from the terminal: %w", err)
	}
	// Also when the reading is given up: the terminal must echo again.
	defer func() { _ = term.Restore(int(f.Fd()), state) }()
	text, err := p.read(ctx, question, known, func() (string, error) {
		text, err := term.ReadPassword(int(f.Fd()))
		return string(text), err
	})
	fmt.Fprintln(p.out)
	return text, err
}

// read waits for an answer, but not when ctx ends: the reading itself cannot be
// stopped and is left behind.
func (p *prompt) read(ctx context.Context, question, known string, read func() (string, error)) (string, error) {
	fmt.Fprintf(p.out, "%s: ", question)
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

// readLine reads up to the end of a line and not a byte further, so that the
// script finds the rest.
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

// Confirm asks a question that is to be answered with yes or no.
func (w *World) Confirm(ctx context.Context, question string) (bool, error) {
	p := &prompt{world: w, out: w.Stderr}
	text, err := p.line(ctx, question+" (yes/no)", "no")
	text = strings.ToLower(strings.TrimSpace(text))
	return text == "y" || text == "yes", err
}
