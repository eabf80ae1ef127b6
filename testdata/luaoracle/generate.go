package luaoracle

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// prelude is what programs are written with. No program runs for long, or has more
// calls inside one another than the 200 that C has room for in Lua 5.1, and none prints
// an address, or a byte of value zero, which ends a text for C.
const prelude = `local zero, calls = 0, 0
local function tick() calls = calls + 1 if calls > 45 then error("enough", 0) end end
local function Z(v) return (string.gsub(v, "%z", "0")) end
local function cut(s) return #s > 60 and s:sub(1, 60) or s end
local function S(v) local t = type(v) if t == "table" or t == "function" or t == "userdata" or t == "thread" then return t end return cut(Z(tostring(v))) end
local function P(...) local t = {} for i = 1, select("#", ...) do t[i] = S((select(i, ...))) end print(select("#", ...), unpack(t)) end
local function try(f, ...) P(pcall(f, ...)) end
local function keys(t) local list = {} for k in pairs(t) do list[#list + 1] = S(k) end table.sort(list) return table.concat(list, ",") end
`

// kinds of values that variables keep.
const (
	number   = "number"
	text     = "text"
	boolean  = "boolean"
	list     = "list" // of numbers, without gaps
	anything = "any"
	callable = "function"
	object   = "object" // with metamethods
)

type variable struct{ name, kind string }

// generator makes one program.
type generator struct {
	*rand.Rand
	vars      []variable
	names     int
	depth     int  // of blocks
	loops     int  // around, in this function
	vararg    bool // in a function with ...
	coroutine bool // where yield may be called
	protected bool // where errors are caught
}

// Generate makes the program of a seed and a number.
func Generate(seed, n uint64) *node {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, n)), vararg: true}
	body := g.block(4 + g.IntN(9))
	return tree(token, prelude, body)
}

func (g *generator) pick(options ...string) string { return options[g.IntN(len(options))] }

// chance is true once in n times.
func (g *generator) chance(n int) bool { return g.IntN(n) == 0 }

func (g *generator) name() string {
	g.names++
	return g.pick("a", "b", "x", "value", "n", "s") + strconv.Itoa(g.names)
}

// variable is one of a kind that can be seen, or "".
func (g *generator) variable(kind string) string {
	for range 8 {
		if len(g.vars) == 0 {
			break
		}
		v := g.vars[len(g.vars)-1-min(g.IntN(len(g.vars)), g.IntN(len(g.vars)))]
		if v.kind == kind {
			return v.name
		}
	}
	return ""
}

func (g *generator) declare(name, kind string) { g.vars = append(g.vars, variable{name, kind}) }

// scoped makes something whose variables end with it.
func (g *generator) scoped(f func() *node) *node {
	outer := len(g.vars)
	g.depth++
	n := f()
	g.depth--
	g.vars = g.vars[:outer]
	return n
}

func (g *generator) block(n int) *node {
	return g.scoped(func() *node {
		b := &node{kind: block}
		for range n {
			if g.depth == 1 {
				b.kids = append(b.kids, tree(token, "calls = 0\n"))
			}
			b.kids = append(b.kids, g.statement())
		}
		return b
	})
}

// inner is a block inside a statement.
func (g *generator) inner() *node { return g.block(1 + g.IntN(3)) }

// function is a function expression from its parameters on. first is what comes before
// its own statements.
func (g *generator) function(first string, params ...variable) *node {
	vararg, loops, coroutine, protected := g.vararg, g.loops, g.coroutine, g.protected
	defer func() { g.vararg, g.loops, g.coroutine, g.protected = vararg, loops, coroutine, protected }()
	g.vararg, g.loops = g.chance(3), 0
	g.coroutine = g.coroutine && g.chance(2)
	var names []string
	for _, p := range params {
		names = append(names, p.name)
	}
	if g.vararg {
		names = append(names, "...")
	}
	outer := len(g.vars)
	g.vars = append(g.vars, params...)
	body := g.inner()
	end := tree(statement, "return ", g.list(anything, 0, 3))
	if g.chance(3) {
		if f := g.variable(callable); f != "" {
			end = tree(statement, "return "+f+"(", g.list(anything, 0, 3), ")")
		}
	}
	if g.chance(8) {
		end = leaf("")
	}
	g.vars = g.vars[:outer]
	return tree(token, "("+strings.Join(names, ", ")+")\ntick() "+first+"\n", body, end, "\nend")
}

