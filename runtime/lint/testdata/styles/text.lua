local function trim(s) return (s:gsub("^%s+", ""):gsub("%s+$", "")) end
local function split(s, sep)
  local out = {}
  for piece in (s .. sep):gmatch("(.-)" .. sep:gsub("%p", "%%%0")) do out[#out + 1] = piece end
  return out
end
local words = {}
for w in ("the quick the lazy the dog"):gmatch("%a+") do words[w] = (words[w] or 0) + 1 end
local t = [[
line one
line two]]
for line in t:gmatch("[^\n]+") do print("[" .. trim(line) .. "]") end
print(#split("a,b,,c", ","), words.the, ("%s=%d"):format("x", 5), ("abc"):rep(2), ("$name"):gsub("%$(%w+)", { name = "Lua" }))
