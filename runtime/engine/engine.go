// Package engine is the room of what Transect repairs in gopher-lua, its Lua engine: what the engine does otherwise
// than Lua 5.1, unsafely or slowly. docs/engine.md lists each repair with the test that needs it.
//
// Its packages import the engine and nothing of Transect: compile is a code generator in place of the engine's,
// number reads and writes numbers, pattern matches Lua patterns, table mends tables, thread
// reads stacks. Repairs that need the lock,
// the limits and the errors of the interpreter are in runtime/vm, and functions of Lua's libraries in runtime/luastd.
package engine
