// Package mistake is the one table of what people write who come from other
// languages, with what Lua writes instead. transect check, errors of runs and
// the prompt read it, so that a mistake is explained alike wherever it shows.
package mistake

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// forms are constructs that do not parse, in the order they are tried.
var forms = []struct{ form, hint string }{
	{`!=`, "Lua writes ~= for not equal"},
	{`[{,]\s*\$\w+\s*[=:]`, `the sign needs quotes: { ["$eq"] = value }; require("query").eq(…) writes it for you`},
	{`"""|'''`, "texts of several lines are written [[ … ]]"},
	{`["']\.\w+\(`, `a string needs parentheses before its function: ("text"):upper()`},
	{`\*\*`, "powers are written 2^3"},
	{`&&`, "Lua writes and"},
	{`\|\|`, "Lua writes or"},
	{`\w\s*(\+\+|[-+*/.]=)`, "Lua has no such short form: write x = x + 1, or i = i + 1"},
	{`\bcontinue\b`, goOn},
	{`^\s*raise\b`, "error(…) raises an error"},
	{`^\s*global\b`, "a variable without local is global"},
	{`\blambda\b|=>`, "functions without a name are written function(x) return … end"},
	{`[=(,]\s*("[^"]*"|'[^']*'|[\w.]+)\s+if\b.*\belse\b`, "a choice is written condition and a or b"},
	{`^(?:[^"]*"[^"]*")+\s*%\s*[\w(]`, `texts are formatted with ("%d files"):format(n)`},
	{`^\s*(if|elseif|while)\b[^"']*:(\s|$)`, blocks},
	{`\b(if|elseif|while|not|and|or|return|print)\b[^=]*\bin\b`,
		"Lua has no in: a loop looks through a list, t[key] ~= nil asks for a key"},
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
	{`[{,]\s*["'][^"']*["']\s*=[^=]`, `a key that is a string is written ["key"] = value, a name without quotes: key = value`},
	{`[{,]\s*["']?\w+["']?\s*:[^:]`, "fields are written with =: { name = value }"},
	{`!`, "Lua writes not"},
	{`\w:\w+\s*[.\[]`, "fields are read with a dot: sdk.projects.search{ … }; a colon calls a function of a value"},
	{`^\s*(import|from|using|include)\b`, `modules are loaded with local m = require("m")`},
	{opening, blocks},
	{`=\s*\([^()]*,[^()]*\)`, "several values are written without parentheses: local a, b = 1, 2"},
	{`\)\s*\{`, "blocks end with end and have no braces"},
	{`\bprint\s+["'\w].*\.\.`, "print needs parentheses here: print(a .. b)"},
	{`\s#\s`, "comments begin with --"},
}

const goOn = "Lua has no continue: goto a label at the end of the loop (goto next … ::next::), or put the rest in an if"

// opening is a line that opens a block of Python.
const (
	opening = `(?m)^\s*(if|while|for|else|elif|with|try|except|def|class)\b[^"'\n]*:(\s.*)?$`
	blocks  = "blocks begin with then or do, and end with end"
)

var patterns = sync.OnceValue(func() []*regexp.Regexp {
	list := make([]*regexp.Regexp, len(forms))
	for i, f := range forms {
		list[i] = regexp.MustCompile(f.form)
	}
	return list
})

// Line returns the hint for a line that does not parse, counted from 1, or "".
// The mistake may be before it: a line's end does not end a statement.
func Line(code string, number int) string {
	lines := strings.Split(code, "\n")
	if number < 1 || number > len(lines) {
		return ""
	}
	line := lines[number-1]
	if m := imported().FindStringSubmatch(line); m != nil && modules[m[1]] != "" {
		return modules[m[1]]
	}
	for i, p := range patterns() {
		if p.MatchString(line) {
			return forms[i].hint
		}
	}
	switch before := lines[max(number-2, 0)]; {
	case number == 1:
	case block().MatchString(before):
		return blocks
	case strings.TrimRight(strings.TrimSpace(before), ";") == "continue":
		return goOn
	case without().MatchString(before) && !strings.Contains(before+line, "then") && !strings.Contains(before, "--"):
		return "a then is missing: if condition then … end"
	case returned().MatchString(before):
		return "return ends its block: an end is missing before this line"
	}
	return ""
}

