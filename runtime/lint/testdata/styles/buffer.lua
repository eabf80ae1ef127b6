local Buffer = {} ; Buffer.__index = Buffer
function Buffer:new() return setmetatable({ n = 0 }, self) end
function Buffer:add(...)
  for i = 1, select('#', ...) do
    self.n = self.n + 1
    self[self.n] = tostring(select(i, ...))
  end
  return self
end
function Buffer:result(sep) return table.concat(self, sep or '', 1, self.n) end
Buffer.__concat = function(a, b) return tostring(a) .. tostring(b) end
Buffer.__tostring = Buffer.result
local b = Buffer:new():add("a", 1):add(true)
print(b:result ", ", b .. "!")
