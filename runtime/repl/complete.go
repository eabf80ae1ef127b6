package repl

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/complete"
	"transect/runtime/engine/compile"
	"transect/runtime/reference"
)

// completeLine completes a word for the editor. It returns the text before the word, its completions, and the
// text after the cursor. pos counts runes.
func (s *Session) completeLine(line string, pos int) (head string, words []string, tail string) {
	runes := []rune(line)
	pos = min(pos, len(runes))
	left, tail := string(runes[:pos]), string(runes[pos:])
	defer func() {
		if recover() != nil { // completion must never end a session
			head, words = left, nil
		}
	}()
	before, _ := s.before.Load().(string)
	word, words := s.candidates(before, left)
	head, ok := strings.CutSuffix(left, word)
	if !ok { // an escape in a string
		words = nil
	}
	return head, words, tail
}

// candidates returns the word before the cursor and its completions.
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
	at := complete.Scan(before + left)
	var words []string
	s.lua.Inspect(func(locals, globals *lua.LTable) {
		words = (&completer{s, locals, globals, loadedNames(globals)}).words(at)
	})
	switch {
	case !at.Quoted:
		return at.Word, matching(words, at.Word)
	case words != nil:
		return at.Text, matching(words, at.Text)
	}
	word := lastPart(at.Text)
	return word, s.files(at.Text)
}

// matching returns the words with a prefix, sorted, without duplicates.
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

// commandWords completes commands and their arguments; ok is false when Lua is
// to be completed.
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

// files lists the last parts of the paths that complete a path.
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

// completer completes Lua. It works on raw values: it runs no Lua and sends
// nothing.
type completer struct {
	*Session
	locals, globals *lua.LTable
	names           names
}

func (c *completer) words(at complete.Cursor) []string {
	switch {
	case at.Comment:
		return nil
	case at.Quoted:
		return c.inString(at)
	case at.Sep != "":
		if at.Path == nil {
			return nil
		}
		return c.members(c.find(at.Path), at.Sep)
	}
	if named := matching(at.Keys(c.entry), at.Word); len(named) > 0 {
		return named
	}
	if at.Word == "" && at.Table && at.Key == "" {
		return nil
	}
	words := slices.AppendSeq(keysOf(c.locals), maps.Keys(c.known))
	if at.Word != "" { // the list of everything would be too long
		words = slices.AppendSeq(append(words, keysOf(c.globals)...), slices.Values(compile.Keywords))
	}
	return words
}

// inString lists the known values of a string; nil means a path.
func (c *completer) inString(at complete.Cursor) []string {
	if name, ok := complete.Single(at.Call); ok && (name == "require" || name == "help") && !at.Table {
		if name == "help" {
			return declared().Names()
		}
		return slices.Collect(maps.Keys(c.known))
	}
	if at.Key == "profile" {
		list, _ := c.cfg.Profiles()
		return list
	}
	return at.Values(c.entry)
}

// entry returns the entry of the reference that a path leads to, or nil.
func (c *completer) entry(path []any) *reference.Entry { return c.find(path).entry }
