package luastd

import (
	"math"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/vm"
)

// random is math.random of Lua 5.1, with a source of its own in each task.
func random(L *lua.LState) int {
	low, high := 1.0, 0.0
	switch L.GetTop() {
	case 0:
		L.Push(lua.LNumber(vm.Random(L).Float64()))
		return 1
	case 1:
		high = float64(L.CheckNumber(1))
	default:
		low, high = float64(L.CheckNumber(1)), float64(L.CheckNumber(2))
	}
	low, high = math.Floor(low), math.Floor(high)
	if !(low <= high) || high-low >= vm.MaxExact {
		vm.Raise(L, fault.In("math.random", fault.Of(&fault.ParameterError{}, "there is no whole number from %g to %g", low, high)))
	}
	L.Push(lua.LNumber(low + float64(vm.Random(L).Int64N(int64(high-low)+1))))
	return 1
}

// randomSeed is math.randomseed, for the task that calls it.
func randomSeed(L *lua.LState) int {
	vm.SeedRandom(L, math.Float64bits(float64(L.CheckNumber(1))))
	return 0
}
