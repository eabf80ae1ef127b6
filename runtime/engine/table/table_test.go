package table

import (
	"reflect"
	"strconv"
	"testing"
	"time"

	lua "github.com/yuin/gopher-lua"
	"pgregory.net/rapid"
)

// What is read of the engine's tables is where the engine has it.
func TestFields(t *testing.T) {
	theirs, ours := reflect.TypeFor[lua.LTable](), reflect.TypeFor[fields]()
	if theirs.NumField() != ours.NumField() || theirs.Size() != ours.Size() {
		t.Fatalf("the engine's table is %v", theirs)
	}
	for i := range ours.NumField() {
		o, e := ours.Field(i), theirs.Field(i)
		if o.Offset != e.Offset || o.Type != e.Type || i > 0 && o.Name != e.Name {
			t.Errorf("the field %v of the engine is %v", o, e)
		}
	}
}

// Whatever is done to a table, # is a border of it, and a loop over it comes to each key
// that it had and has, once, also when it removes keys on the way.
func TestTables(t *testing.T) {
	most := lua.MaxArrayIndex
	defer func() { lua.MaxArrayIndex = most }()
	lua.MaxArrayIndex = 24 // also the part of a list that is not in the array is tried
	L := lua.NewState()
	defer L.Close()
	key := rapid.Custom(func(t *rapid.T) lua.LValue {
		if rapid.IntRange(0, 2).Draw(t, "kind") > 0 {
			return lua.LNumber(rapid.IntRange(-1, 40).Draw(t, "index"))
		}
		return lua.LString(rapid.StringN(1, 2, 2).Draw(t, "name"))
	})
	rapid.Check(t, func(t *rapid.T) {
		list, want := L.NewTable(), map[lua.LValue]lua.LValue{}
		set := func(k, v lua.LValue) {
			if list.RawSet(k, v); v == lua.LNil {
				delete(want, k)
			} else {
				want[k] = v
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"set":    func(t *rapid.T) { set(key.Draw(t, "key"), lua.LTrue) },
			"remove": func(t *rapid.T) { set(key.Draw(t, "key"), lua.LNil) },
			"append": func(t *rapid.T) {
				for range rapid.IntRange(1, 40).Draw(t, "n") {
					set(lua.LNumber(Length(list)+1), lua.LTrue)
				}
			},
			"fill": func(t *rapid.T) {
				for i := range rapid.IntRange(1, 90).Draw(t, "n") {
					set(lua.LString(rune('a'+i)), lua.LTrue)
				}
			},
			"shorten": func(t *rapid.T) {
				for range rapid.IntRange(1, 40).Draw(t, "n") {
					if n := Length(list); n > 0 {
						set(lua.LNumber(n), lua.LNil)
					}
				}
			},
			"take": func(t *rapid.T) {
				for range rapid.IntRange(1, 90).Draw(t, "n") {
					if k, _ := Next(list, lua.LNil); k != lua.LNil {
						set(k, lua.LNil)
					}
				}
			},
			"loop": func(t *rapid.T) {
				seen, left := map[lua.LValue]bool{}, len(want)
				every := rapid.IntRange(1, 4).Draw(t, "every")
				for k, v := Next(list, lua.LNil); k != lua.LNil; k, v = Next(list, k) {
					if seen[k] || v != want[k] {
						t.Fatalf("%v = %v, seen before: %t", k, v, seen[k])
					}
					seen[k] = true
					if len(seen)%every == 0 {
						set(k, lua.LNil)
						Length(list)
						Next(list, lua.LNil)
						if !Had(list, k) {
							t.Fatalf("%v is forgotten within the loop", k)
						}
					}
				}
				if len(seen) != left {
					t.Fatalf("%d of %d keys", len(seen), left)
				}
			},
			"": func(t *rapid.T) {
				n := Length(list)
				if n > 0 && want[lua.LNumber(n)] == nil || want[lua.LNumber(n+1)] != nil {
					t.Fatalf("# is %d", n)
				}
				for k, v := range want {
					if list.RawGet(k) != v {
						t.Fatalf("%v is %v", k, list.RawGet(k))
					}
					if i, ok := k.(lua.LNumber); ok && i > 0 && Element(list, int(i)) != v {
						t.Fatalf("element %v is %v", k, Element(list, int(i)))
					}
				}
			},
		})
	})
}

// A loop that takes the first key of a table until it is empty takes time in proportion to the keys.
func TestTakingTheFirstKeyIsLinear(t *testing.T) {
	L := lua.NewState()
	defer L.Close()
	list := L.NewTable()
	for i := range 40_000 {
		list.RawSetString(strconv.Itoa(i), lua.LTrue)
	}
	start := time.Now()
	for k, _ := Next(list, lua.LNil); k != lua.LNil; k, _ = Next(list, lua.LNil) {
		list.RawSet(k, lua.LNil)
	}
	if took := time.Since(start); took > 5*time.Second { // without dropRemoved it is most of a minute
		t.Errorf("it took %s", took)
	}
}

// A value at a high index, such as a date as a number, does not allocate the slots before it.
func TestHighIndexIsHashed(t *testing.T) {
	L := lua.NewState()
	defer L.Close()
	list := L.NewTable()
	list.RawSet(lua.LNumber(2_000_000), lua.LTrue)
	if n := cap(fieldsOf(list).array); n > 1000 {
		t.Errorf("it has %d slots", n)
	}
}
