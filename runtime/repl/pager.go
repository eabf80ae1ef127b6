package repl

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"

	"github.com/mattn/go-shellwords"

	"transect/client/fault"
)

// pagerLines is the number of lines formatted at a time for the pager, which reads no further than it is
// scrolled.
const pagerLines = 500

// page implements :page: it shows the last output from its start, or the values of code, in the pager.
func (s *Session) page(code string) error {
	if code != "" {
		s.paging = true
		err := s.evaluate(dropEquals(code))
		s.paging = false
		if err != nil {
			return err
		}
	}
	if s.last.render == nil {
		return fault.Of(&fault.UsageError{}, "there is no output yet")
	}
	p := s.last
	if !s.cfg.Terminal {
		s.more = &p
		return s.showPage()
	}
	env := s.cfg.Interp.HostEnv()
	named, _ := env("PAGER")
	program := cmp.Or(named, "less -RS")
	words, err := shellwords.Parse(program)
	if err != nil || len(words) == 0 {
		words = []string{program}
	}
	cmd := exec.Command(words[0], words[1:]...)
	if _, set := env("LESS"); !set {
		cmd.Env = append(os.Environ(), "LESS=FRX") // like git: output that fits the screen is shown without less
	}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	pipe, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return fault.Hinted(fault.Of(&fault.ConfigError{}, "the pager %s cannot be started: %w", program, err),
			"name another one in PAGER; :more shows the output without a pager")
	}
	err = s.feed(pipe, &p)
	_ = pipe.Close()
	if failed := cmd.Wait(); err == nil {
		err = failed
	}
	return err
}

// feed writes a page to the pager until that stops reading.
func (s *Session) feed(to io.Writer, p *page) error {
	out := bufio.NewWriter(to)
	for _, line := range p.head {
		_, _ = out.WriteString(s.colours().head(line) + "\n") // Flush returns the error
	}
	for {
		lines, err := s.next(p, pagerLines)
		if err != nil || len(lines) == 0 {
			return err
		}
		for _, line := range lines {
			if s.cfg.Colours {
				line = p.colour(line)
			}
			_, _ = out.WriteString(line + "\n")
		}
		if err := out.Flush(); err != nil {
			if errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) {
				return nil // the user has seen enough
			}
			return err
		}
	}
}
