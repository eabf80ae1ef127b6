package runtime

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"

	"transect/runtime/module"
)

// evalName is what code of the command line is called in messages.
const evalName = "eval"

// stdinName is what a script from standard input is called.
const stdinName = "stdin"

// eval runs the code of the command line and prints its results: those of an
// expression, or of a return at the end of statements.
func (r *run) eval() error {
	code := r.job.Code
	if isExpression(code) {
		code = "return " + code
	}
	values, err := r.in.RunString(evalName, code)
	if err != nil || len(values) == 0 {
		return quoting(evalName, r.job.Code, succeeded(err))
	}
	return succeeded(r.show(values))
}

func isExpression(code string) bool {
	_, err := parse.Parse(strings.NewReader("return "+code), evalName)
	return err == nil
}

// showResults prints texts as they are and everything else as Lua would read it.
const showResults = `
local inspect = require("inspect").value
local function texts(n, value, ...)
  if n == 0 then return end
  return type(value) == "string" and value or inspect(value), texts(n - 1, ...)
end
local results = require("eval.results").get
print(texts(select("#", results()), results()))
`

func (r *run) show(values []lua.LValue) error {
	module.Preload(r.in, &module.Module{Name: "eval.results", Doc: "What the code of the command line returned.", Funcs: []module.Func{{
		Name: "get", Doc: "Gives the results.", Returns: "the results",
		Call: func(*module.Call) (any, error) {
			results := make(module.Values, len(values))
			for i, v := range values {
				results[i] = v
			}
			return results, nil
		},
	}}})
	_, err := r.in.RunString("print", showResults)
	return err
}