// Near returns what a syntax error adds about a token at a line and a column, both from 1, and the hint for letters
// that names cannot have.
func Near(code string, number, column int, token string) (near, hint string) {
	if token == "" {
		return "", ""
	}
	if lines := strings.Split(code, "\n"); token[0] >= utf8.RuneSelf && number <= len(lines) {
		line := lines[number-1]
		if r, size := utf8.DecodeRuneInString(line[min(max(column-1, 0), len(line)):]); size > 1 {
			token, hint = string(r), "names consist of English letters, digits and _; other letters belong into strings"
		}
	}
	first, _, more := strings.Cut(strings.TrimLeft(strings.ToValidUTF8(token, "�"), "\r\n"), "\n")
	if shown := []rune(first); more || len(shown) > maxToken {
		first = string(shown[:min(len(shown), maxToken)]) + "…"
	}
	return " near '" + strings.TrimRight(first, "\r") + "'", hint
}

// maxToken is how many characters of a token are shown.
const maxToken = 40

var (
	imported = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*(?:import|from)\s+(\w+)`) })
	block    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(opening) })
	returned = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*return\b`) })
	without  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*(if|elseif)\b.*[\w)\]}"']\s*$`) })
	lambda   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[=(,]\s*lambda\b.*:`) })
)

// End returns the hint for code that ends in the middle of a statement.
func End(code string) string {
	if lambda().MatchString(code) {
		return "functions without a name are written function(x) return … end"
	}
	if at := block().FindStringIndex(code); at != nil {
		begin := at[0] + strings.IndexFunc(code[at[0]:], func(r rune) bool { return r > ' ' })
		return blocks + "; see line " + strconv.Itoa(1+strings.Count(code[:begin], "\n"))
	}
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
	"sleep":    "task.sleep(seconds) waits",
	"sorted":   "table.sort(list) sorts a list in place",
	"sum":      "a loop adds up: for _, v in ipairs(list) do total = total + v end",
	"sys":      "arg holds the arguments, os.exit(code) ends the script",
	"datetime": `require("time") reads, adds and writes dates`,
	"f":        `there is no f"…": write n .. " files", or ("%d files"):format(n)`,
	"dict":     "tables are written in braces: { name = value }", "list": "lists are written in braces: { 1, 2 }",
	"min": "math.min(a, b)", "max": "math.max(a, b)", "abs": "math.abs(n)", "round": "math.floor(n + 0.5)",
	"append": "table.insert(list, v), or list[#list + 1] = v", "import": `modules are loaded with local m = require("m")`,
}

// Global returns the hint for an undefined global that other languages have, or "".
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
	"path":    `require("path") joins and splits paths, require("fs") looks at files`,
	"dumps":   "json.encode(value) writes JSON", "loads": "json.decode(text) reads JSON",
	"time": "time.now() is the current time", "endswith": "s:sub(-#p) == p",
}

// Member returns the hint for a method or function that a value does not have, or "".
func Member(name string) string { return members[name] }

// modules are modules of Python.
var modules = map[string]string{
	"alteia":   `the platform's Python SDK is the module sdk: local sdk = require("sdk"); see transect doc python`,
	"requests": `local http = require("http")`, "datetime": `local time = require("time")`,
	"logging": `local log = require("log")`, "argparse": `require("script").args{ … } declares arguments`,
	"pathlib": `local path, fs = require("path"), require("fs")`, "glob": `require("fs").glob(pattern) lists files`,
	"shutil": `local fs = require("fs")`, "re": "string.match, gmatch and gsub take patterns of Lua",
	"sys": "arg holds the arguments, os.exit(code) ends the script",
}

// Module returns the hint for a module of Python that does not exist, or "".
func Module(name string) string { return modules[name] }

// Arithmetic returns the hint for a string that an operator, or its event, cannot take.
func Arithmetic(operator string) string {
	switch operator {
	case "%", "__mod":
		return `texts are formatted with ("%d files"):format(n)`
	case "*", "__mul":
		return `("ab"):rep(3) repeats a text`
	case "+", "__add":
		return "strings are concatenated with .."
	}
	return ""
}

// messages are errors of calls, with what was meant.
var messages = []struct{ form, hint string }{
	{`index field 'path' \(a nil value\)`, members["path"]},
	{`to 'i?pairs' \(table expected, got userdata\)`, "for name, value in pairs(record:totable()) do visits the fields of a record; an error has name, message and hint"},
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

// Message returns the hint for an error of a call, or "".
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
	Last     = "the last element is list[#list]"
	Address  = "inspect.print(t) shows what a table holds"
)

// Colon returns the hint for a function of a manager or module that is called
// like a method.
func Colon(module, function string) string { return "write " + module + "." + function + "(…)" }
