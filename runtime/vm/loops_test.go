package vm_test

import (
	"slices"
	"testing"

	"transect/runtime/vm"
)

// A loop whose body begins with a jump ends, and the code before it does not run
// again.
func TestLoopsThatBeginWithAJump(t *testing.T) {
	for name, code := range map[string]string{
		"for, break":                   `for n in pairs({ 1, 2 }) do break end`,
		"while true, break":            `while true do break end`,
		"repeat, break":                `repeat break until false`,
		"a block, break":               `for n in pairs({ 1, 2 }) do do break end end`,
		"goto":                         `for n in pairs({ 1, 2 }) do goto on; ::on:: end`,
		"a label, break":               `while true do ::again:: break end`,
		"back to a label":              `local k = 0; ::top:: while true do break end; k = k + 1; if k < 3 then goto top end; assert(k == 3)`,
		"if false":                     `local k = 0; while true do if false then k = 9 end; k = k + 1; if k == 3 then break end end; assert(k == 3)`,
		"if true, break":               `while true do if true then break end end`,
		"while false":                  `local k = 0; for n in pairs({ 1, 2 }) do while false do k = 9 end; k = k + 1 end; assert(k == 2)`,
		"loops within":                 `local k = 0; for n in pairs({ 1, 2 }) do for m in pairs({ 1, 2 }) do break end; k = k + 1 end; assert(k == 2)`,
		"a closure of the loop":        `local f; for n in pairs({ 7 }) do if n then f = function() return n end; break end end; assert(f() == 1)`,
		"return":                       `local function f() for n in pairs({ 1, 2 }) do return n end end; assert(f() == 1)`,
		"a local behind a break":       `for n in pairs({ 1 }) do if n == 5 then break end; local k = n; assert(k == 1) end`,
		"a constant and":               `local k = 0; while true do local a = false and 1; k = k + 1; if k == 3 then break end end; assert(k == 3)`,
		"a constant or":                `local k = 0; while true do local a = nil or true; k = k + 1; if k == 3 then break end end; assert(k == 3)`,
		"a call of a constant":         `local k = 0; while true do tostring(true and 5); k = k + 1; if k == 3 then break end end; assert(k == 3)`,
		"an assignment":                `local k, a = 0; while true do a = true and 5; k = k + 1; if k == 3 then break end end; assert(k == 3 and a == 5)`,
		"a comparison":                 `local k, a = 0; while true do a = k == 2; k = k + 1; if a then break end end; assert(k == 3)`,
		"a label before a constant or": `local k = 0; ::top:: local a = nil or k; k = k + 1; if k < 3 then goto top end; assert(k == 3)`,
	} {
		t.Run(name, func(t *testing.T) {
			in := interp(t, vm.Options{Limits: vm.Limits{Instructions: 100_000}})
			if _, err := in.RunString("loop", `before = (before or 0) + 1; assert(before == 1, "it ran again"); for n in pairs({ 1 }) do before = before + 1 end
				`+code+`; assert(before == 2, "it ran again")`); err != nil {
				t.Error(err)
			}
		})
	}
}

// The lines of code are those the compiler makes something of: the end of a loop
// without a condition is where it starts over.
func TestLinesOfLoopsThatBeginWithAJump(t *testing.T) {
	got := vm.Lines("x", []byte("if a then\n  b()\nend\nwhile true do\n  break\nend\n"))
	if want := []int{1, 2, 5, 6}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
