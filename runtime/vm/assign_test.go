package vm_test

import (
	"testing"

	"transect/runtime/vm"
)

// All values of an assignment are read before the first variable changes.
func TestAssignmentsToSeveralVariables(t *testing.T) {
	for name, code := range map[string]string{
		"swap":              `local a, b = 1, 2; a, b = b, a; assert(a == 2 and b == 1)`,
		"rotate":            `local a, b, c = 1, 2, 3; a, b, c = b, c, a; assert(a == 2 and b == 3 and c == 1)`,
		"nil first":         `local a, b = 1, 2; a, b = nil, a; assert(a == nil and b == 1)`,
		"with an operation": `local a, b = 1, 2; a, b = b + 1, a * 10; assert(a == 3 and b == 10)`,
		"with a call":       `local function f(x) return x * 10 end; local a, b = 1, 2; a, b = f(b), a; assert(a == 20 and b == 1)`,
		"a call last":       `local function f() return 7, 8 end; local a, b, c = 1, 2, 3; a, b, c = b, f(); assert(a == 2 and b == 7 and c == 8)`,
		"too few":           `local a, b = 1, 2; a, b = b; assert(a == 2 and b == nil)`,
		"too many":          `local a, b = 1, 2; a, b = b, a, 3; assert(a == 2 and b == 1)`,
		"an upvalue":        `local a, b = 1, 2; (function() a, b = b, a end)(); assert(a == 2 and b == 1)`,
		"globals":           `x, y = 1, 2; x, y = y, x; assert(x == 2 and y == 1)`,
		"fields":            `local t = { 1, 2 }; t[1], t[2] = t[2], t[1]; assert(t[1] == 2 and t[2] == 1)`,
		"field and local":   `local t, i = { 1 }, 5; t[1], i = i, t[1]; assert(t[1] == 5 and i == 1)`,
		"varargs":           `local function f(...) local a, b = 0, 9; a, b = b, ...; return a, b end; local a, b = f(4); assert(a == 9 and b == 4)`,
		"in a loop":         `local a, b = 0, 1; for _ = 1, 10 do a, b = b, a + b end; assert(a == 55)`,
		"index and local":   `local i, t = 1, {}; i, t[i] = i + 1, 20; assert(i == 2 and t[1] == 20)`,
		"table and local":   `local a, i, b = { "a", "b" }, 1; b = a; i, a[i], a = 2, i, i; assert(i == 2 and b[1] == 1 and a == 1)`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := interp(t, vm.Options{}).RunString("assign", code); err != nil {
				t.Error(err)
			}
		})
	}
}
