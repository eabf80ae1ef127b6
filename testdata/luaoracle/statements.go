package luaoracle

import (
	"fmt"
	"strings"
)

func (g *generator) statement() *node {
	deep := g.depth > 5
	for {
		switch g.IntN(26) {
		case 0, 1, 2, 3:
			return g.local()
		case 4, 5, 6:
			return g.assignment()
		case 7, 8, 9:
			return tree(statement, "P(", g.list(anything, 0, 4), ")")
		case 10:
			return tree(statement, g.callStatement())
		}
		if deep {
			continue
		}
		switch g.IntN(16) {
		case 0, 1:
			return g.condition()
		case 2, 3:
			return g.loop()
		case 4:
			return tree(statement, "do\n", g.inner(), "end")
		case 5, 6:
			return g.localFunction()
		case 7, 8:
			return g.protectedCall()
		case 9, 10:
			return g.coroutineStatement()
		case 11:
			name := g.name()
			v := g.value(object)
			g.declare(name, object)
			return tree(statement, "local "+name+" = ", v)
		case 12:
			return g.large()
		case 13:
			return g.tableStatement()
		case 14:
			if g.loops > 0 {
				return tree(statement, "if ", g.value(boolean), " then break end")
			}
		case 15:
			if g.chance(4) {
				return tree(statement, "do return ", g.list(anything, 0, 2), " end")
			}
		}
	}
}

func (g *generator) callStatement() *node {
	if o := g.variable(object); o != "" && g.chance(2) {
		v := g.isolated(func() *node { return g.value(anything) })
		return tree(statement, "try(function() "+o+"."+g.pick("f", "new", "g")+" = ", v, " end)")
	}
	if f := g.variable(callable); f != "" {
		return tree(statement, f+"(", g.list(anything, 0, 3), ")")
	}
	return tree(statement, "P(", g.several(), ")")
}

// local declares one variable of a kind, or several of any.
func (g *generator) local() *node {
	if g.chance(4) {
		names := []string{g.name(), g.name()}
		if g.chance(2) {
			names = append(names, g.name())
		}
		n := tree(statement, "local "+strings.Join(names, ", ")+" = ", g.list(anything, 1, 3))
		if g.chance(3) {
			n = tree(statement, "local "+strings.Join(names, ", ")+" = ", g.several())
		}
		for _, name := range names {
			g.declare(name, anything)
		}
		return n
	}
	kind := g.pick(number, number, text, text, boolean, list, anything, callable)
	v := g.value(kind)
	if kind == text {
		v = tree(value, "cut(", v, ")")
	}
	name := g.name()
	if kind != callable && kind != object && g.chance(12) { // shadows
		for _, old := range g.vars {
			if old.kind == kind {
				name = old.name
			}
		}
	}
	g.declare(name, kind)
	return tree(statement, "local "+name+" = ", v)
}

func (g *generator) assignment() *node {
	kind := g.pick(number, number, text, text, boolean, anything, anything, list)
	a := g.variable(kind)
	if a == "" {
		return g.local()
	}
	v := func() *node {
		if kind == text {
			return tree(value, "cut(", g.value(kind), ")")
		}
		return g.value(kind)
	}
	b := g.variable(kind)
	switch {
	case b != "" && g.chance(3):
		return tree(statement, a+", "+b+" = ", v(), ", ", v())
	case kind == anything && b != "" && g.chance(3):
		return tree(statement, a+", "+b+" = ", g.several())
	case kind == text && g.chance(2):
		return tree(statement, a+" = cut(("+a+":gsub(", g.pattern()+", ", g.replacement(), ")))")
	case kind == list && g.chance(2):
		return tree(statement, a+"[#"+a+" + 1] = ", g.value(number))
	}
	return tree(statement, a+" = ", v())
}

