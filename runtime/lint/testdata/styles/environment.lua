local sandbox = { print = print, tostring = tostring, math = { floor = math.floor } }
local chunk = assert(loadstring("x = math.floor(3.7) print(x) return x", "=sandboxed"))
setfenv(chunk, sandbox)
print(chunk(), sandbox.x, rawget(_G, "x"))
local function with(env, f) return setfenv(f, setmetatable(env, { __index = _G }))() end
with({ name = "env" }, function() print(name) end)
local strict = setmetatable({}, { __index = function(_, k) error("undefined " .. k, 2) end, __newindex = rawset })
print(pcall(function() return strict.missing end))
