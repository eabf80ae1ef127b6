package luastd

import (
	lua "github.com/yuin/gopher-lua"

	"transect/runtime/vm"
)

// costs states how much the functions of gopher-lua do in one call beyond an
// instruction, by what they get: text they go through, slots they move, values
// they put on the stack.
var costs = map[string]map[string]func(L *lua.LState) int{
	"_G": {
		"tonumber": func(L *lua.LState) int { return length(L, 1) / 8 },
		"rawequal": func(L *lua.LState) int { return min(length(L, 1), length(L, 2)) / 64 },
		"rawget":   func(L *lua.LState) int { return length(L, 2) / 64 },
		"rawset":   func(L *lua.LState) int { return length(L, 2) / 64 },
		"next":     func(L *lua.LState) int { return length(L, 2) / 64 },
		"select":   func(L *lua.LState) int { return L.GetTop() / 8 },
		"collectgarbage": func(L *lua.LState) int {
			if L.OptString(1, "collect") == "count" {
				return 20_000 // it stops the process for a moment
			}
			return 50_000
		},
	},
	"coroutine": {
		"create": func(*lua.LState) int { return 50 },
		"wrap":   func(*lua.LState) int { return 50 },
	},
	"debug": {
		"getinfo":   func(L *lua.LState) int { return stackDepth(L) / 8 },
		"traceback": func(L *lua.LState) int { n := stackDepth(L); return n * n / 16 }, // it counts from the top for each level
	},
	"os": {"date": func(L *lua.LState) int { return 4 * length(L, 1) }},
	"string": {
		"byte":    stringByteCost,
		"char":    func(L *lua.LState) int { return L.GetTop() / 4 },
		"lower":   func(L *lua.LState) int { vm.Grow(L, length(L, 1)); return 0 },
		"upper":   func(L *lua.LState) int { vm.Grow(L, length(L, 1)); return 0 },
		"reverse": func(L *lua.LState) int { vm.Grow(L, 2*length(L, 1)); return 0 },
	},
	"table": {
		"insert": func(L *lua.LState) int {
			if L.GetTop() < 3 {
				return 0
			}
			return moved(L)
		},
		"remove": moved,
		"getn":   slots,
		"maxn":   slots,
	},
}

// countWork makes those functions count what they do.
func countWork(L *lua.LState) {
	for library, functions := range costs {
		for name, cost := range functions {
			original, ok := L.GetField(L.GetGlobal(library), name).(*lua.LFunction)
			if !ok {
				continue
			}
			f := original.GFunction
			set(L, library, map[string]lua.LGFunction{name: func(L *lua.LState) int {
				if n := cost(L); n > 0 {
					vm.Work(L, n)
				}
				return f(L)
			}})
		}
	}
	pairs := L.GetGlobal("pairs").(*lua.LFunction)
	step := pairs.Upvalues[0].Value().(*lua.LFunction).GFunction
	pairs.Upvalues[0].SetValue(L.NewFunction(func(L *lua.LState) int {
		vm.Key(L, L.Get(2))
		return step(L)
	}))
}

// length is that of a text argument.
func length(L *lua.LState, arg int) int {
	text, _ := L.Get(arg).(lua.LString)
	return len(text)
}

// slots is the work of going through the array of a table.
func slots(L *lua.LState) int {
	t, ok := L.Get(1).(*lua.LTable)
	if !ok {
		return 0
	}
	return t.Len() / 16
}

// moved is the work of moving what comes after a position of a table.
func moved(L *lua.LState) int {
	t, ok := L.Get(1).(*lua.LTable)
	at, given := L.Get(2).(lua.LNumber)
	if !ok || !given {
		return 0
	}
	return max(t.Len()-int(at), 0) / 32
}

func stackDepth(L *lua.LState) (n int) {
	for {
		if _, ok := L.GetStack(n); !ok {
			return n
		}
		n += 64
	}
}

// stringByteCost also bounds the number of values, as Lua 5.1 does.
func stringByteCost(L *lua.LState) int {
	size := length(L, 1)
	offset := func(n int) int {
		if n < 0 {
			n += size + 1
		}
		return min(max(n, 0), size)
	}
	from := L.OptInt(2, 1)
	n := offset(L.OptInt(3, from)) - offset(from)
	if n >= maxUnpack {
		L.RaiseError("string slice too long")
	}
	return n / 4
}