// list is a list of expressions.
func (g *generator) list(kind string, least, most int) *node {
	n := &node{kind: values}
	if least > 0 {
		n.kind = token
	}
	for i := range least + g.IntN(most-least+1) {
		if n.kind == token && i > 0 {
			n.kids = append(n.kids, leaf(", "))
		}
		n.kids = append(n.kids, g.value(kind))
	}
	if kind == anything && g.chance(5) && n.kind == values {
		n.kids = append(n.kids, g.several())
	}
	return n
}

// several is an expression with any number of values.
func (g *generator) several() *node {
	switch {
	case g.vararg && g.chance(2):
		return tree(value, "...")
	case g.coroutine && g.chance(2):
		return tree(value, "coroutine.yield(", g.list(anything, 0, 2), ")")
	case g.chance(3):
		return tree(value, "unpack(", g.value(list), ")")
	case g.chance(3):
		return tree(value, "(", g.several(), ")")
	}
	return g.call()
}

// call calls a function.
func (g *generator) call() *node {
	if f := g.variable(callable); f != "" {
		return tree(value, f+"(", g.list(anything, 0, 3), ")")
	}
	return tree(value, "S(", g.value(anything), ")")
}

// value is an expression of a kind.
func (g *generator) value(kind string) *node {
	g.depth++
	defer func() { g.depth-- }()
	if v := g.variable(kind); v != "" && (g.chance(2) || g.depth > 7) {
		return tree(value, v)
	}
	if kind != anything && kind != callable && kind != object && g.chance(14) && g.depth < 7 {
		return tree(value, "(", g.value(boolean), " and ", g.value(kind), " or ", g.value(kind), ")")
	}
	if g.chance(30) && g.protected {
		return g.risky()
	}
	switch kind {
	case number:
		return g.number()
	case text:
		return g.text()
	case boolean:
		return g.boolean()
	case list:
		return g.numbers()
	case callable:
		return tree(value, "function", g.function("", g.params()...))
	case object:
		return g.object()
	}
	return g.anything()
}

var literals = []string{"1", "2", "3", "7", "10", "255", "1000", "65536", "2147483647", "4294967296", "9007199254740993", "1e15", "1e16", "1e300",
	"0.5", ".25", "3.", "1.5", "0.1", "123.456", "1e-5", "1E+2", "0x10", "0XfF", "0xffffffff", "99999999999999", "100000000000000", "5e-324"}

func (g *generator) literal() *node { return tree(value, literals[g.IntN(len(literals))]) }

func (g *generator) number() *node {
	if g.depth > 7 || g.chance(4) {
		return g.literal()
	}
	switch g.IntN(22) {
	case 0, 1, 2, 3, 4, 5:
		// Not two constants: lua5.1 computes with those when it compiles, and takes 0 and -0
		// for the same constant.
		a, b := g.value(number), g.value(number)
		if len(a.kids) == 1 && len(b.kids) == 1 {
			a = tree(value, g.pick("zero", "calls"))
		}
		return tree(value, "(", a, g.pick(" + ", " - ", " * ", " / ", " % ", "+", "*"), b, " + zero)") // never -0
	case 6:
		return tree(value, "-(", g.value(number), " + zero)")
	case 7:
		return tree(value, "#", g.value(list))
	case 8:
		return tree(value, "#(", g.value(text), ")")
	case 9:
		return tree(value, "(#(", g.value(text), ") % 9)^"+g.pick("1", "2"))
	case 10, 11:
		return tree(value, "math."+g.pick("floor", "ceil", "abs", "sqrt")+"(", g.value(number), ")")
	case 12:
		return tree(value, "math."+g.pick("max", "min", "fmod")+"(", g.value(number), ", ", g.value(number), ")")
	case 13:
		return tree(value, "(tonumber(", g.value(anything), ") or ", g.value(number), ")")
	case 14:
		return tree(value, `select("#", `, g.list(anything, 0, 4), ")").orOne(`select("#", )`, g)
	case 15:
		return tree(value, "(", g.value(text), "):len()")
	case 16:
		return tree(value, "(", g.value(list), ")["+g.pick("1", "2")+"] or ", g.value(number)).paren()
	case 17:
		return tree(value, `("`+g.pick("10", "0x1f", " 7 ", "1e2", "-3", ".5", "1E-1")+`" `+g.pick("+", "-", "*", "/", "%")+" ", g.value(number), " + zero)")
	case 18:
		return tree(value, "(tonumber((string.gsub(", g.value(text), ", '%-', '')), "+g.pick("2", "8", "10", "16", "36")+") or "+g.pick("1", "2")+")")
	case 19:
		return tree(value, "(string.byte(", g.value(text), ", ", g.value(number), ") or 5)")
	case 20:
		return tree(value, "zero")
	}
	return tree(value, "(string.find(", g.value(text), ", ", g.quoted(g.pick("a", "1", "%d", "^", ".", "%s")), ") or 3)")
}

