package lint

import (
	"bytes"
	"errors"
	"regexp"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

// foreign are constructs of other languages.
var foreign = []struct {
	form, hint string
}{
	{`!=`, "Lua writes ~= for not equal"},
	{`&&`, "Lua writes and"},
	{`\|\|`, "Lua writes or"},
	{`\w\s*(\+\+|[-+*/.]=)`, "Lua has no such short form: write x = x + 1, or i = i + 1"},
	{`\bcontinue\b`, "Lua has no continue: goto a label at the end of the loop (goto next … ::next::), or put the rest in an if"},
	{`\b(if|elseif|while|until)\b[^=~<>]*[^=~<>]=[^=]`, "== compares, = assigns"},
	{`\?`, "Lua has no ?: write condition and a or b: and … or"},
	{`//`, "write math.floor(a / b); comments begin with --"},
	{`<(const|close)>`, "Lua 5.1 has no attributes: write local x = …"},
	{`^\s*(const|var|let)\b`, "variables begin with local"},
	{`[=(,]\s*\[[^\[=]`, "lists are written in braces: { 1, 2 }"},
	{`[{,]\s*["']?\w+["']?\s*:[^:]`, "fields are written with =: { name = value }"},
	{`!`, "Lua writes not"},
	{`^\s*(import|from)\b`, "modules are loaded with local m = require(\"m\")"},
	{`\)\s*\{`, "blocks end with end and have no braces"},
}

// suggestion is Lua's equivalent of a construct on a line.
func suggestion(line string) string {
	for _, f := range foreign {
		if regexp.MustCompile(f.form).MatchString(line) {
			return f.hint
		}
	}
	return ""
}

// parsed returns the syntax tree of a script, or its syntax error.
func parsed(file string, code []byte) ([]ast.Stmt, *Problem) {
	chunk, err := parse.Parse(bytes.NewReader(code), file)
	if err == nil {
		// The compiler refuses more than the grammar.
		_, err = lua.Compile(chunk, file)
	}
	if err == nil {
		// It also modifies the tree: parse again.
		chunk, err = parse.Parse(bytes.NewReader(code), file)
	}
	if err == nil {
		return chunk, nil
	}
	p := &Problem{File: file, Rule: Syntax, Line: 1, Column: 1, Message: err.Error()}
	var wrong *parse.Error
	var refused *lua.CompileError
	switch {
	case errors.As(err, &wrong) && wrong.Pos.Line == parse.EOF:
		p.Line = bytes.Count(bytes.TrimRight(code, "\r\n \t"), []byte("\n")) + 1
		p.Message, p.Hint = "unexpected end of the script", "an end or a bracket may be missing"
	case errors.As(err, &wrong):
		p.Line, p.Column, p.Message = wrong.Pos.Line, max(wrong.Pos.Column, 1), wrong.Message
		if wrong.Token != "" {
			p.Message += " near '" + wrong.Token + "'"
		}
	case errors.As(err, &refused):
		p.Line, p.Message = refused.Line, refused.Message
	}
	if lines := strings.Split(string(code), "\n"); p.Hint == "" && p.Line <= len(lines) {
		p.Hint = suggestion(lines[p.Line-1])
	} else if bytes.Contains(code, []byte("else if ")) {
		p.Hint = "an end may be missing: else if opens a block of its own, elseif does not"
	}
	return nil, p
}
