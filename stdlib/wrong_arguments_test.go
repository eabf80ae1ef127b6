package stdlib_test

import (
	"io"
	"strings"
	"testing"

	"transect/runtime/luastd"
	"transect/runtime/module"
	"transect/runtime/vm"
	"transect/stdlib"
)

// Whatever a script passes to a function, the error is one of the script.
func TestWrongArgumentsAreNoInternalErrors(t *testing.T) {
	in := luastd.New(t.Context(), vm.Options{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard,
		Dir: t.TempDir(), Progress: vm.ProgressQuiet, Env: func(string) (string, bool) { return "", false }})
	defer in.Close()
	module.Preload(in, stdlib.Modules()...)
	var names []string
	for _, m := range stdlib.Modules() {
		if m.Name != "script" && m.Name != "test" { // they end the script
			names = append(names, `"`+m.Name+`"`)
		}
	}
	code := "local modules = { " + strings.Join(names, ", ") + " }\n" + wrongArguments
	if _, err := in.RunString("wrong", code); err != nil {
		t.Error(vm.Failure(err).Err)
	}
}

const wrongArguments = `
local task = require("task")
local args = { 1, -1, 0 / 0, 1e308, -2 ^ 53, "", "x", "\0\255", ("a"):rep(300), {}, { 1, 2, 3 }, { a = { b = {} } }, true, false,
  function() end, coroutine.create(function() end), setmetatable({}, { __index = function() error("asked") end }), io.stdout }
local calls = 0
local function try(name, f, ...)
  local list, n = { ... }, select("#", ...)
  calls = calls + 1
  local ok, e = pcall(task.timeout, 0.2, function() return f(unpack(list, 1, n)) end)
  assert(ok or not tostring(e):find("internal error"), name .. ": " .. tostring(e))
end
for _, module in ipairs(modules) do
  for name, f in pairs(require(module)) do
    local full = module .. "." .. tostring(name)
    if type(f) == "function" and full ~= "time.sleep" and full ~= "task.sleep" then
      for i, a in ipairs(args) do
        local b, c = args[i % #args + 1], args[i * 7 % #args + 1]
        try(full, f)
        try(full, f, a)
        try(full, f, a, b)
        try(full, f, a, b, c)
        try(full, f, a, a, a, a)
        try(full, f, "x", a)
        try(full, f, {}, a)
        try(full, f, 1, a)
        try(full, f, function() end, a)
        try(full, f, { a })
      end
    end
  end
end
assert(calls > 10000, calls)
`