func (n *node) paren() *node { return tree(value, "(", n, ")") }

// orOne is n unless its source is empty, then 1.
func (n *node) orOne(empty string, g *generator) *node {
	if n.String() == empty {
		return g.literal()
	}
	return n
}

func (g *generator) quoted(s string) string {
	switch g.IntN(6) {
	case 0:
		if !strings.ContainsAny(s, "'\\\n\x00\xff\xe9") {
			return "'" + s + "'"
		}
	case 1:
		if !strings.ContainsAny(s, "]\r\n\\\x00") {
			return "[[" + s + "]]"
		}
	case 2:
		if !strings.ContainsAny(s, "]\r\n\\\x00") {
			return "[==[" + s + "]==]"
		}
	}
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteString("\\" + string(c))
		case c == '\n':
			b.WriteString(`\n`)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, "\\%03d", c)
		default:
			b.WriteByte(c)
		}
	}
	return `"` + b.String() + `"`
}

var texts = []string{"", "a", "ab", "abc", "hello world", "x=1, y=2", "10", "3.5", "0x1F", " 12 ", "key", "[x]", "a.b.c", "100%", "two\nlines", "tab\there",
	"quote\"d", "back\\slash", "\xe9t\xc3\xa9", "nul\x00in", "UPPER lower", "((a)(b))", "one two  three", "1e2", "nan", "inf", "-7"}

func (g *generator) text() *node {
	if g.depth > 7 || g.chance(3) {
		return tree(value, g.quoted(texts[g.IntN(len(texts))]))
	}
	switch g.IntN(16) {
	case 0, 1, 2:
		return tree(value, "(", g.value(text), " .. ", g.value(g.pick(text, text, number)), ")")
	case 3:
		return tree(value, "(", g.value(number), " .. ", g.value(g.pick(text, number)), " .. ", g.value(text), ")")
	case 4:
		return tree(value, "(", g.value(text), "):sub(", g.value(number), ", ", g.value(number), ")")
	case 5:
		return tree(value, "(", g.value(text), "):"+g.pick("upper", "lower", "reverse")+"()")
	case 6:
		return tree(value, "cut(", g.value(text), "):rep(math.min(", g.value(number), " % 5, 5))") // beyond 2^53 a remainder is large
	case 7:
		return tree(value, "tostring(", g.value(g.pick(number, boolean, text)), ")")
	case 8:
		return tree(value, "table.concat(", g.value(list), ", cut(", g.value(text), "))")
	case 9:
		return tree(value, g.pick("type", "S")+"(", g.value(anything), ")")
	case 10, 11:
		return g.formatted()
	case 12:
		return tree(value, "(string.gsub(cut(", g.value(text), "), "+g.pattern()+", ", g.replacement(), "))")
	case 13:
		return tree(value, "(string.match(cut(", g.value(text), "), "+g.pattern()+") or ", g.value(text), ")").asText()
	case 14:
		return g.caught(func() *node { return tree(value, "string.char(", g.value(number), " % 250)") })
	}
	if o := g.variable(list); o != "" {
		return tree(value, "keys("+o+")")
	}
	return tree(value, "S(", g.value(anything), ")")
}

// asText is an expression whose value may be a position.
func (n *node) asText() *node { return tree(value, "tostring(", n, ")") }

// isolated makes what stands in a function of its own that the library calls: it has no
// varargs and cannot yield.
func (g *generator) isolated(f func() *node) *node {
	vararg, coroutine, loops, protected := g.vararg, g.coroutine, g.loops, g.protected
	defer func() { g.vararg, g.coroutine, g.loops, g.protected = vararg, coroutine, loops, protected }()
	g.vararg, g.coroutine, g.loops, g.protected = false, false, 0, true
	return f()
}

// caught is what a call gives, or the error that it raises.
func (g *generator) caught(f func() *node) *node {
	return tree(value, "S(select(2, pcall(function() return ", g.isolated(f), " end)))")
}

