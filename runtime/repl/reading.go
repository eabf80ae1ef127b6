package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// open prints the greeting and prepares the editor.
func (s *Session) open() {
	s.history = openHistory(s.cfg.Interp.StateDir(), s.note)
	if e := s.cfg.Input.editor; e != nil {
		e.remember(s.history.read()...)
		e.state.SetWordCompleter(s.completeLine)
	}
	if !s.cfg.Quiet {
		s.note(fmt.Sprintf("Transect %s, Lua 5.1. :help lists the commands, Tab completes, Ctrl-D leaves.", s.cfg.Version))
	}
}

// read reads lines until they are a complete input or a command.
func (s *Session) read(ctx context.Context) (string, error) {
	var lines []string
	empty := 0
	for {
		prompt := ""
		if s.cfg.Terminal {
			s.cfg.Out.newline()
			prompt = s.prompt(len(lines) > 0)
		}
		s.before.Store(strings.Join(lines, "\n"))
		line, err := s.cfg.Input.next(ctx, prompt)
		switch {
		case errors.Is(err, errAborted):
			if s.aborted++; len(lines) == 0 && (s.aborted == 1 || s.lastAborted) {
				s.note("Ctrl-D or :quit leaves")
			}
			s.lastAborted = true
			return "", nil
		case errors.Is(err, io.EOF) && len(lines) > 0:
			if s.cfg.Terminal {
				s.note("")
				return "", nil // discard the unfinished input; a second Ctrl-D leaves
			}
			return strings.Join(lines, "\n"), nil // running it reports what is missing
		case errors.Is(err, io.EOF):
			if s.cfg.Terminal {
				s.note("")
			}
			return "", err
		case err != nil:
			return "", err
		}
		s.lastAborted = false
		if s.fresh && len(lines) == 0 && line == "" && s.cfg.Terminal {
			return showRest, nil
		}
		if len(lines) == 0 && (isCommand(line) && timedCode(line) == "" || s.isShebang(line)) {
			return line, nil
		}
		lines = append(lines, line)
		typed := strings.Join(lines, "\n")
		code := typed
		if timed := timedCode(typed); timed != "" {
			code = timed
		}
		switch classify(dropEquals(code)) {
		case unfinished:
			if empty++; strings.TrimSpace(line) != "" {
				empty = 0
			}
			if empty == 2 && s.cfg.Terminal {
				s.note("the statement is incomplete; Ctrl-C discards it")
			}
		case blank:
			s.lines = append(s.lines, lines...) // they count in line numbers
			if strings.TrimSpace(typed) != "" { // a comment, for :save
				s.keep(input{text: typed})
			}
			return "", nil
		default:
			return typed, nil
		}
	}
}

// showRest is the command for an empty line while there is more output.
const showRest = ":more"

// timedCode returns the Lua of a :time command, which may have several lines, or "".
func timedCode(input string) string {
	code, ok := strings.CutPrefix(strings.TrimLeft(input, " \t"), ":time ")
	if !ok || isCommand(code) {
		return ""
	}
	return strings.TrimSpace(code)
}

// isShebang reports whether a line is a first line that names an interpreter.
func (s *Session) isShebang(line string) bool {
	return !s.cfg.Terminal && len(s.lines) == 0 && strings.HasPrefix(line, "#!")
}

// dropEquals removes the leading = that older prompts need to print an expression.
func dropEquals(input string) string {
	if rest, ok := strings.CutPrefix(strings.TrimLeft(input, " \t"), "="); ok && !strings.HasPrefix(rest, "=") {
		return rest
	}
	return input
}

// prompt returns the prompt with the name of the platform, or the one of a continued input. It is short, and
// without colours: the editor could not compute its width.
func (s *Session) prompt(continued bool) string {
	width, _ := s.size()
	label := text.Snip(clean(s.cfg.Label()), max(8, width/3), "…") + "> "
	if continued {
		return strings.Repeat(" ", max(0, text.StringWidth(label)-3)) + ">> "
	}
	return label
}
