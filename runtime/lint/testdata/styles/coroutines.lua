local function producer()
  return coroutine.create(function()
    for _, line in ipairs { "one", "two", "three" } do coroutine.yield(line) end
    return nil
  end)
end
local function filter(prod)
  return coroutine.create(function()
    local n = 1
    while true do
      local _, x = coroutine.resume(prod)
      if not x then return end
      coroutine.yield(string.format("%5d %s", n, x))
      n = n + 1
    end
  end)
end
local f = filter(producer())
while true do
  local ok, v = coroutine.resume(f)
  if not ok or v == nil then break end
  io.write(v, "\n")
end
