package lint

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// The rules.
const (
	Syntax           = "syntax"
	UndeclaredGlobal = "undeclared-global"
	AssignedGlobal   = "assigned-global"
	UnknownModule    = "unknown-module"
	UnknownManager   = "unknown-manager"
	UnknownOperation = "unknown-operation"
	UnknownFunction  = "unknown-function"
	UnknownArgument  = "unknown-argument"
	UnknownField     = "unknown-field"
	MissingArgument  = "missing-argument"
	TooManyArguments = "too-many-arguments"
	WrongType        = "wrong-type"
	WrongValue       = "wrong-value"
	WrongCall        = "wrong-call"
	UnusedVariable   = "unused-variable"
	Unreachable      = "unreachable-code"
	DuplicateKey     = "duplicate-key"
	NoValue          = "no-value"
	UnusedValue      = "unused-value"
	SameAlways       = "same-always"
	NoIterator       = "no-iterator"
	Hidden           = "hidden-name"
	ReadOnly         = "read-only"
	OwnModule        = "own-module"
)

// Rule is a kind of problem.
type Rule struct {
	Name    string `json:"name"`
	Doc     string `json:"doc"`
	Example string `json:"example"` // the smallest script that breaks only this rule
}

// Rules lists all rules.
func Rules() []Rule {
	return []Rule{
		{Syntax, "a syntax error", `local n = = 1`},
		{UndeclaredGlobal, "an undeclared name", `print(totl)`},
		{AssignedGlobal, "a global that is assigned, where local was meant", `total = 1`},
		{UnknownModule, "a module that is neither built in nor a file that require finds", `require("jsn")`},
		{UnknownManager, "a resource manager that the sdk does not have", `print(require("sdk").projcts)`},
		{UnknownOperation, "an operation that a manager does not have", `print(require("sdk").projects.serch{})`},
		{UnknownFunction, "a function that a module, a text or an object does not have", `print(("a"):uper())`},
		{UnknownArgument, "a named argument or an option that a call does not take",
			`print(require("sdk").projects.search{ filtr = {} })`},
		{UnknownField, "a field that a record or a result does not have, which reads as nil",
			`print(require("sdk").users.describe().emial)`},
		{MissingArgument, "an argument that a call needs", `print(require("fs").read())`},
		{TooManyArguments, "more arguments than a call takes", `print(require("fs").read("a", 3))`},
		{WrongType, "an argument or an operand of a type that fails", `print(1 + {})`},
		{WrongValue, "a text, a geometry or an index that fails or finds nothing", `print(require("sdk").projects.search{}[0])`},
		{WrongCall, "a colon for a dot, a dot for a colon, a call of a value that is not a function",
			`print(require("sdk").projects:search{})`},
		{UnusedVariable, "a local that is never read; _ is for those", `local n = 1`},
		{Unreachable, "statements after return, error or an endless loop", "do return end print(1)"},
		{DuplicateKey, "a key that a table names twice", `print({ a = 1, a = 2 })`},
		{NoValue, "the value of a call that returns none", `local ok = require("fs").write("a", "b") print(ok)`},
		{UnusedValue, "a call without effect whose result is not used", `require("path").join("a", "b")`},
		{SameAlways, "a condition or a loop whose outcome is constant", `if type(1) == "str" then print(1) end`},
		{NoIterator, "a loop over what is not an iterator", `for x in { 1, 2 } do print(x) end`},
		{Hidden, "a parameter named like another, or like a module that the function uses",
			`print(function(table) table.insert(table, 1) end)`},
		{ReadOnly, "an assignment to what cannot be changed", `require("sdk").users.describe().name = "y"`},
		{OwnModule, "a file that require finds before the built-in module of its name", `require("json")`},
	}
}

// allowances are the comments of a script that allow violations of a rule: after a line for the line, on a
// line of its own for the script.
type allowances struct {
	script []string
	lines  map[int][]string
}

var allowance = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(.*?)-- check: (ignore|allow ([a-z]+(?:-[a-z]+)*(?:,? +[a-z]+(?:-[a-z]+)*)*))`)
})

func allowancesOf(code []byte) allowances {
	a := allowances{lines: map[int][]string{}}
	for n, line := range strings.Split(string(code), "\n") {
		m := allowance().FindStringSubmatch(line)
		switch {
		case m == nil:
		case m[2] == "ignore":
			a.lines[n+1] = []string{"*"}
		case strings.TrimSpace(m[1]) == "":
			a.script = append(a.script, namesIn(m[3])...)
		default:
			a.lines[n+1] = namesIn(m[3])
		}
	}
	return a
}

func namesIn(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}

func (a allowances) cover(p Problem) bool {
	here := a.lines[p.Line]
	return slices.Contains(a.script, p.Rule) || slices.Contains(here, p.Rule) || slices.Contains(here, "*")
}
