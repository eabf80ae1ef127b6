// Package table has what the engine's tables do slower than Lua's, by more than a factor: it changes the engine's #
// and gives the next key itself. What is left: a list with gaps has room for them, up to an index of 262,143.
package table

import (
	"unsafe"

	lua "github.com/yuin/gopher-lua"
)

// maxArray is the lowest index that a table keeps in its hash part: a value at a high
// index, such as a date as a number, would otherwise allocate all slots before it. What a
// longer list has beyond is slower to reach, and counted: see Length.
const maxArray = 1 << 18

// jumpTable holds what the virtual machine does for each instruction.
//
//go:linkname jumpTable github.com/yuin/gopher-lua.jumpTable
var jumpTable [lua.OP_NOP + 1]func(*lua.LState, uint32, unsafe.Pointer) int

// The engine's # goes backwards over what was removed from the end, each time again, and
// counts nothing outside of the array.
func init() {
	lua.MaxArrayIndex = maxArray
	length := jumpTable[lua.OP_LEN]
	jumpTable[lua.OP_LEN] = func(L *lua.LState, inst uint32, frame unsafe.Pointer) int {
		t, ok := L.Get(int(inst&0x1ff) + 1).(*lua.LTable)
		if !ok || !fieldsOf(t).shrink() {
			return length(L, inst, frame)
		}
		length(L, inst, frame)
		if result := int(inst>>18)&0xff + 1; L.Get(result) == lua.LNumber(lua.MaxArrayIndex-1) {
			L.Replace(result, lua.LNumber(Length(t)))
		}
		return 0
	}
}

// fields mirrors the fields of the engine's table.
type fields struct {
	metatable lua.LValue
	array     []lua.LValue
	dict      map[lua.LValue]lua.LValue
	strdict   map[string]lua.LValue
	keys      []lua.LValue // of the hash part, those without a value too
	k2i       map[lua.LValue]int
}

func fieldsOf(t *lua.LTable) *fields { return (*fields)(unsafe.Pointer(t)) }

// Slots returns how many values a table has room for: in its array, and by key.
func Slots(t *lua.LTable) (array, keys int) {
	f := fieldsOf(t)
	return cap(f.array), len(f.keys)
}

// shrink ends the array at its last value. It reports whether the array is full, so that
// the list may go on in the hash part.
func (f *fields) shrink() (full bool) {
	n := len(f.array)
	for n > 0 && f.array[n-1] == lua.LNil {
		n--
	}
	f.array = f.array[:n]
	return n >= lua.MaxArrayIndex-1
}

// Length returns what # does for a table: a border of it.
func Length(t *lua.LTable) int {
	f := fieldsOf(t)
	full := f.shrink()
	low := len(f.array)
	if !full || Element(t, low+1) == lua.LNil {
		return low
	}
	high := 2 * low
	for Element(t, high) != lua.LNil {
		low, high = high, 2*high
	}
	for high-low > 1 {
		if middle := (low + high) / 2; Element(t, middle) == lua.LNil {
			high = middle
		} else {
			low = middle
		}
	}
	return low
}

// Element returns the value at an index, also at one outside the array.
func Element(t *lua.LTable, i int) lua.LValue {
	if i >= 1 && i < lua.MaxArrayIndex {
		return t.RawGetInt(i)
	}
	return t.RawGetH(lua.LNumber(i))
}

// Next returns the key after another, and its value: the first one after nil. The key is in the table, or was when a
// loop came to it.
func Next(t *lua.LTable, key lua.LValue) (lua.LValue, lua.LValue) {
	f := fieldsOf(t)
	if key == lua.LNil {
		f.dropRemoved()
	} else if n, ok := index(key); ok && n > len(f.array) {
		key = lua.LNumber(len(f.array)) // the array has shrunk since
		if len(f.array) == 0 {
			key = lua.LNil
		}
	}
	return t.Next(key)
}

// Had reports whether a key has a value in a table, or had one: a loop may remove what it
// has come to.
func Had(t *lua.LTable, key lua.LValue) bool {
	f := fieldsOf(t)
	if n, ok := index(key); ok {
		return n <= cap(f.array)
	}
	_, ok := f.k2i[key]
	return ok || len(f.keys) > 0 && t.RawGetH(f.keys[0]) == lua.LNil // see dropRemoved
}

// index returns a key as an index of the array part.
func index(key lua.LValue) (int, bool) {
	n, ok := key.(lua.LNumber)
	return int(n), ok && n >= 1 && n < lua.LNumber(lua.MaxArrayIndex) && n == lua.LNumber(int(n))
}

// dropRemoved forgets keys at the beginning of the hash part that have no value any more, which a loop that takes the
// first key of a table, again and again, would all go over. One of them stays: the engine continues after the first
// key that follows an unknown one.
func (f *fields) dropRemoved() {
	if f.shrink(); len(f.array) > 0 {
		return
	}
	n := 0
	for n < len(f.keys) && f.value(f.keys[n]) == nil {
		n++
	}
	if n < 32 || n < len(f.keys)/n {
		return
	}
	f.keys = append([]lua.LValue(nil), f.keys[n-1:]...)
	f.k2i = make(map[lua.LValue]int, len(f.keys))
	for i, key := range f.keys {
		f.k2i[key] = i
	}
}

func (f *fields) value(key lua.LValue) lua.LValue {
	if s, ok := key.(lua.LString); ok {
		return f.strdict[string(s)]
	}
	return f.dict[key]
}
