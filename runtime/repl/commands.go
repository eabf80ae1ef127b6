package repl

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/suggest"
)

// command is a line that begins with a colon.
type command struct {
	name, argument, doc string
	run                 func(s *Session, argument string) error
}

// commands lists them, in the order help shows them. It is a function because
// the list and what is in it name each other.
func commands() []command {
	return []command{
		{"help", "[NAME]", "list the commands, or tell about NAME: an operation, a manager, a module, a function", (*Session).help},
		{"doc", "NAME", "the same as :help NAME", (*Session).help},
		{"more", "", "show more of what was cut", func(s *Session, _ string) error { return s.again() }},
		{"time", "CODE", "run CODE and tell how long it took", (*Session).timed},
		{"load", "FILE", "run a script here; its locals stay", (*Session).load},
		{"save", "FILE", "write what was typed and worked as a script; -f in front replaces a file", (*Session).save},
		{"trace", "on|off", "show each request and answer, without secrets", (*Session).trace},
		{"profile", "[NAME]", "work on another platform of the configuration file; - goes back to the first", (*Session).profile},
		{"quit", "", "leave, as Ctrl-D does", func(*Session, string) error { return io.EOF }},
	}
}

// isCommand tells commands, and words people leave and ask for help with, from Lua.
func isCommand(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, ":") || plain[line] != ""
}

// plain are words of other prompts.
var plain = map[string]string{"exit": ":quit", "quit": ":quit", "exit()": ":quit", "quit()": ":quit", "help": ":help", "?": ":help", ":q": ":quit", ":?": ":help"}

// obey runs a command or Lua.
func (s *Session) obey(text string) error {
	if s.skips(text) {
		s.lines = append(s.lines, text)
		return nil
	}
	if !isCommand(text) {
		return s.evaluate(dropEquals(text))
	}
	line := strings.TrimSpace(text)
	if other := plain[line]; other != "" {
		line = other
	}
	if !s.cfg.Terminal {
		s.lines = append(s.lines, text) // it counts in the numbers of lines
	}
	name, argument, _ := strings.Cut(line[1:], " ")
	argument = strings.TrimSpace(argument)
	var known []string
	for _, c := range commands() {
		if c.name == name {
			if c.argument != "" && !strings.HasPrefix(c.argument, "[") && argument == "" {
				return fault.Hinted(fault.Of(&fault.UsageError{}, ":%s wants %s", c.name, c.argument), ":%s %s: %s", c.name, c.argument, c.doc)
			}
			return c.run(s, argument)
		}
		known = append(known, c.name)
	}
	err := fault.Of(&fault.UsageError{}, "there is no command :%s", name)
	if near := suggest.Nearest(name, known); near != "" {
		return fault.Hinted(err, "did you mean :%s?", near)
	}
	return fault.Hinted(err, ":help lists the commands")
}

func (s *Session) timed(code string) error {
	command := isCommand(code)
	if k := classify(code); !command && (k == unfinished || k == blank) {
		return fault.Hinted(fault.Of(&fault.UsageError{}, ":time wants code in one line"), "such as :time projects.search{}")
	}
	began := time.Now()
	var err error
	if command {
		err = s.obey(code)
	} else {
		err = s.evaluate(code)
	}
	s.note(fmt.Sprintf("took %s", time.Since(began).Round(10*time.Microsecond)))
	return err
}

func (s *Session) load(path string) error {
	path = unquoted(path)
	code, err := os.ReadFile(s.cfg.Interp.Path(path))
	if err != nil {
		return misplaced("cannot load", path, err)
	}
	used := s.preload(string(code))
	values, err := s.run(func() ([]lua.LValue, error) { return s.lua.Run(path, string(code)) })
	if err != nil {
		return err
	}
	s.inputs = append(s.inputs, input{text: strings.TrimRight(string(code), "\n"), from: path, modules: used})
	return s.show(values)
}

func (s *Session) trace(argument string) error {
	if argument != "on" && argument != "off" {
		return fault.Hinted(fault.Of(&fault.UsageError{}, ":trace wants on or off, got %s", argument), ":trace on shows each request and answer")
	}
	s.cfg.Trace(argument == "on")
	return nil
}

func (s *Session) profile(name string) error {
	if name != "" {
		if err := s.cfg.Profile(name); err != nil {
			return err
		}
		s.note("the next operation goes to " + clean(s.cfg.Label()))
		return nil
	}
	list, current := s.cfg.Profiles()
	if len(list) == 0 {
		s.note("the configuration file has no profiles; it is named with --config when the prompt is started")
		return nil
	}
	for _, p := range list {
		mark := "  "
		if p == current {
			mark = "* "
		}
		s.note(mark + clean(p))
	}
	return nil
}

// misplaced explains paths where a file or folder is not there.
func misplaced(what, path string, err error) error {
	failed := fault.Of(&fault.FileError{}, "%s %s: %w", what, path, fault.Reason(err))
	if errors.Is(err, fs.ErrNotExist) {
		return fault.Hinted(failed, "the path starts from the folder the prompt was started in; Tab completes it")
	}
	return failed
}

func unquoted(path string) string {
	if len(path) > 1 && (path[0] == '"' || path[0] == '\'') && path[len(path)-1] == path[0] {
		return path[1 : len(path)-1]
	}
	return path
}
