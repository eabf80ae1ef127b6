package vm_test

import (
	"testing"

	glua "github.com/yuin/gopher-lua"

	"transect/runtime/luastd"
	"transect/runtime/vm"
)

const tightLoop = `local n = 0; for i = 1, 1e6 do n = n + i % 7 end; return n`

func BenchmarkTightLoop(b *testing.B) {
	b.Run("clock", func(b *testing.B) {
		in := interp(b, vm.Options{})
		for b.Loop() {
			if _, err := in.RunString("loop", tightLoop); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("no context", func(b *testing.B) {
		L := glua.NewState()
		defer L.Close()
		for b.Loop() {
			if err := L.DoString(tightLoop); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		luastd.New(b.Context(), vm.Options{}).Close()
	}
}

func BenchmarkProtectedCall(b *testing.B) {
	in := interp(b, vm.Options{})
	for b.Loop() {
		if _, err := in.RunString("loop", `local f = function() end; for i = 1, 1000 do pcall(f) end`); err != nil {
			b.Fatal(err)
		}
	}
}
