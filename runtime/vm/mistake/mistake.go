// Package mistake is the one table of what people write who come from other
// languages, with what Lua writes instead. transect check, errors of runs and
// the prompt read it, so that a mistake is explained alike wherever it shows.
package mistake

import (
	"regexp"
	"strings"
	"sync"
)

// forms are constructs that do not parse, in the order they are tried.
var forms = []struct{ form, hint string }{
	{`!=`, "Lua writes ~= for not equal"},
	{`&&`, "Lua writes and"},
	{`\|\|`, "Lua writes or"},
	{`\w\s*(\+\+|[-+*/.]=)`, "Lua has no such short form: write x = x + 1, or i = i + 1"},
	{`\bcontinue\b`,
		"Lua has no continue: goto a label at the end of the loop (goto next … ::next::), or put the rest in an if"},
	{`\bis\s+(not\s+)?\w`, "== compares, ~= is its opposite, and Lua writes nil"},
	{`^\s*with\b`, "Lua has no with: local f = assert(io.open(path)), and f:close() at the end"},
	{`^\s*for\s*\(`, "Lua writes for i = 1, n do … end, or for _, v in ipairs(list) do … end"},
	{`\b(if|elseif|while|until)\b[^=~<>]*[^=~<>]=[^=]`, "== compares, = assigns"},
	{`\w\s*\(([^()]*,)?\s*\w+\s*=[^=]`, "named arguments are written in braces: f{ name = value }"},
	{`\belif\b`, "Lua writes elseif … then"},
	{`^\s*(def|func|fn)\b`, "functions are written function name(…) … end"},
	{`^\s*class\b`, "Lua has no classes: a table of functions does the same"},
	{`^\s*(try|except|catch|finally)\b(\s*\(|.*[:{]\s*$)`, "errors are caught with local value, err = try(f, …)"},
	{`\?`, "Lua has no ?: write condition and a or b: and … or"},
	{`//|/\*`, "comments begin with --; for a whole quotient write math.floor(a / b)"},
	{`<(const|close)>`, "Lua 5.1 has no attributes: write local x = …"},
	{`^\s*(const|var|let)\b`, "variables begin with local"},
	{`[=(,]\s*\[[^\[=]`, "lists are written in braces: { 1, 2 }"},
	{`\[\w*\s*:\s*-?\w*\]`, "a part of a string is s:sub(from, to)"},
	{`[{,]\s*["']?\w+["']?\s*:[^:]`, "fields are written with =: { name = value }"},
	{`!`, "Lua writes not"},
	{`\w:\w+\s*[.\[]`, "fields are read with a dot: sdk.projects.search{ … }; a colon calls a function of a value"},
	{`^\s*(import|from|using|include)\b`, `modules are loaded with local m = require("m")`},
	{`^\s*(if|while|for|else)\b.*:\s*$`, "blocks begin with then or do, and end with end"},
	{`\)\s*\{`, "blocks end with end and have no braces"},
	{`\bprint\s+["'\w].*\.\.`, "print needs parentheses here: print(a .. b)"},
	{`\blambda\b|=>`, "functions without a name are written function(x) return … end"},
}

var patterns = sync.OnceValue(func() []*regexp.Regexp {
	list := make([]*regexp.Regexp, len(forms))
	for i, f := range forms {
		list[i] = regexp.MustCompile(f.form)
	}
	return list
})

// Line is the hint for a line that does not parse, or "".
func Line(line string) string {
	for i, p := range patterns() {
		if p.MatchString(line) {
			return forms[i].hint
		}
	}
	return ""
}

// End is the hint for code that ends in the middle of a statement.
func End(code string) string {
	if strings.Contains(code, "else if ") {
		return "an end may be missing: else if opens a block of its own, elseif does not"
	}
	return "an end or a bracket may be missing"
}

// globals are names of other languages.
var globals = map[string]string{
	"null": "Lua writes nil; json.null is JSON's null", "None": "Lua writes nil", "undefined": "Lua writes nil",
	"True": "Lua writes true", "False": "Lua writes false", "throw": "error(…) raises", "raise": "error(…) raises",
	"len": "#list is the length of a list or string", "printf": "print(string.format(…))",
	"console": "print(…) shows values",
	"self":    "methods have it: function object:method()", "this": "methods have self: function object:method()",
	"str": "tostring(…) makes a string", "int": "math.floor(tonumber(…)) makes a whole number",
	"float": "tonumber(…) makes a number",
	"range": "for i = 1, n do counts", "exit": "os.exit(code), or script.exit(code), ends the script",
	"enumerate": "for i, v in ipairs(list) do counts along", "isinstance": `type(v) == "string" asks for a type`,
	"open": "io.open(path), or fs.read(path), reads a file", "input": "io.read() reads a line",
	"sleep":  "task.sleep(seconds) waits",
	"append": "table.insert(list, v), or list[#list + 1] = v", "import": `modules are loaded with local m = require("m")`,
}

// Global is the hint for an undefined global that other languages have, or "".
func Global(name string) string { return globals[name] }

// Silent are globals that read as nil without an error where another value was
// meant.
var Silent = []string{"True", "False", "None", "null", "undefined"}

// members are fields and methods that lists and strings have elsewhere.
var members = map[string]string{
	"length": "#list is the length of a list or string", "size": "#list is the length of a list or string",
	"len":    "#list is the length of a list",
	"append": "table.insert(list, v), or list[#list + 1] = v", "push": "table.insert(list, v), or list[#list + 1] = v",
	"pop": "table.remove(list) takes the last one", "join": `table.concat(list, ", ") joins`,
	"sort": "table.sort(list) sorts",
	"keys": "for k, v in pairs(t) do visits all keys", "items": "for k, v in pairs(t) do visits all",
	"map":     "for i, v in ipairs(list) do visits all; task.map works on several at once",
	"forEach": "for i, v in ipairs(list) do visits all", "toString": "tostring(v)",
	"strip": `s:match("^%s*(.-)%s*$") trims`, "trim": `s:match("^%s*(.-)%s*$") trims`,
	"split": `for word in s:gmatch("[^,]+") do splits`, "startswith": `s:sub(1, #p) == p`,
	"replace": "s:gsub(pattern, with)",
}

// Member is the hint for a method or function that a value does not have, or "".
func Member(name string) string { return members[name] }

// messages are errors of calls, with what was meant.
var messages = []struct{ form, hint string }{
	{`to 'i?pairs' \(table expected, got userdata\)`, "for name, value in pairs(record:totable()) do visits the fields of a record"},
	{`#1 to '(byte|find|format|gmatch|gsub|len|lower|match|rep|reverse|sub|upper)' \(string expected, got no value\)`,
		"functions of a string are called with a colon: s:upper()"},
}

var messagePatterns = sync.OnceValue(func() []*regexp.Regexp {
	list := make([]*regexp.Regexp, len(messages))
	for i, m := range messages {
		list[i] = regexp.MustCompile(m.form)
	}
	return list
})

// Message is the hint for an error of a call, or "".
func Message(message string) string {
	for i, p := range messagePatterns() {
		if p.MatchString(message) {
			return messages[i].hint
		}
	}
	return ""
}

// Hints of mistakes that only show in what is called or indexed.
const (
	Iterator = "lists are walked with for i, v in ipairs(list) do, tables with keys with for k, v in pairs(t) do"
	Zero     = "lists begin at 1: the first element is [1]"
	Concat   = "strings are concatenated with .."
	Address  = "inspect.print(t) shows what a table holds"
)

// Colon is the hint for a function of a manager or module that is called like a
// method.
func Colon(module, function string) string { return "write " + module + "." + function + "(…)" }
