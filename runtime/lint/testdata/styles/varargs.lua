local function sum(...)
  local total = 0
  for i = 1, select("#", ...) do total = total + (select(i, ...)) end
  return total
end
local function pack(...) return { n = select("#", ...), ... } end
local function map(f, ...)
  local args = pack(...)
  for i = 1, args.n do args[i] = f(args[i]) end
  return unpack(args, 1, args.n)
end
local function old_style(...)
  local first, second = ...
  return second, first
end
print(sum(1, 2, 3), map(tostring, 1, nil, true), old_style(1, 2))
print((old_style(1, 2)))
