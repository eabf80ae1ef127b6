package lint

import (
	"fmt"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/client/human"
	"transect/client/schema"
	"transect/runtime/module"
)

// standard declares the Lua functions whose arguments are checked. A question mark makes an argument
// optional.
var standard = map[string]string{
	"tonumber": "value:any base:number?", "ipairs": "list:table", "pairs": "table:table",
	"setmetatable": "table:table metatable:table|nil",
	"string.upper": "text:string", "string.lower": "text:string", "string.len": "text:string",
	"string.reverse": "text:string",
	"string.rep":     "text:string n:number|string", "string.sub": "text:string from:number|string to:number|string?",
	"string.find":  "text:string pattern:string from:number|string? plain:any?",
	"string.match": "text:string pattern:string from:number|string?", "string.gmatch": "text:string pattern:string",
	"string.gsub":  "text:string pattern:string with:string|table|function n:number|string?",
	"table.concat": "list:table separator:string? from:number|string? to:number|string?",
	"table.insert": "list:table at:any value:any?",
	"table.sort":   "list:table before:function?", "table.remove": "list:table at:number|string?",
	"unpack":     "list:table from:number? to:number?",
	"math.floor": "x:number|string", "math.ceil": "x:number|string", "math.abs": "x:number|string",
	"math.sqrt": "x:number|string",
	"os.remove": "path:string", "os.rename": "from:string to:string", "os.getenv": "name:string",
	"io.open": "path:string mode:string?",
}

// standardParams parses standard.
func standardParams() map[string][]module.Param {
	all := map[string][]module.Param{}
	for name, text := range standard {
		var params []module.Param
		for word := range strings.FieldsSeq(text) {
			p, typ, _ := strings.Cut(word, ":")
			typ, optional := strings.CutSuffix(typ, "?")
			params = append(params, module.Param{Name: p, Type: schema.Type(typ), Optional: optional})
		}
		all[name] = params
	}
	return all
}

// lua checks a call of a Lua function.
func (w *walk) lua(callee fact, args []argument, at position) fact {
	name := callee.standard
	if name == "" {
		name = callee.builtin
	}
	if callee.bound != "" { // a method of a string, which is its first argument
		args = append([]argument{{fact: fact{kind: "string", constant: callee.constant}, at: at}}, args...)
	}
	if (name == "pairs" || name == "ipairs") && len(args) > 0 && args[0].each != 0 {
		w.report(args[0].at, NoIterator, args[0].name+" returns an iterator already", "write for … in "+args[0].name+"(…) do")
		return fact{}
	}
	if params := w.env.standard[name]; params != nil {
		w.arguments(name, params, args, at)
		if last := len(args) - 1; last >= 0 && last < len(params) && args[last].noValue && !openEnded(args) {
			w.empty(args[last].fact, args[last].at)
		}
	}
	if name == "ipairs" && len(args) > 0 && args[0].list && args[0].records != "" {
		return fact{records: args[0].records, each: 2, name: name}
	}
	switch name {
	case "table.sort", "table.insert":
		return fact{noValue: true, name: name}
	case "string.format":
		w.format(args, at)
	case "string.find", "string.match", "string.gmatch", "string.gsub":
		plain := name == "string.find" && len(args) > 3
		if text, ok := texts(args, 1); ok && !plain {
			if wrong := malformed(text); wrong != "" {
				w.report(args[1].at, WrongValue, name+": the pattern "+fmt.Sprintf("%q", text)+" "+wrong,
					"escape the characters ^$()%.[]*+-? with %")
			}
		}
	case "tonumber":
		if len(args) == 0 {
			w.report(at, MissingArgument, "tonumber: argument "+w.env.standard[name][0].Missing(), "")
		}
	case "type":
		return fact{kind: "string", name: typeOf}
	case "tostring", "table.concat", "string.upper", "string.lower", "string.rep", "string.sub", "string.reverse":
		return fact{kind: "string", name: name}
	case "string.len", "math.floor", "math.ceil", "math.abs", "os.clock":
		return fact{kind: "number", name: name}
	}
	return fact{}
}

func texts(args []argument, i int) (string, bool) {
	if i >= len(args) {
		return "", false
	}
	text, ok := args[i].constant.(lua.LString)
	return string(text), ok
}

// format compares the directives of a format with the arguments.
func (w *walk) format(args []argument, at position) {
	text, ok := texts(args, 0)
	if !ok {
		return
	}
	wanted := 0
	for i := 0; i < len(text); i++ {
		if text[i] != '%' {
			continue
		}
		i++
		for i < len(text) && strings.IndexByte("-+ #0123456789.", text[i]) >= 0 {
			i++
		}
		switch {
		case i < len(text) && text[i] == '%':
			continue
		case i >= len(text) || strings.IndexByte("cdiouxXeEfFgGaAqs", text[i]) < 0:
			w.report(args[0].at, WrongValue, "string.format: invalid directive in "+fmt.Sprintf("%q", text),
				"write %% for a percent sign")
			return
		}
		wanted++
	}
	given := len(args) - 1
	switch {
	case openEnded(args):
	case given < wanted:
		w.report(at, MissingArgument, fmt.Sprintf("string.format: the format needs %s, got %d",
			human.Count(wanted, "value"), given), "")
	case given > wanted:
		w.report(args[wanted+1].at, TooManyArguments, fmt.Sprintf("string.format: the format needs %s, got %d",
			human.Count(wanted, "value"), given), "")
	}
}

// malformed returns the error of a pattern, or "".
func malformed(p string) string {
	open := 0
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '%':
			if i++; i >= len(p) {
				return "ends with %"
			}
			if p[i] == 'b' {
				i += 2
			}
		case '[':
			if i++; i < len(p) && p[i] == '^' {
				i++
			}
			for first := true; ; first = false {
				if i >= len(p) {
					return "has a [ without ]"
				}
				if p[i] == ']' && !first {
					break
				}
				if p[i] == '%' {
					i++
				}
				i++
			}
		case '(':
			open++
		case ')':
			if open--; open < 0 {
				return "has a ) without ("
			}
		}
	}
	if open > 0 {
		return "has a ( without )"
	}
	return ""
}
