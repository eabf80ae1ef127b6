package stdlib_test

import (
	"testing"

	"transect/runtime/vm"
)

// templateCases are after the examples of the Mustache specification
// (mustache/spec, sections interpolation, sections, inverted, partials,
// comments), with check(template, values, text, options).
var templateCases = map[string]string{
	"values": `
		check("Hello, {{subject}}!", { subject = "world" }, "Hello, world!")
		check("{{a.b.c}} == {{#a}}{{b.c}}{{/a}}", { a = { b = { c = 5 } } }, "5 == 5")
		check("| {{{ text }}} |{{& text}}|{{text}}|", { text = "<&\"'>" }, "| <&\"'> |<&\"'>|&lt;&amp;&#34;&#39;&gt;|", { escape = "html" })
		check('{"a": "{{text}}"}', { text = 'x"\n' }, '{"a": "x\\"\\n"}', { escape = "json" })
		check("?q={{text}}", { text = "a b&c" }, "?q=a+b%26c", { escape = "url" })
		check("{{n|%05.1f}}|{{n|%.0f%% of seasons}}|{{s|%-4s}}|", { n = 3.25, s = "x" }, "003.2|3% of seasons|x   |")
		check("{{list.2}}", { list = { "a", "b" } }, "b")
		check("{{nothing}}{{also}}", { also = json.null }, "", { missing = "empty" })`,
	"sections": `
		check("{{#list}}{{.}},{{/list}}", { list = { 1, 2, 3 } }, "1,2,3,")
		check("{{#list}}{{n}}{{/list}}{{^list}}none{{/list}}", { list = {} }, "none")
		check("{{#yes}}{{name}} {{/yes}}{{#no}}no{{/no}}{{^no}}not{{/no}}{{^gone}}, gone{{/gone}}", { yes = true, no = false, name = "x" }, "x not, gone")
		check("{{#a}}{{one}}{{#b}}{{one}}{{two}}{{#c}}{{one}}{{two}}{{three}}{{/c}}{{/b}}{{/a}}", { a = { one = 1 }, b = { two = 2 }, c = { three = 3 } }, "112123")
		check("{{#rows}}{{#.}}{{.}}{{/.}};{{/rows}}", { rows = { { 1, 2 }, { 3 } } }, "12;3;")
		local n = 0
		check("{{#next}}{{.}} {{/next}}", { next = function() n = n + 1; if n < 4 then return n end end }, "1 2 3 ")
		check("{{^next}}none{{/next}}", { next = function() end }, "none")`,
	"lines of a tag alone": `
		check("| This Is\n  {{#yes}}\n|\n  {{/yes}}\n| A Line", { yes = true }, "| This Is\n|\n| A Line")
		check("{{! head }}\nBegin.\n  {{!\n  two lines\n}}\nEnd.\n", {}, "Begin.\nEnd.\n")
		check("a {{#yes}} b {{/yes}} c\n", { yes = true }, "a  b  c\n")
		check("{{#list}}\r\n- {{.}}\r\n{{/list}}\r\n", { list = { 1, 2 } }, "- 1\r\n- 2\r\n")`,
	"partials": `
		check("{{#list}}{{> row}}{{/list}}", { list = { 1, 2 } }, "[1][2]", { partials = { row = "[{{.}}]" } })
		check("{{> node}}", { v = 1, sub = { { v = 2, sub = { { v = 3, sub = {} } } } } }, "1(2(3))", { partials = { node = "{{v}}{{#sub}}({{> node}}){{/sub}}" } })
		refused("KeyError", "no partial rwo (did you mean row?)", "{{> rwo}}", {}, { partials = { row = "" } })
		refused("LimitError", "more than 64", "{{> a}}", {}, { partials = { a = "{{> a}}" } })`,
	"mistakes have their line": `
		refused("KeyError", "line 2: {{nmae}} has no value (did you mean name?)", "\n{{nmae}}", { name = 1 })
		refused("ValueError", "line 3: {{#a}} has no {{/a}}", "\n\n{{#a}}\n", {})
		refused("ValueError", "line 2: found {{/b}} instead of {{/a}}, which closes line 1", "{{#a}}\nx{{/b}}", {})
		refused("ValueError", "{{/a}} closes a section that was not opened", "{{/a}}", {})
		refused("ValueError", "line 1: {{ has no }}", "{{a", {})
		refused("ValueError", '"a b" is not a name', "{{a b}}", {})
		refused("ValueError", "is not a format", "{{a|%.2y}}", {})
		refused("TypeError", "is a string, which %d cannot write", "{{a|%d}}", { a = "x" })
		refused("TypeError", "is a table", "{{a}}", { a = { 1 } })
		refused("ParameterError", "did you mean escape", "{{a}}", {}, { escpe = "html" })
		local ok, e = pcall(template.render, "{{#f}}x{{/f}}", { f = function() error("sensor") end }); assert(tostring(e):find("sensor"))`,
}

const templateStart = `local template, json = require("template"), require("json")
	local function check(text, values, want, options)
		local got = template.render(text, values, options); assert(got == want, "got " .. got)
		assert(template.compile(text, options):render(values) == want or text:find("next"))
	end
	local function refused(name, message, ...)
		local _, e = try(template.render, ...)
		assert(e and e.name == name and tostring(e):find(message, 1, true), tostring(e))
	end; `

func TestTemplate(t *testing.T) {
	for name, code := range templateCases {
		t.Run(name, func(t *testing.T) {
			if _, _, err := run(t, vm.Options{}, templateStart+code); err != nil {
				t.Error(err)
			}
		})
	}
}

func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{"{{a}}", "{{#a}}\n{{.}}{{/a}}", "{{{a}}}{{&a}}{{!x}}{{> p}}", "{{a|%.2f}}{{^b}}x{{/b}}", "{{", "}}{{#a}}{{/b}}"} {
		f.Add(seed)
	}
	in := opened(f, `local template = require("template")
		function check(text) return (try(template.render, text, { a = { 1, "x" }, b = false }, { partials = { p = "{{b}}" } })) end`)
	f.Fuzz(func(t *testing.T, text string) { in.call(t, "check", text) })
}
