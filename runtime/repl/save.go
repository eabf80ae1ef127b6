package repl

import (
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"

	"transect/client/atomicfile"
	"transect/client/fault"
	"transect/runtime/lint"
)

// input is an input that ran.
type input struct {
	text    string
	from    string   // the file it was loaded from
	modules []string // used without require
	failed  string   // why it ended early; "" if it did not
}

// save writes the session as a script.
func (s *Session) save(argument string) error {
	if len(s.inputs) == 0 {
		return fault.Of(&fault.UsageError{}, "there is nothing to save")
	}
	path, err := s.write("save", argument)
	if err == nil {
		s.note("saved; run it with transect run " + path + " and the same flags")
	}
	return err
}

// record saves the session now and after each input.
func (s *Session) record(argument string) error {
	if argument == "off" {
		s.recorded = ""
		return nil
	}
	path, err := s.write("record", argument)
	if err == nil {
		s.recorded = path
		s.note("recording to " + path + "; :record off ends it")
	}
	return err
}

// write writes the session to a file, replacing an existing one after -f.
func (s *Session) write(command, argument string) (path string, err error) {
	path, replace := strings.CutPrefix(argument, "-f ")
	path = unquoted(strings.TrimSpace(path))
	file := s.cfg.Interp.Path(path)
	if _, err := os.Stat(file); err == nil && !replace {
		return "", fault.Hinted(fault.Of(&fault.FileError{}, "%s exists already", path),
			":%s -f %s replaces it", command, path)
	}
	s.script = script(s.inputs)
	if err := atomicfile.WriteUnsynced(file, []byte(s.script), 0o644); err != nil {
		return "", fileError("cannot save", path, err)
	}
	return path, nil
}

// keep adds an input to the recording. A file that was changed meanwhile is left alone.
func (s *Session) keep(in input) {
	s.inputs = append(s.inputs, in)
	if s.recorded == "" {
		return
	}
	path := s.recorded
	now, err := os.ReadFile(s.cfg.Interp.Path(path))
	switch {
	case err == nil && string(now) != s.script:
		err = fault.Of(&fault.FileError{}, "%s was changed by another program; :record -f %s replaces it", path, path)
	default:
		_, err = s.write("record", "-f "+path)
	}
	if err != nil {
		s.recorded = ""
		s.note("the recording ends: " + err.Error())
	}
}

// script converts inputs to a script.
func script(inputs []input) string {
	var pieces []string
	var modules []string
	for _, in := range inputs {
		for _, m := range in.modules {
			if !slices.Contains(modules, m) {
				modules = append(modules, m)
				if !requires(in.text, m) {
					pieces = append(pieces, "local "+m+" = require(\""+m+"\")")
				}
			}
		}
	}
	slices.Sort(pieces)
	if len(pieces) > 0 {
		pieces = append(pieces, "")
	}
	for i, in := range inputs {
		text := in.text
		switch {
		case secret(in.text):
			text = "-- a line that may contain a secret was removed"
		case in.failed != "":
			text = comment("failed: "+in.failed) + comment(in.text)
		case classify(in.text) != blank: // comments
			text = asStatement(in.text, valueUsed(inputs[i+1:]))
		}
		if in.from != "" {
			text = "-- " + in.from + "\n" + text
		}
		pieces = append(pieces, text)
	}
	return scriptOf(pieces)
}

// requires reports whether a text declares a module like scripts do.
func requires(text, module string) bool {
	return regexp.MustCompile(`\blocal\s+` + module + `\s*=\s*require\b`).MatchString(text)
}

func comment(text string) string {
	return "-- " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n-- ") + "\n"
}

// valueUsed reports whether the following inputs use _ before it is set again.
func valueUsed(inputs []input) bool {
	for _, in := range inputs {
		if slices.Contains(identifiersOf(in.text), "_") {
			return true
		}
		if _, _, returns := splitReturn(in.text); returns || classify(in.text) == expression {
			return false
		}
	}
	return false
}

// asStatement converts an input to a statement.
func asStatement(text string, value bool) string {
	if classify(text) != expression {
		if returnsEarly(text) { // leave only this input
			return "_ = (function()\n" + text + "\nend)()"
		}
		before, values, ok := splitReturn(text)
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
		end = "\n" // a comment must not include the bracket
	}
	switch {
	case value:
		return "_ = " + text
	case text[0] != '(' && classify("do "+text+"\nend") == statement: // a call; a bracket would continue the previous line
		return text
	}
	return "print(" + text + end + ")"
}

// splitReturn splits a chunk before its final return and returns the returned expressions. The syntax tree
// has no columns: the chunk is split where both halves parse.
func splitReturn(text string) (before, values string, ok bool) {
	chunk, err := parse.Parse(strings.NewReader(text), "")
	if err != nil || len(chunk) == 0 || !isReturn(chunk[len(chunk)-1]) {
		return text, "", false
	}
	for at := strings.LastIndex(text, "return"); at >= 0; at = strings.LastIndex(text[:at], "return") {
		end, err := parse.Parse(strings.NewReader(text[at:]), "")
		if err != nil || len(end) != 1 || !isReturn(end[0]) {
			continue
		}
		if first, err := parse.Parse(strings.NewReader(text[:at]), ""); err == nil && len(first) == len(chunk)-1 {
			return text[:at], strings.Trim(text[at+len("return"):], "; \t\r\n"), true
		}
	}
	return text, "", false
}

func isReturn(s ast.Stmt) bool {
	_, ok := s.(*ast.ReturnStmt)
	return ok
}

// returnsEarly reports whether a chunk may return before its end.
func returnsEarly(text string) bool {
	chunk, err := parse.Parse(strings.NewReader(text), "")
	if err != nil {
		return false
	}
	var returns func([]ast.Stmt) bool
	returns = func(stmts []ast.Stmt) bool {
		return slices.ContainsFunc(stmts, func(s ast.Stmt) bool {
			return isReturn(s) ||
				slices.ContainsFunc(lint.Blocks(s), returns)
		})
	}
	return slices.ContainsFunc(chunk, func(s ast.Stmt) bool { return slices.ContainsFunc(lint.Blocks(s), returns) })
}