func (g *generator) formatted() *node {
	flags := g.pick("", "", "", "5", "-6", "05", "+", " ", "#", ".3", "8.2", "-+7.1", "020", ".0", "+.10")
	switch g.IntN(5) {
	case 0:
		return g.caught(func() *node {
			return tree(value, `string.format("%`+flags+g.pick("d", "i", "x", "X", "o", "u")+`", math.floor(`, g.value(number), " % 1e9))")
		})
	case 1:
		return tree(value, `string.format("%`+flags+g.pick("f", "e", "g", "G", "E")+`", `, g.value(number), ")")
	case 2:
		return tree(value, `string.format("[%`+g.pick("", "5", "-5", ".2", "8.3", "-12.1")+`s]", Z(`, g.value(g.pick(text, number)), "))")
	case 3:
		return tree(value, `string.format("%q", `, g.value(text), ")")
	}
	return g.caught(func() *node {
		return tree(value, `string.format("%`+g.pick("", "3", "-3")+`c|%s|%%", 65 + #(`, g.value(text), ") % 20, Z(", g.value(number), "))")
	})
}

// pattern is a literal of a pattern that is well-formed in most cases; where errors are
// not caught it always is.
func (g *generator) pattern() string {
	var b strings.Builder
	if g.chance(6) {
		b.WriteString("^")
	}
	open := 0
	closed := 0
	for range 1 + g.IntN(4) {
		switch g.IntN(10) {
		case 0:
			b.WriteString("()")
			closed++
			continue
		case 1:
			b.WriteString("(")
			open++
			b.WriteString(g.pick("a", "%w", ".", "[^,]", "%d"))
			b.WriteString(g.pick("", "*", "+", "-", "?"))
			b.WriteString(")")
			open--
			closed++
			continue
		case 2:
			b.WriteString(g.pick("%b()", "%f[%w]", "%f[%s]", "%b[]"))
			continue
		}
		b.WriteString(g.pick("a", "b", "x", "=", "1", " ", "%.", "%%", ".", "%a", "%d", "%s", "%w", "%p", "%l", "%u", "%x", "%c", "%A", "%S", "%W", "%z",
			"[abc]", "[^a]", "[a-c]", "[%d%s]", "[%w_]", "[]]", "[^]x]", "[a-]", "[%a-z]"))
		b.WriteString(g.pick("", "", "*", "+", "-", "?"))
	}
	if g.chance(8) {
		b.WriteString("$")
	}
	return `"` + b.String() + `"`
}

func (g *generator) replacement() *node {
	switch g.IntN(5) {
	case 0:
		return tree(value, `"`+g.pick("", "<%0>", "%%", "-", "%1", "%0%0", "x%.y")+`"`)
	case 1:
		return tree(value, "{a = ", g.value(number), ", b = ", g.value(text), ", [1] = ", g.value(text), "}")
	case 2:
		return tree(value, "function(...) tick() return "+g.pick("nil", "false", "...", "S(...)", "select(\"#\", ...)")+" end")
	case 3:
		return tree(value, "string."+g.pick("upper", "reverse"))
	}
	return g.value(text)
}

func (g *generator) boolean() *node {
	if g.depth > 7 {
		return tree(value, g.pick("true", "false"))
	}
	switch g.IntN(9) {
	case 0, 1, 2:
		return tree(value, "(", g.value(number), g.pick(" < ", " <= ", " > ", " >= ", " == ", " ~= "), g.value(number), ")")
	case 3:
		return tree(value, "(", g.value(text), g.pick(" < ", " <= ", " > ", " >= ", " == ", " ~= "), g.value(text), ")")
	case 4:
		return tree(value, "(not ", g.value(anything), ")")
	case 5:
		return tree(value, "(", g.value(anything), g.pick(" == ", " ~= "), g.value(anything), ")")
	case 6:
		return tree(value, "(", g.value(boolean), g.pick(" and ", " or "), g.value(boolean), ")")
	case 7:
		return tree(value, "rawequal(", g.value(anything), ", ", g.value(anything), ")")
	}
	return tree(value, g.pick("true", "false"))
}

func (g *generator) numbers() *node {
	if g.chance(40) {
		var b strings.Builder
		for i := range 40 + g.IntN(400) {
			fmt.Fprintf(&b, "%d,", i%37)
		}
		return tree(value, "{"+b.String()+"}")
	}
	return tree(value, "{", g.list(number, 0, 5), "}")
}

func (g *generator) params() []variable {
	var list []variable
	for range g.IntN(4) {
		list = append(list, variable{g.name(), anything})
	}
	return list
}

