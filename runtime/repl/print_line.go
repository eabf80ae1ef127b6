package repl

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/text"
	lua "github.com/yuin/gopher-lua"

	"transect/bindings"
	"transect/runtime/vm"
)

// isShort reports whether a value may share a line.
func isShort(v lua.LValue) bool {
	s, ok := v.(lua.LString)
	return ok && len(s) <= 24 || v.Type() == lua.LTNumber || v.Type() == lua.LTBool
}

// number formats a number, without exponents for common magnitudes.
func number(n lua.LNumber) string {
	if f := math.Abs(float64(n)); f >= 1e-6 && f < 1e15 {
		return strconv.FormatFloat(float64(n), 'f', -1, 64)
	}
	return n.String()
}

// cut marks an incomplete value.
const cut = "… }"

// short formats a value on one line of a width.
func (p *printer) short(v lua.LValue, width, depth int) string {
	return text.Snip(p.line(v, depth), max(width, 1), "…")
}

func (p *printer) line(v lua.LValue, depth int) string {
	switch v := v.(type) {
	case lua.LString:
		return quoted(string(v))
	case lua.LNumber:
		return number(v)
	case *lua.LTable:
		if name := p.names().of(v); name != "" {
			return summarize(name)
		}
		if g := geometryText(v); g != "" {
			return g
		}
		if p.L.GetMetaField(v, "__tostring") == lua.LNil {
			return p.flat(v, depth)
		}
	case *lua.LFunction:
		if operation := bindings.IteratorOf(v); operation != "" {
			return "iterator of " + operation + " (use it in a for loop)"
		}
		if name := p.names().of(v); name != "" {
			return summarize(name)
		}
		return functionText(v)
	}
	return clean(p.tostring(v))
}

// flat formats a table on one line.
func (p *printer) flat(t *lua.LTable, depth int) string {
	if p.seen[t] {
		return "{ … cycle … }"
	}
	if depth > maxDepth {
		return "{ " + cut
	}
	p.seen[t] = true
	defer delete(p.seen, t)
	var b strings.Builder
	b.WriteString("{")
	lead := " "
	for k, v := range vm.Entries(t) {
		if b.Len() > 4*maxString {
			return b.String() + ", " + cut
		}
		b.WriteString(lead + vm.KeyText(k, quoted) + p.line(v, depth+1))
		lead = ", "
	}
	if lead == " " {
		return "{}"
	}
	return b.String() + " }"
}

// tostring returns the value's own text, or the error of its __tostring.
func (p *printer) tostring(v lua.LValue) string {
	if p.L.GetMetaField(v, "__tostring") == lua.LNil {
		return v.String()
	}
	err := p.L.CallByParam(lua.P{Fn: p.L.GetMetaField(v, "__tostring"), NRet: 1, Protect: true}, v)
	if err != nil {
		reason := err.Error()
		if api, ok := err.(*lua.ApiError); ok && api.Object != nil {
			reason = api.Object.String()
			if inner := vm.ErrorOf(api.Object); inner != nil {
				reason = inner.Error()
			}
		}
		return v.Type().String() + " whose __tostring failed: " + reason
	}
	defer p.L.Pop(1)
	if s, ok := p.L.Get(-1).(lua.LString); ok {
		return string(s)
	}
	return v.Type().String() + " whose __tostring did not return a string"
}

func functionText(f *lua.LFunction) string {
	if f.IsG || f.Proto == nil {
		return "built-in function"
	}
	params := make([]string, 0, f.Proto.NumParameters)
	for i := range int(f.Proto.NumParameters) {
		name := "?"
		if i < len(f.Proto.DbgLocals) {
			name = f.Proto.DbgLocals[i].Name
		}
		params = append(params, name)
	}
	if f.Proto.IsVarArg != 0 {
		params = append(params, "...")
	}
	return fmt.Sprintf("function(%s) of %s:%d", strings.Join(params, ", "), f.Proto.SourceName, f.Proto.LineDefined)
}

// summarize describes a manager, a module or a function on one line.
func summarize(name string) string {
	group, entry, err := declared().Find(name)
	switch {
	case err != nil:
		return name
	case entry != nil:
		return "function " + entry.Signature
	case group.IsManager():
		return fmt.Sprintf("manager %s, %d operations; help(%s) lists them", name, len(group.Operations), name)
	}
	return fmt.Sprintf("module %s; help(%s) shows its reference", name, name)
}

func quoted(s string) string {
	n := 0
	for i := range s {
		if n++; n > maxString {
			return strconv.Quote(s[:i]) + fmt.Sprintf("… (%d bytes)", len(s))
		}
	}
	return strconv.Quote(s)
}

// clean escapes control characters.
func clean(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}
