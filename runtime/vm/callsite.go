package vm

import (
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/engine/compile"
	"transect/runtime/sandbox"
)

// CallSite returns the line that the running call comes from, "file:12": the innermost one outside of Transect's own
// modules; "" when no Lua code called.
func CallSite(L *lua.LState) string {
	in, first := Of(L), ""
	for ; L != nil; L = ownerOf(L) {
		for level := 0; ; level++ {
			if _, more := L.GetStack(level); !more {
				break
			}
			p, _ := placeAt(L, level) // none of a function that made a tail call
			at := strings.TrimSuffix(p.position(), ": ")
			switch {
			case at == "":
			case !in.comesWithTransect(p.fn.Proto.SourceName):
				return at
			case first == "":
				first = at
			}
		}
	}
	return first
}

// comesWithTransect reports whether a file is a module inside the program.
func (in *Interp) comesWithTransect(file string) bool {
	return strings.HasPrefix(file, "@") && file != in.opt.Script
}

// CalledByOwn reports whether the code that called the running function came with
// Transect, a ready script or a module of one.
func CalledByOwn(L *lua.LState) bool {
	p, ok := placeAt(L, 1)
	return ok && !p.fn.IsG && strings.HasPrefix(p.fn.Proto.SourceName, "@")
}

// used reports whether the caller of the running function uses what it returns.
func used(L *lua.LState) bool {
	caller, ok := placeAt(L, 1)
	if !ok || caller.fn.IsG {
		return true
	}
	at := compile.At(caller.fn.Proto, caller.pc)
	return at.Op != lua.OP_CALL || at.C != 1
}

// Happens reports whether something may happen outside of the platform. A plan notes it,
// and leaves it out.
func Happens(L *lua.LState, e sandbox.Effect) bool {
	in := Of(L)
	if !in.Seals() {
		return true
	}
	e.Answers = e.Answers && used(L)
	happens, err := in.Sandbox.Happens(Context(L), e)
	if err != nil {
		Raise(L, err)
	}
	return happens
}
