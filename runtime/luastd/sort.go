package luastd

import (
	lua "github.com/yuin/gopher-lua"

	"transect/runtime/engine/table"
	"transect/runtime/vm"
)

// sortTable implements table.sort. It makes the same comparisons as Lua 5.1, so that equal elements end in
// the same order and comparisons with side effects behave the same.
func sortTable(L *lua.LState) int {
	list := checkTable(L, 1)
	s := &sorter{L: L, list: list}
	if given(L, 2) {
		s.order = checkFunction(L, 2)
	}
	s.values = make([]lua.LValue, table.Length(list))
	for i := range s.values {
		s.values[i] = table.Element(list, i+1)
	}
	defer func() { // even if a comparison raises
		for i, v := range s.values {
			list.RawSetInt(i+1, v)
		}
	}()
	s.sort(0, len(s.values)-1)
	return 0
}

type sorter struct {
	L      *lua.LState
	list   *lua.LTable
	order  *lua.LFunction // nil: <
	values []lua.LValue
}

func (s *sorter) less(a, b lua.LValue) bool {
	vm.Work(s.L, 1)
	if s.order != nil {
		return isTrue(vm.Call(s.L, s.order, a, b))
	}
	return lessThan(s.L, a, b)
}

// at returns an element. An invalid order function leads past the ends.
func (s *sorter) at(i int) lua.LValue {
	if i < 0 || i >= len(s.values) {
		return table.Element(s.list, i+1)
	}
	return s.values[i]
}

func (s *sorter) set(i int, v lua.LValue) {
	if i < 0 || i >= len(s.values) {
		s.list.RawSetInt(i+1, v)
	} else {
		s.values[i] = v
	}
}

func (s *sorter) swap(i, j int) {
	a, b := s.at(i), s.at(j)
	s.set(i, b)
	s.set(j, a)
}

// swapIfLess swaps two elements when the second belongs before the first.
func (s *sorter) swapIfLess(i, j int) bool {
	less := s.less(s.at(j), s.at(i))
	if less {
		s.swap(i, j)
	}
	return less
}

// sort sorts the elements from low to high: quicksort around the median of the
// first, the middle and the last, the smaller part first.
func (s *sorter) sort(low, high int) {
	for low < high {
		s.swapIfLess(low, high)
		if high-low == 1 {
			return
		}
		middle := (low + high) / 2
		if !s.swapIfLess(low, middle) {
			s.swapIfLess(middle, high)
		}
		if high-low == 2 {
			return
		}
		at := s.partition(low, high, middle)
		if at-low < high-at {
			s.sort(low, at-1)
			low = at + 1
		} else {
			s.sort(at+1, high)
			high = at - 1
		}
	}
}

// partition moves elements less than the middle one before greater ones, and returns the middle one's new
// index.
func (s *sorter) partition(low, high, middle int) int {
	pivot := s.at(middle)
	s.swap(middle, high-1)
	i, j := low, high-1
	for {
		for i++; s.less(s.at(i), pivot); i++ {
			if i > high {
				s.invalid()
			}
		}
		for j--; s.less(pivot, s.at(j)); j-- {
			if j < low {
				s.invalid()
			}
		}
		if j < i {
			s.swap(high-1, i)
			return i
		}
		s.swap(i, j)
	}
}

func (s *sorter) invalid() { vm.RaiseText(s.L, "invalid order function for sorting") }

// lessThan returns a < b, with the errors of Lua 5.1.
func lessThan(L *lua.LState, a, b lua.LValue) bool {
	x, ok := a.(lua.LNumber)
	if y, both := b.(lua.LNumber); ok && both {
		return x < y
	}
	vm.Compared(L, a, b)
	kind, other := a.Type().String(), b.Type().String()
	switch {
	case kind != other:
		raiseBare(L, "attempt to compare "+kind+" with "+other)
	case kind != "string" && L.GetMetaField(a, "__lt") == lua.LNil:
		raiseBare(L, "attempt to compare two "+kind+" values")
	}
	return L.LessThan(a, b)
}
