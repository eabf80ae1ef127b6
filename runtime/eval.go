package runtime

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"

	"transect/runtime/module"
)

// The names of sources that are not files, in messages.
const (
	evalName  = "eval"
	stdinName = "stdin"
)

// eval runs the code of the command line and prints the values of an
// expression, or of a return.
func (x *Execution) eval() error {
	code := x.job.Code
	if _, err := parse.Parse(strings.NewReader("return "+code), evalName); err == nil {
		code = "return " + code
	}
	values, err := x.Interp.RunString(evalName, code)
	if err != nil || len(values) == 0 {
		return withSource(evalName, x.job.Code, withoutSuccess(err))
	}
	return withoutSuccess(x.print(values))
}

// printResults prints strings as they are and all other values as Lua source.
const printResults = `
local inspect = require("inspect").value
local function texts(n, value, ...)
  if n == 0 then return end
  return type(value) == "string" and value or inspect(value), texts(n - 1, ...)
end
local results = require("eval.results").get
print(texts(select("#", results()), results()))
`

func (x *Execution) print(values []lua.LValue) error {
	module.Preload(x.Interp, &module.Module{Name: "eval.results", Doc: "The values of the code of the command line.", Funcs: []module.Func{{
		Name: "get", Doc: "Gives the values.", Returns: "the values",
		Call: func(*module.Call) (any, error) { return values, nil },
	}}})
	_, err := x.Interp.RunString("print", printResults)
	return err
}
