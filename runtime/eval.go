package runtime

import (
	"fmt"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"

	"transect/runtime/vm"
)

// The names of sources that are not files, in messages.
const (
	evalName  = "eval"
	StdinName = "stdin"
)

// eval runs the code of the command line and prints the values of an
// expression, or of a return: strings as they are, all others as Lua source.
func (x *Execution) eval() error {
	code := x.job.Code
	if _, err := parse.Parse(strings.NewReader("return "+code), evalName); err == nil {
		code = "return " + code
	}
	values, err := x.Interp.RunString(evalName, code)
	if err != nil || len(values) == 0 {
		return WithSource(evalName, x.job.Code, x.complete(nil, err))
	}
	return x.complete(nil, x.Interp.NewSession().Do(func(L *lua.LState) error {
		texts := make([]string, len(values))
		for i, v := range values {
			texts[i] = v.String()
			if v.Type() != lua.LTString {
				texts[i] = (&vm.Printer{L: L}).Text(v)
			}
		}
		_, err := fmt.Fprintln(x.Interp.Options().Stdout, strings.Join(texts, "\t"))
		return err
	}))
}
