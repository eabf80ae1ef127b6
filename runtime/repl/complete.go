package repl

import (
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/reference"
)

// typing remembers the lines of the unfinished input, which decide what the
// next one means.
func (s *Session) typing(lines []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = strings.Join(lines, "\n")
}

// completeLine is what Tab asks for: the part before the word, the words it
// can become, and the part behind the cursor. pos counts runes.
func (s *Session) completeLine(line string, pos int) (head string, words []string, tail string) {
	runes := []rune(line)
	pos = min(pos, len(runes))
	left, tail := string(runes[:pos]), string(runes[pos:])
	defer func() {
		if recover() != nil { // Tab must never end a session
			head, words = left, nil
		}
	}()
	s.mu.Lock()
	before := s.before
	s.mu.Unlock()
	word, words := s.candidates(before, left)
	return strings.TrimSuffix(left, word), words, tail
}

// candidates gives the word before the cursor and what it can become.
func (s *Session) candidates(before, left string) (string, []string) {
	if before == "" && strings.HasPrefix(strings.TrimSpace(left), ":") {
		if word, words, ok := s.commandWords(left); ok {
			return word, words
		}
		_, left, _ = strings.Cut(strings.TrimSpace(left), " ") // :time CODE
	}
	if before != "" {
		before += "\n"
	}
	at := scan(before + left)
	var words []string
	s.lua.Look(func(locals, globals *lua.LTable) {
		words = (&completer{s, locals, globals}).words(at)
	})
	switch {
	case at.quote == "":
		return at.word, matching(words, at.word)
	case words != nil:
		return at.text, matching(words, at.text)
	}
	word := lastPart(at.text)
	return word, s.files(at.text)
}

// matching keeps the words that begin as typed, sorted, each once.
func matching(words []string, typed string) []string {
	var list []string
	for _, w := range words {
		if strings.HasPrefix(w, typed) {
			list = append(list, w)
		}
	}
	sort.Strings(list)
	return slices.Compact(list)
}

// commandWords completes commands and what they take; false leaves it to Lua.
func (s *Session) commandWords(left string) (string, []string, bool) {
	name, argument, has := strings.Cut(strings.TrimLeft(left, " \t"), " ")
	if !has {
		var list []string
		for _, c := range commands() {
			list = append(list, ":"+c.name)
		}
		return name, matching(list, name), true
	}
	argument = strings.TrimLeft(argument, " ")
	switch name {
	case ":help", ":doc":
		return argument, matching(declared().Names(), argument), true
	case ":load", ":save":
		return lastPart(argument), s.files(argument), true
	case ":trace":
		return argument, matching([]string{"on", "off"}, argument), true
	case ":profile":
		list, _ := s.cfg.Profiles()
		return argument, matching(list, argument), true
	case ":time":
		return "", nil, false
	}
	return argument, nil, true
}

// files lists the paths that begin as typed: their last parts.
func (s *Session) files(typed string) []string {
	folder, start := typed[:len(typed)-len(lastPart(typed))], lastPart(typed)
	list, err := os.ReadDir(s.cfg.Interp.Path(filepath.FromSlash(folder + ".")))
	if err != nil {
		return nil
	}
	var words []string
	for _, e := range list {
		name := e.Name()
		if strings.HasPrefix(name, ".") && !strings.HasPrefix(start, ".") {
			continue
		}
		if info, err := os.Stat(s.cfg.Interp.Path(filepath.FromSlash(folder + name))); err == nil && info.IsDir() {
			name += "/"
		}
		words = append(words, name)
	}
	return matching(words, start)
}

func lastPart(path string) string {
	return path[strings.LastIndexAny(path, `/\`)+1:]
}

// completer knows the words for a place. It works on raw values: no Lua runs,
// nothing is sent.
type completer struct {
	*Session
	locals, globals *lua.LTable
}

func (c *completer) words(at place) []string {
	switch {
	case at.comment:
		return nil
	case at.quote != "":
		return c.inText(at)
	case at.sep != "":
		if at.path == nil {
			return nil
		}
		return c.find(at.path).members(at.sep)
	}
	if at.table && at.key == "" {
		if named := c.arguments(at); len(named) > 0 && len(matching(named, at.word)) > 0 {
			return named
		}
	}
	if at.word == "" { // all there is would be a long list
		if at.table && at.key == "" {
			return nil
		}
		return c.own()
	}
	return c.everything()
}

// own is what this session has beside Lua's own.
func (c *completer) own() []string {
	words := keysOf(c.locals)
	for name := range c.known {
		words = append(words, name)
	}
	return words
}

// everything is what an expression can begin with.
func (c *completer) everything() []string {
	words := append(c.own(), keysOf(c.globals)...)
	for k := range keywords {
		words = append(words, k)
	}
	return words
}

// entry is the operation or function a path names.
func (c *completer) entry(path []any) *reference.Entry {
	if len(path) == 0 {
		return nil
	}
	return c.find(path).entry
}

// arguments are the names that a call still takes, ready for their values.
func (c *completer) arguments(at place) []string {
	var words []string
	for _, p := range parameters(c.entry(at.call)) {
		if !at.given[p.Name] {
			words = append(words, p.Name+" = ")
		}
	}
	return words
}

// parameters are those a table can name: of an operation all, of a function
// its options.
func parameters(e *reference.Entry) []reference.Parameter {
	if e == nil {
		return nil
	}
	if e.Manager != "" {
		return e.Parameters
	}
	for _, p := range e.Parameters {
		if p.Options != nil {
			return p.Options
		}
	}
	return nil
}

// inText is what a text can be, where that is known; nil means a path.
func (c *completer) inText(at place) []string {
	if name, ok := single(at.call); ok && (name == "require" || name == "help") && !at.table {
		if name == "help" {
			return declared().Names()
		}
		var words []string
		for m := range c.known {
			words = append(words, m)
		}
		return words
	}
	if at.key == "profile" {
		list, _ := c.cfg.Profiles()
		return list
	}
	for _, p := range parameters(c.entry(at.call)) {
		if p.Name == at.key && len(p.Choices) > 0 {
			return p.Choices
		}
	}
	return nil
}