func (g *generator) tableStatement() *node {
	name := g.name()
	l := g.variable(list)
	if l == "" {
		return g.local()
	}
	switch g.IntN(7) {
	case 0:
		return tree(statement, "table.insert("+l+", ", g.value(number), ")")
	case 1:
		return tree(statement, "P(table.remove("+l+"))")
	case 2:
		return tree(statement, "try(table.sort, "+l+g.pick("", ", function(a, b) return a > b end", ", function(a, b) return a % 10 < b % 10 end",
			", function(a, b) return true end", `, function(a, b) error("cmp") end`)+") P(unpack("+l+"))")
	case 3:
		return tree(statement, "for i, v in ipairs("+l+") do if i > 4 then break end P(i, v) end")
	case 4:
		n := tree(statement, "local "+name+" = ", g.table(), " P(keys("+name+"))")
		g.declare(name, anything)
		return n
	case 5:
		return tree(statement, "try(table.concat, "+l+", "+g.pick(`","`, "nil", "1", `"", 2`, `"", 1, 9`)+")")
	}
	n := tree(statement, "local "+name+" = {", g.list(number, 1, 3), "} "+name+"[1], "+name+"[2] = "+name+"[2] or 8, ", g.value(number),
		" P("+name+"[1], "+name+"[2])")
	return n
}

func (g *generator) condition() *node {
	n := tree(statement, "if ", g.value(g.pick(boolean, anything)), " then\n", g.inner())
	for range g.IntN(3) {
		n.kids = append(n.kids, tree(token, "elseif ", g.value(boolean), " then\n", g.inner()))
	}
	if g.chance(2) {
		n.kids = append(n.kids, tree(token, "else\n", g.inner()))
	}
	n.kids = append(n.kids, leaf("end"))
	return n
}

func (g *generator) loop() *node {
	g.loops++
	defer func() { g.loops-- }()
	i := g.name()
	with := func(vars ...variable) *node {
		return g.scoped(func() *node {
			g.vars = append(g.vars, vars...)
			return g.inner()
		})
	}
	switch g.IntN(7) {
	case 0:
		return tree(statement, "for "+i+" = 1, "+g.pick("2", "3", "4")+" do\n", with(variable{i, number}), "end")
	case 1:
		return tree(statement, "do local guard = 0 for "+i+" = ", g.value(number), ", ", g.value(number), ", ", g.value(number),
			" do guard = guard + 1 if guard > 4 then break end\n", with(variable{i, number}), "end end")
	case 2:
		return tree(statement, "do local "+i+" = 1 while "+i+" < 4 and ", g.value(boolean), " do "+i+" = "+i+" + 1\n", with(), "end end")
	case 3:
		last := g.name()
		return tree(statement, "do local "+i+" = 1 repeat "+i+" = "+i+" + 1\n", with(), "local "+last+" = ", g.value(boolean), " until "+i+" > 3 or "+last+" end")
	case 4:
		v := g.name()
		return tree(statement, "for "+i+", "+v+" in ipairs({", g.list(number, 0, 4), "}) do\n", with(variable{i, number}, variable{v, number}), "end")
	case 5:
		v := g.name()
		return tree(statement, "for "+v+" in string.gmatch(cut(", g.value(text), "), "+g.pick(`"%w+"`, `"."`, `"%d*"`, `"(%a)"`)+") do\n", with(variable{v, text}), "end")
	}
	v := g.name()
	item := g.isolated(func() *node { return g.value(anything) })
	f := tree(value, "function(state, last) tick() last = last + 1 if last > "+g.pick("1", "3")+" then return nil end return last, ", item, " end")
	return tree(statement, "for "+i+", "+v+" in ", f, ", ", g.value(anything), ", zero do\n", with(variable{i, number}, variable{v, anything}), "end")
}

func (g *generator) localFunction() *node {
	name := g.name()
	params := g.params()
	if g.chance(3) { // recursive
		n := g.name()
		f := g.function("if not tonumber("+n+") or tonumber("+n+") < 1 then return "+n+" end P("+name+"("+n+" - "+g.pick("1", "2")+"))",
			append([]variable{{n, anything}}, params...)...)
		g.declare(name, callable)
		return tree(statement, "local function "+name, f)
	}
	f := g.function("", params...)
	g.declare(name, callable)
	if g.chance(3) {
		return tree(statement, "local "+name+" = function", f)
	}
	return tree(statement, "local function "+name, f)
}

