local function range(n, m, step)
  if not m then n, m = 1, n end
  step = step or 1
  local i = n - step
  return function()
    i = i + step
    if (step > 0 and i <= m) or (step < 0 and i >= m) then return i end
  end
end
for i in range(5) do io.write(i, " ") end
for i in range(10, 1, -3) do io.write(i, " ") end
local function sorted(t, order)
  local keys = {}
  for k in pairs(t) do keys[#keys + 1] = k end
  table.sort(keys, order)
  local i = 0
  return function() i = i + 1; if keys[i] ~= nil then return keys[i], t[keys[i]] end end
end
for k, v in sorted({ b = 1, a = 2 }) do print(k, v) end
local function chars(s) return s:gmatch(".") end
for c in chars("abc") do io.write(c) end
