package stdlib_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/luastd"
	"transect/runtime/module"
	"transect/runtime/vm"
	"transect/stdlib"
)

func stateEnv(dir string) func(string) (string, bool) {
	return func(n string) (string, bool) { return dir, n == "TRANSECT_STATE_DIR" }
}

func TestStateOutlivesTheRun(t *testing.T) {
	dir, at := filepath.Join(t.TempDir(), "state"), time.Unix(1000, 0)
	opt := vm.Options{Env: stateEnv(dir), Script: "a.lua", Dir: t.TempDir(), Now: func() time.Time { return at }}
	step := func(code string) {
		t.Helper()
		if _, _, err := run(t, opt, `local state, json = require("state"), require("json"); `+code); err != nil {
			t.Error(err)
		}
	}
	step(`state.set("v", { a = { 1, "x", true }, none = json.null }); state.set("short", 1, { ttl = 10 }); state.set("%", 1); state.set("e", {})`)
	step(`assert(state.get("v").a[3] == true and state.get("short") == 1 and json.encode(state.keys("%")) == '["%"]')
		assert(state.increment("short") == 2)
		local _, e = try(state.increment, "v"); assert(e.name == "TypeError", tostring(e))
		local _, e = try(state.set, "f", print); assert(e.name == "ParameterError", tostring(e))
		local _, e = try(state.set, "f", 1, { ttl = 0 }); assert(e.name == "ParameterError", tostring(e))
		local _, e = try(state.update, "v", function(v) v.a = nil; error("no") end); assert(state.get("v").a)
		assert(state.update("v", function() return nil end) == nil and state.get("v", 5) == 5)`)
	at = at.Add(11 * time.Second)
	step(`assert(state.get("short") == nil and state.increment("short") == 1 and #state.keys() == 3)
		state.set("e", nil); local n = 0; for k, v in state.each() do n = n + 1; state.delete("short") end; assert(n == 1, n)
		assert(state.clear() == 1 and state.clear() == 0)`)
	opt.Script = "b.lua"
	step(`assert(#state.keys() == 0)`)
	if info, err := os.Stat(filepath.Join(dir, "state.db")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
}

func TestStateOfRunsAtOnce(t *testing.T) {
	env := stateEnv(t.TempDir())
	const runs, times = 4, 40
	var wait sync.WaitGroup
	for range runs {
		wait.Go(func() {
			in := luastd.New(context.Background(), vm.Options{Env: env})
			defer in.Close()
			module.Preload(in, stdlib.Modules()...)
			_, err := in.RunString("t", `local s = require("state").open("shared")
				for i = 1, 40 do s:increment("n"); s:update("list", function(l) l = l or {}; l[#l + 1] = i; return l end) end`)
			if err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	in := luastd.New(context.Background(), vm.Options{Env: env})
	defer in.Close()
	module.Preload(in, stdlib.Modules()...)
	values, err := in.RunString("t", `local s = require("state").open("shared"); return s:get("n"), #s:get("list")`)
	if err != nil || values[0] != lua.LNumber(runs*times) || values[1] != lua.LNumber(runs*times) {
		t.Error(values, err)
	}
}

func TestDamagedStateIsNeverEmpty(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state.db")
	opt := vm.Options{Env: stateEnv(dir)}
	if _, _, err := run(t, opt, `for i = 1, 500 do require("state").set("k" .. i, ("x"):rep(500)) end`); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	torn := append([]byte(nil), whole...)
	for i := 4096; i < len(torn); i++ {
		torn[i] = 0xff
	}
	for name, text := range map[string][]byte{"other file": []byte("not a database at all"), "torn": torn, "cut": []byte("SQL")} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, code := range []string{`require("state").get("k1")`, `require("state").keys()`, `require("state").set("k1", 1)`} {
			_, _, err := run(t, opt, code)
			f := fault.Find(err)
			if f == nil || f.Name() != "FileError" || !strings.Contains(err.Error(), path) || !strings.Contains(f.Facts().Hint, "move it away") {
				t.Errorf("%s, %s: %v", name, code, err)
			}
		}
		if left, _ := os.ReadFile(path); string(left) != string(text) {
			t.Errorf("%s: the file was changed", name)
		}
	}
}
