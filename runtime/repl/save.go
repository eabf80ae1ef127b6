package repl

import (
	"os"
	"slices"
	"strings"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"

	"transect/client/fault"
	"transect/runtime/lint"
)

// input is an input that ran without an error.
type input struct {
	text    string
	from    string   // the file it was loaded from
	modules []string // used without require
}

// save writes the session as a script.
func (s *Session) save(argument string) error {
	path, replace := strings.CutPrefix(argument, "-f ")
	path = unquoted(strings.TrimSpace(path))
	if len(s.inputs) == 0 {
		return fault.Of(&fault.UsageError{}, "there is nothing to save")
	}
	file := s.cfg.Interp.Path(path)
	if _, err := os.Stat(file); err == nil && !replace {
		return fault.Hinted(fault.Of(&fault.FileError{}, "%s exists already", path), ":save -f %s replaces it", path)
	}
	if err := os.WriteFile(file, []byte(script(s.inputs)), 0o644); err != nil {
		return fileError("cannot save", path, err)
	}
	s.note("saved; run it with transect run " + path + " and the same flags")
	return nil
}

// script makes a script of inputs.
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
			b.WriteString("-- " + in.from + "\n" + asStatement(in.text, valueUsed(inputs[i+1:])) + "\n")
		case secret(in.text):
			b.WriteString("-- a line that may contain a secret was removed\n")
		case classify(in.text) == blank: // comments
			b.WriteString(in.text + "\n")
		default:
			b.WriteString(asStatement(in.text, valueUsed(inputs[i+1:])) + "\n")
		}
	}
	return b.String()
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

// asStatement makes a statement of an input.
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
	case text[0] != '(' && classify("do "+text+"\nend") == statement: // a call; a bracket would continue the line before
		return text
	}
	return "print(" + text + end + ")"
}

// splitReturn splits a chunk before its final return and gives the returned
// expressions. The syntax tree has no columns: the chunk is split where both
// halves parse.
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
