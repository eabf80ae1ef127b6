package repl

import (
	"errors"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"transect/client/fault"
)

// input is something that was typed and ran without an error.
type input struct {
	text    string
	from    string   // the file it was loaded from
	modules []string // that it named without requiring them
}

var lastValue = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[^\w.:])_(?:$|\W)`) })

// save writes the session as a script that does the same without a prompt.
func (s *Session) save(argument string) error {
	path, replace := strings.CutPrefix(argument, "-f ")
	path = unquoted(strings.TrimSpace(path))
	if len(s.inputs) == 0 {
		return fault.Of(&fault.UsageError{}, "there is nothing to save yet")
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if replace {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(s.cfg.Interp.Path(path), flags, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fault.Hinted(fault.Of(&fault.FileError{}, "%s exists already", path), ":save -f %s replaces it", path)
	}
	if err == nil {
		_, err = f.WriteString(script(s.inputs))
		if closed := f.Close(); err == nil {
			err = closed
		}
	}
	if err != nil {
		return misplaced("cannot save", path, err)
	}
	s.note("saved; transect run " + path + ", with the same flags, does the same")
	return nil
}

// script makes a script of what was typed.
func script(inputs []input) string {
	var modules []string
	for _, in := range inputs {
		modules = append(modules, in.modules...)
	}
	slices.Sort(modules)
	var b strings.Builder
	for _, m := range slices.Compact(modules) {
		b.WriteString("local " + m + " = require(\"" + m + "\")\n")
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	for i, in := range inputs {
		switch {
		case in.from != "":
			b.WriteString("-- " + in.from + "\n" + asStatement(in.text, wanted(inputs[i+1:])) + "\n")
		case secret(in.text):
			b.WriteString("-- a line that may hold a secret was left out\n")
		default:
			b.WriteString(asStatement(in.text, wanted(inputs[i+1:])) + "\n")
		}
	}
	return b.String()
}

// wanted tells whether what follows uses the value of the input before it,
// before there is another.
func wanted(inputs []input) bool {
	for _, in := range inputs {
		if lastValue().MatchString(in.text) {
			return true
		}
		if _, _, returns := returned(in.text); returns || classify(in.text) == expression {
			return false
		}
	}
	return false
}

// asStatement makes of an input what can stand in the middle of a script.
func asStatement(text string, value bool) string {
	if classify(text) != expression {
		if returnsEarly(text) { // only itself
			return "_ = (function()\n" + text + "\nend)()"
		}
		before, values, ok := returned(text)
		switch {
		case !ok:
			return text
		case values != "":
			before += asStatement(values, value)
		}
		return before
	}
	end := ""
	if strings.Contains(text, "--") {
		end = "\n" // a comment must not take the bracket along
	}
	switch {
	case value:
		return "_ = " + text
	case text[0] != '(' && classify("do "+text+"\nend") == statement: // a call; a bracket would call what stands before it
		return text
	}
	return "print(" + text + end + ")"
}
