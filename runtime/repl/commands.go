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

// commands lists them in the order of help. It is a function because commands
// and help refer to each other.
func commands() []command {
	return []command{
		{"help", "[NAME]", "list the commands, or show the reference of NAME: an operation, a manager, a module, a function",
			(*Session).help},
		{"doc", "NAME", "the same as :help NAME", (*Session).help},
		{"more", "", "show more of the last output", func(s *Session, _ string) error { return s.showMore() }},
		{"page", "[CODE]", "show the last output, or the values of CODE, in the pager ($PAGER, or less)", (*Session).page},
		{"vars", "", "list the variables of the session", (*Session).vars},
		{"edit", "", "edit the last input in $EDITOR and run it", (*Session).edit},
		{"time", "CODE", "run CODE and print how long it took", (*Session).timed},
		{"load", "FILE", "run a script in this session; its locals are kept", (*Session).load},
		{"save", "FILE", "save the session as a script; -f FILE replaces a file", (*Session).save},
		{"record", "FILE", "keep the session as a script from now on, with what ran before; off ends it", (*Session).record},
		{"attach", "[RUN]", "inspect a running script of this machine: by its ID, process ID or name, else the newest",
			(*Session).attach},
		{"trace", "on|off", "print each request and response, without secrets", (*Session).trace},
		{"profile", "[NAME]", "switch to another profile of the configuration file; - for the first one", (*Session).profile},
		{"quit", "", "leave the prompt, like Ctrl-D", func(*Session, string) error { return io.EOF }},
	}
}

// isCommand distinguishes commands, and words that other prompts use as such,
// from Lua.
func isCommand(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, ":") || aliases[line] != ""
}

// aliases are commands of other prompts.
var aliases = map[string]string{"exit": ":quit", "quit": ":quit", "exit()": ":quit", "quit()": ":quit",
	"help": ":help", "?": ":help", ":q": ":quit", ":?": ":help"}

// execute runs a command or Lua.
func (s *Session) execute(text string) error {
	if s.isShebang(text) {
		s.lines = append(s.lines, text)
		return nil
	}
	if !isCommand(text) {
		return s.evaluate(dropEquals(text))
	}
	line := strings.TrimSpace(text)
	if other := aliases[line]; other != "" {
		line = other
	}
	if !s.cfg.Terminal {
		s.lines = append(s.lines, text) // counts in line numbers
	}
	name, argument, _ := strings.Cut(line[1:], " ")
	argument = strings.TrimSpace(argument)
	var names []string
	for _, c := range commands() {
		if c.name == name {
			if c.argument != "" && !strings.HasPrefix(c.argument, "[") && argument == "" {
				return fault.Hinted(fault.Of(&fault.UsageError{}, ":%s needs %s", c.name, c.argument), ":%s %s: %s", c.name,
					c.argument, c.doc)
			}
			return c.run(s, argument)
		}
		names = append(names, c.name)
	}
	err := fault.Of(&fault.UsageError{}, "unknown command :%s", name)
	if near := suggest.Nearest(name, names); near != "" {
		return fault.Hinted(err, "did you mean :%s?", near)
	}
	return fault.Hinted(err, ":help lists the commands")
}

func (s *Session) timed(code string) error {
	command := isCommand(code)
	if k := classify(code); !command && (k == unfinished || k == blank) {
		return fault.Hinted(fault.Of(&fault.UsageError{}, ":time needs a complete statement"),
			"such as :time projects.search{}")
	}
	began := time.Now()
	var err error
	if command {
		err = s.execute(code)
	} else {
		err = s.evaluate(dropEquals(code))
	}
	s.note(fmt.Sprintf("took %s", time.Since(began).Round(10*time.Microsecond)))
	return err
}

func (s *Session) load(path string) error {
	path = unquoted(path)
	code, err := os.ReadFile(s.cfg.Interp.Path(path))
	if err != nil {
		return fileError("cannot load", path, err)
	}
	used := s.preload(string(code))
	values, err := s.run(func() ([]lua.LValue, error) { return s.lua.Run(path, string(code)) })
	if err != nil {
		return err
	}
	s.keep(input{text: strings.TrimRight(string(code), "\n"), from: path, modules: used})
	return s.show(values)
}

func (s *Session) attach(name string) error {
	text, err := s.cfg.Attach(name)
	if err != nil {
		return err
	}
	return s.showText(text)
}

func (s *Session) trace(argument string) error {
	if argument != "on" && argument != "off" {
		return fault.Hinted(fault.Of(&fault.UsageError{}, ":trace needs on or off, got %s", argument),
			":trace on prints each request and response")
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
		s.note("there are no profiles; start the prompt with --config to name a configuration file")
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

// fileError adds a hint about relative paths.
func fileError(what, path string, err error) error {
	failed := fault.Of(&fault.FileError{}, "%s %s: %w", what, path, fault.Reason(err))
	if errors.Is(err, fs.ErrNotExist) {
		return fault.Hinted(failed, "relative paths start at the folder of the prompt; Tab completes them")
	}
	return failed
}

func unquoted(path string) string {
	if len(path) > 1 && (path[0] == '"' || path[0] == '\'') && path[len(path)-1] == path[0] {
		return path[1 : len(path)-1]
	}
	return path
}
