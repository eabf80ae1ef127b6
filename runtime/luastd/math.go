package luastd

import (
	"math"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/engine/number"
	"transect/runtime/vm"
)

func openMath(L *lua.LState) {
	functions := map[string]lua.LGFunction{
		"abs": func(L *lua.LState) int {
			return vm.Push(L, lua.LNumber(math.Abs(checkNumber(L, 1))))
		},
		"atan2":      ofTwo(math.Atan2),
		"fmod":       ofTwo(remainder),
		"pow":        ofTwo(math.Pow),
		"frexp":      frexp,
		"ldexp":      ldexp,
		"modf":       modf,
		"max":        extreme(func(a, b float64) bool { return a > b }),
		"min":        extreme(func(a, b float64) bool { return a < b }),
		"random":     random,
		"randomseed": randomSeed,
	}
	for name, f := range map[string]func(float64) float64{
		"acos": math.Acos, "asin": math.Asin, "atan": math.Atan, "ceil": math.Ceil, "cos": math.Cos, "cosh": math.Cosh,
		"deg": func(x float64) float64 { return x / (math.Pi / 180) },
		"exp": math.Exp, "floor": math.Floor, "log": math.Log, "log10": math.Log10,
		"rad": func(x float64) float64 { return x * (math.Pi / 180) },
		"sin": math.Sin, "sinh": math.Sinh, "sqrt": math.Sqrt, "tan": math.Tan, "tanh": math.Tanh,
	} {
		functions[name] = ofOne(f)
	}
	set(L, "math", functions)
	L.SetField(L.GetGlobal("math"), "mod", L.GetField(L.GetGlobal("math"), "fmod"))
	L.SetField(L.GetGlobal("math"), "huge", lua.LNumber(math.Inf(1)))
}

func ofOne(f func(float64) float64) lua.LGFunction {
	return func(L *lua.LState) int {
		x := checkNumber(L, 1)
		n := f(x)
		if math.IsNaN(n) {
			n = number.NaN(x)
		}
		return vm.Push(L, lua.LNumber(n))
	}
}

func remainder(x, y float64) float64 {
	n := math.Mod(x, y)
	if math.IsNaN(n) {
		n = number.NaN(x, y)
	}
	return n
}

func ofTwo(f func(x, y float64) float64) lua.LGFunction {
	return func(L *lua.LState) int {
		x := checkNumber(L, 1)
		return vm.Push(L, lua.LNumber(f(x, checkNumber(L, 2))))
	}
}

func frexp(L *lua.LState) int {
	fraction, exponent := math.Frexp(checkNumber(L, 1))
	return vm.Push(L, lua.LNumber(fraction), lua.LNumber(exponent))
}

func ldexp(L *lua.LState) int {
	fraction := checkNumber(L, 1)
	return vm.Push(L, lua.LNumber(math.Ldexp(fraction, checkInt(L, 2))))
}

func modf(L *lua.LState) int {
	n := checkNumber(L, 1)
	whole, fraction := math.Trunc(n), 0.0
	if !math.IsInf(n, 0) {
		fraction = n - whole
	}
	return vm.Push(L, lua.LNumber(whole), lua.LNumber(math.Copysign(fraction, n)))
}

// extreme implements max and min.
func extreme(better func(a, b float64) bool) lua.LGFunction {
	return func(L *lua.LState) int {
		best := checkNumber(L, 1)
		for i := 2; i <= L.GetTop(); i++ {
			if n := checkNumber(L, i); better(n, best) {
				best = n
			}
		}
		vm.Work(L, L.GetTop()/4)
		return vm.Push(L, lua.LNumber(best))
	}
}

// random implements math.random, with a separate source in each task.
func random(L *lua.LState) int {
	low, high := 1, 0
	switch L.GetTop() {
	case 0:
		return vm.Push(L, lua.LNumber(vm.Random(L).Float64()))
	case 1:
		high = checkLong(L, 1)
	case 2:
		low, high = checkLong(L, 1), checkInt(L, 2)
	default:
		vm.RaiseText(L, "wrong number of arguments")
	}
	if low > high || high-low < 0 || high-low >= vm.MaxExact {
		vm.ArgError(L, L.GetTop(), "interval is empty")
	}
	return vm.Push(L, lua.LNumber(float64(low)+float64(vm.Random(L).Int64N(int64(high-low)+1))))
}

// randomSeed implements math.randomseed for the calling task.
func randomSeed(L *lua.LState) int {
	vm.SeedRandom(L, math.Float64bits(checkNumber(L, 1)))
	return 0
}
