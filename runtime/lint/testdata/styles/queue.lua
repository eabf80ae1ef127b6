List = {}
function List.new() return { first = 0, last = -1 } end
function List.push(list, value)
  local last = list.last + 1
  list.last = last
  list[last] = value
end
function List.pop(list)
  local first = list.first
  if first > list.last then error("list is empty") end
  local value = list[first]
  list[first] = nil
  list.first = first + 1
  return value
end
local q = List.new()
for i = 1, 3 do List.push(q, i) end
print(List.pop(q), List.pop(q), List.pop(q), pcall(List.pop, q))
