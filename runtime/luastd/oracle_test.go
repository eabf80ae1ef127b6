package luastd_test

import (
	"os"
	"strconv"
	"testing"
	"time"

	"transect/testdata/luaoracle"
)

// TestRandomPrograms runs random programs by lua5.1 and by this interpreter.
// TRANSECT_LUA_PROGRAMS is how many, TRANSECT_LUA_SEED repeats a run.
func TestRandomPrograms(t *testing.T) {
	count, seed := 1000, uint64(time.Now().UnixNano())
	if n, err := strconv.Atoi(os.Getenv("TRANSECT_LUA_PROGRAMS")); err == nil {
		count = n
	}
	if n, err := strconv.ParseUint(os.Getenv("TRANSECT_LUA_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("%d programs of TRANSECT_LUA_SEED=%d", count, seed)
	const most = 10
	differ, tooLong := 0, 0
	const together = 500
	for first := 0; first < count && differ < most; first += together {
		programs := make([]string, min(together, count-first))
		for i := range programs {
			programs[i] = luaoracle.Generate(seed, uint64(first+i)).String()
		}
		want, err := luaoracle.Reference(t.TempDir(), luaoracle.Program, programs)
		if err != nil {
			t.Fatal(err)
		}
		for i, program := range programs {
			if want[i] == luaoracle.TooLong {
				tooLong++
				continue
			}
			got := luaoracle.Ours(t.TempDir(), luaoracle.Program, program)
			if luaoracle.Same(got) == luaoracle.Same(want[i]) || differ >= most {
				continue
			}
			differ++
			dir := t.TempDir()
			small := luaoracle.ShrinkDifference(dir, seed, uint64(first+i))
			reference, _ := luaoracle.Reference(dir, luaoracle.Program, []string{small})
			t.Errorf("program %d differs; the shortest that does:\n%s\nours: %s\nlua5.1: %s", first+i, small, luaoracle.Ours(dir, luaoracle.Program, small), reference)
		}
	}
	if tooLong > 1+count/10_000 {
		t.Errorf("%d programs run too long", tooLong)
	}
	t.Logf("%d programs differ, %d run too long to be compared", differ, tooLong)
}
