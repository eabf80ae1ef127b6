-- What another client does between a plan and its apply; what it cannot do is printed.
for name, kind in pairs(require("kinds")) do
  if kind.change then
    kind.change(kind.find(name .. " changed")[1], "by others")
  else
    print(name .. "-changed.plan")
  end
  kind.delete(kind.find(name .. " deleted")[1])
  if kind.alone or not pcall(kind.make, name .. " added") then -- its name is taken
    print(name .. "-added.plan")
  end
end