func (g *generator) protectedCall() *node {
	body := g.isolated(func() *node {
		if g.chance(2) {
			return g.function("")
		}
		g.vararg = true
		return tree(token, "(...)\ntick()\n", g.scoped(func() *node { return g.block(1 + g.IntN(3)) }), "return ", g.risky(), "\nend")
	})
	switch g.IntN(4) {
	case 0:
		return tree(statement, "P(xpcall(function", body, ", function(e) return ", g.pick("e", "S(e) .. \"!\"", "nil"), " end))")
	case 1:
		name := g.name()
		n := tree(statement, "local "+name+", "+name+"e = pcall(function", body, ")")
		g.declare(name, boolean)
		g.declare(name+"e", anything)
		return n
	}
	return tree(statement, "P(pcall(function", body, g.pick("", ", 1", `, "x", 2`), "))")
}

func (g *generator) coroutineStatement() *node {
	coroutine, vararg, loops := g.coroutine, g.vararg, g.loops
	g.coroutine, g.vararg, g.loops = true, true, 0
	body := g.block(2 + g.IntN(4))
	end := tree(statement, g.pick("return ", "return ", ""), g.several())
	if len(end.kids[0].text) == 0 {
		end = tree(statement, "return coroutine.yield(", g.list(anything, 0, 2), ")")
	}
	g.coroutine, g.vararg, g.loops = coroutine, vararg, loops
	f := tree(token, "function(...)\ntick()\n", body, end, "\nend")
	co := g.name()
	if g.chance(3) {
		return tree(statement, "do local guard = 0 for "+co+", more in coroutine.wrap(", f, ") do guard = guard + 1 P("+co+", more) if guard > 3 then break end end end")
	}
	if g.chance(3) {
		return tree(statement, "local "+co+" = coroutine.wrap(", f, ") try("+co+", ", g.value(anything), ") try("+co+") P(pcall("+co+", 1, 2))")
	}
	return tree(statement, "local "+co+" = coroutine.create(", f, ") for i = 1, 4 do P(coroutine.resume("+co+", i, ", g.value(anything),
		")) P(coroutine.status("+co+")) end")
}

// large is something that fills a table of the compiler.
func (g *generator) large() *node {
	if !g.chance(6) {
		return g.local()
	}
	var b strings.Builder
	n := 20 + g.IntN(150)
	switch g.IntN(9) {
	case 0:
		// In a function of its own: after 256 constants % and ^ name no operand in errors.
		name := g.name()
		b.WriteString("P(pcall(function() local " + name + " = {")
		for i := range n * 8 {
			fmt.Fprintf(&b, "%d,", i)
		}
		b.WriteString("P()} P(#" + name + ", " + name + "[50], " + name + "[" + fmt.Sprint(n) + "]) end))")
	case 1:
		b.WriteString("P(" + strings.Repeat("(", n) + "1" + strings.Repeat(")", n) + ")")
	case 2:
		b.WriteString("P(")
		for i := range n {
			fmt.Fprintf(&b, "%d .. ", i)
		}
		b.WriteString(`"")`)
	case 3:
		b.WriteString("do ")
		for i := range n / 2 {
			fmt.Fprintf(&b, "local l%d = %d ", i, i)
		}
		fmt.Fprintf(&b, "P(l1 + l%d, (function() return l0 + l5 end)()) end", n/2-1)
	case 4:
		b.WriteString("P(select(" + fmt.Sprint(n) + ", ")
		for i := range n {
			fmt.Fprintf(&b, "%d, ", i)
		}
		b.WriteString(`"last"))`)
	case 5:
		b.WriteString("P(pcall(function() local t = {} ")
		for i := range n * 3 {
			fmt.Fprintf(&b, "t.k%d = \"v%d\" ", i, i)
		}
		b.WriteString("P(t.k7, t.k" + fmt.Sprint(n*3-1) + ") end))")
	case 6:
		b.WriteString("do local v = 7 if v == 0 then P(0)")
		for i := range n {
			fmt.Fprintf(&b, " elseif v == %d.5 then P(%d)", i, i)
		}
		b.WriteString(" else P(\"none\") end end")
	case 7:
		b.WriteString("P(" + strings.Repeat("(function() return ", n/10) + "1" + strings.Repeat(" end)()", n/10) + ")")
	default:
		b.WriteString("P(" + strings.Repeat("{", n/2) + strings.Repeat("}", n/2) + " ~= nil, " + strings.Repeat("- - ", n/4) + "zero)")
	}
	return tree(statement, b.String())
}
