local M = { _VERSION = "1.0" }
local cache = {}
local function private(x) return x * 2 end
function M.double(x)
  cache[x] = cache[x] or private(x)
  return cache[x]
end
M.triple = function(x) return x * 3 end
function M.each(t, f) for i = 1, #t do f(t[i], i) end end
M.each({ 1, 2 }, function(v) print(M.double(v), M.triple(v)) end)
return M
