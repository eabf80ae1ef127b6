package repl

import (
	"strings"
	"testing"

	"transect/runtime/complete"
)

func TestClassify(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]kind{
		"":                                blank,
		"  \n\t":                          blank,
		"-- note":                         blank,
		"--[[ note ]]":                    blank,
		"1 + 1":                           expression,
		"x":                               expression,
		"f()":                             expression,
		"f{ a = 1 }":                      expression,
		"a, b":                            expression,
		"#t":                              expression,
		"function(x) return x end":        expression,
		"x -- note":                       expression,
		"'a' .. \"b\"":                    expression,
		"[[a\nb]]":                        expression,
		"x = 1":                           statement,
		"local x = 1":                     statement,
		"return 1":                        statement,
		"return":                          statement,
		"for i = 1, 2 do print(i) end":    statement,
		"f() g()":                         statement,
		"function f() end":                statement,
		"1 +":                             unfinished,
		"f(":                              unfinished,
		"f{ a = 1,":                       unfinished,
		"x =":                             unfinished,
		"if x then":                       unfinished,
		"for i = 1, 2 do\n  print(i)":     unfinished,
		"local function f(a,":             unfinished,
		"repeat x = 1":                    unfinished,
		"t = { 1,\n  { 2 }":               unfinished,
		"return {":                        unfinished,
		"a and":                           unfinished,
		"x = [[ text":                     unfinished,
		"--[[ note":                       unfinished,
		"'goes on \\":                     unfinished,
		"'open":                           wrong,
		"\"open":                          wrong,
		"x = = 1":                         wrong,
		"end":                             wrong,
		"f())":                            wrong,
		"x y":                             wrong,
		"if if":                           wrong,
		"local 1 = x":                     wrong,
		"'goes on \\\nand ends'":          expression,
		"if x then\n  y = 1\nelse":        unfinished,
		"if x then\n  y = 1\nelse\nend":   statement,
		"projects.search{ filter = { a =": unfinished,
	} {
		if got := classify(text); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}

// Whatever is typed, it is classified, and what is whole is not unfinished
// once more when a line end follows.
func FuzzClassify(f *testing.F) {
	for _, seed := range []string{"x = 1", "f(", "[[", "--[[", "'\\", "return", "=", "\x00", "if then", "(((("} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if k := classify(text); k == statement && classify(text+"\n") != k {
			t.Errorf("%q: another line end makes it %d", text, classify(text+"\n"))
		}
		complete.Scan(text)
		secret(text)
		entriesOf(text)
	})
}

// Only a name that stands for itself may be a module that was not required.
func TestIdentifiersOf(t *testing.T) {
	t.Parallel()
	got := strings.Join(identifiersOf(`sdk.projects.search{ x = a.json } .. b:csv(sdk) -- path`), " ")
	if want := "sdk x a b"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