func (g *generator) anything() *node {
	if g.depth > 7 {
		return tree(value, g.pick("nil", "true", "1", `"t"`))
	}
	switch g.IntN(18) {
	case 0:
		return tree(value, "nil")
	case 1, 2, 3:
		return g.value(number)
	case 4, 5, 6:
		return g.value(text)
	case 7:
		return g.value(boolean)
	case 8:
		return g.value(list)
	case 9:
		return g.call()
	case 10:
		return tree(value, "(", g.value(anything), g.pick(" and ", " or "), g.value(anything), ")")
	case 11:
		return g.several().paren()
	case 12:
		return g.value(callable)
	case 13:
		if o := g.variable(object); o != "" {
			return tree(value, o+g.pick(".f", ".g", `["f"]`, "[1]", ":m(1)", ".missing"))
		}
	case 14:
		return g.table()
	case 15:
		if o := g.variable(object); o != "" {
			return tree(value, "select(2, pcall(function() return "+g.pick(o+" + 1", "2 - "+o, o+" * "+o, "-"+o, o+` .. "x"`, "1 .. "+o, o+" < "+o, o+" <= "+o,
				o+" == "+o, o+" ~= "+o, o+"(1, 2)", o+" % 3", o+" / 2", o+" ^ 2", o+".z", "#"+o, "tostring(#"+o+")")+" end))")
		}
	}
	if g.vararg {
		return tree(value, "(...)")
	}
	return tree(value, "true")
}

// table is a table constructor of every form.
func (g *generator) table() *node {
	n := tree(value, "{")
	fields := &node{kind: values}
	for range g.IntN(5) {
		switch g.IntN(4) {
		case 0:
			fields.kids = append(fields.kids, tree(value, g.value(anything)))
		case 1:
			fields.kids = append(fields.kids, tree(value, g.pick("f", "g", "key")+" = ", g.value(anything)))
		case 2:
			fields.kids = append(fields.kids, tree(value, "["+g.pick("1", "2", `"f"`, "true", "1.5")+"] = ", g.value(anything)))
		default:
			fields.kids = append(fields.kids, tree(value, g.pick("f", "[10]")+" = ", g.several()))
		}
	}
	if g.chance(3) {
		fields.kids = append(fields.kids, g.several())
	}
	n.kids = append(n.kids, fields, leaf("}"))
	return n
}

var events = []string{"__add", "__sub", "__mul", "__div", "__mod", "__pow", "__unm", "__concat", "__eq", "__lt", "__le", "__index", "__newindex", "__call"}

func (g *generator) object() *node {
	meta := &node{kind: values}
	for range 1 + g.IntN(4) {
		event := events[g.IntN(len(events))]
		if event == "__index" && g.chance(2) {
			meta.kids = append(meta.kids, tree(value, "__index = ", g.table()))
			continue
		}
		if event == "__unm" { // the engine gives it no second argument
			meta.kids = append(meta.kids, tree(value, "__unm = function(v) tick() return ", g.isolated(func() *node { return g.value(anything) }), " end"))
			continue
		}
		meta.kids = append(meta.kids, g.isolated(func() *node {
			return tree(value, event+" = function", g.function("", variable{g.name(), anything}, variable{g.name(), anything}))
		}))
	}
	return tree(value, "setmetatable({f = ", g.value(number), ", m = function(self, ...) tick() return ... end}, {", meta, "})")
}

// risky is an expression that raises an error, most likely.
func (g *generator) risky() *node {
	v := g.variable(anything)
	if v == "" {
		v = "undefined"
	}
	switch g.IntN(10) {
	case 0:
		return tree(value, "("+v+g.pick(" + ", " * ", " % ")+"1 + zero)")
	case 1:
		return tree(value, "("+v+` .. "x")`)
	case 2:
		return tree(value, "("+v+".field.field)")
	case 3:
		return tree(value, v+"("+g.pick("", "1", `"s"`)+")")
	case 4:
		return tree(value, "("+v+g.pick(" < ", " <= ")+g.pick("1", `"s"`, "{}", "nil")+")")
	case 5:
		return tree(value, g.pick("missing", "missing.field", "math.missing", `("s").missing`)+"(1)")
	case 6:
		return tree(value, "-{}")
	case 7:
		return tree(value, `("abc")`+g.pick(":missing()", ":rep({})", ":sub()", ":byte({})"))
	case 8:
		return tree(value, "error("+g.pick(`"msg"`, `"msg", 0`, `"msg", 2`, "{}", "", "12", "true")+")")
	}
	return tree(value, "assert("+g.pick("false", "nil", `false, "why"`, `nil, 5`)+")")
}
