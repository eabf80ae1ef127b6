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
	"transect/client/human"
	"transect/runtime/tty"
)

// ask prompts for URL, user and password on the terminal. Settings found
// elsewhere are the defaults.
func (c *connector) ask(ctx context.Context, s *client.Settings) error {
	p := c.process
	if !p.IsTerminal(p.Stdin) || !p.IsTerminal(p.Stderr) {
		return fault.Hinted(fault.Of(&fault.ConfigError{},
			"the script asks for the connection (force_prompt), but there is no terminal"),
			"run it on a terminal, or leave force_prompt out and give the settings")
	}
	found, err := c.defaults(*s)
	if err != nil {
		return err
	}
	out := c.in.Options().Stderr // standard output belongs to the script
	if s.URL, err = p.Ask(ctx, out, "Platform address", found.URL, false); err != nil {
		return err
	}
	if s.User, err = p.Ask(ctx, out, "User", found.User, false); err != nil {
		return err
	}
	if found.User != s.User {
		found.Password = "" // of another user
	}
	if s.Password, err = p.Ask(ctx, out, "Password", found.Password, true); err != nil {
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

// Ask prompts for a text, a secret without echo; known is the default. It waits
// for the answer or the end of ctx: the read itself cannot be cancelled and is
// abandoned.
func (p *Process) Ask(ctx context.Context, out io.Writer, text, preset string, secret bool) (string, error) {
	switch {
	case preset != "" && secret:
		text += " [unchanged]"
	case preset != "":
		text += " [" + preset + "]"
	}
	read := func() (string, error) { return readLine(p.Stdin) }
	if f, ok := p.Stdin.(*os.File); ok && secret {
		state, err := term.GetState(int(f.Fd()))
		if err != nil {
			return "", fault.Of(&fault.ConfigError{}, "cannot read from the terminal: %w", err)
		}
		defer func() {
			_ = term.Restore(int(f.Fd()), state) // the echo, also when ctx ended while reading
			fmt.Fprintln(out)
		}()
		_ = tty.DisableEcho(f) // before the prompt is seen
		read = func() (string, error) {
			answer, err := term.ReadPassword(int(f.Fd()))
			return string(answer), err
		}
	}
	fmt.Fprintf(out, "%s: ", human.Visible(text))
	var answer string
	answered := make(chan error, 1)
	go func() {
		var err error
		answer, err = read()
		answered <- err
	}()
	select {
	case <-ctx.Done():
		if !secret {
			fmt.Fprintln(out)
		}
		return "", context.Cause(ctx)
	case err := <-answered:
		switch answer = strings.TrimRight(answer, "\r\n"); {
		case answer != "":
			return answer, nil
		case err != nil && !errors.Is(err, io.EOF):
			return "", fault.Of(&fault.ConfigError{}, "cannot read from the terminal: %w", err)
		case err != nil && preset == "":
			return "", fault.Of(&fault.ConfigError{}, "the question for the connection was not answered")
		}
		return preset, nil
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
	answer, err := p.Ask(ctx, p.Stderr, text+" (yes/no)", "no", false)
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", err
}
