local Emitter = {}
Emitter.__index = Emitter
function Emitter.new() return setmetatable({ handlers = {} }, Emitter) end
function Emitter:on(name, f)
  self.handlers[name] = self.handlers[name] or {}
  local list = self.handlers[name]
  list[#list + 1] = f
  return function() for i = #list, 1, -1 do if list[i] == f then table.remove(list, i) end end end
end
function Emitter:emit(name, ...)
  for _, f in ipairs(self.handlers[name] or {}) do f(...) end
end
local e = Emitter.new()
local off = e:on("x", function(a, b) print("x", a, b) end)
e:emit("x", 1, 2); off(); e:emit("x", 3)
