-- Makes the calls of a table, and prints a line of JSON for each.
local sdk, fs, json, time = require("sdk"), require("fs"), require("json"), require("time")
local known = { files = arg[2], out = arg[3] }

-- Puts earlier results in the place of $name, $name.field, $name.1.field and $files/name.
local function resolve(value)
  if type(value) == "table" then
    local keys = {}
    for key in pairs(value) do table.insert(keys, key) end
    for _, key in ipairs(keys) do
      local resolved = resolve(value[key])
      value[key] = nil
      value[type(key) == "string" and known[key:match("^%$([%w_]+)")] and resolve(key) or key] = resolved
    end
    return value
  elseif type(value) ~= "string" or value:sub(1, 1) ~= "$" then
    return value
  end
  local name, path, rest = value:match("^%$([%w_]+)([%w_.]*)(.*)$")
  local found = known[name]
  for key in path:gmatch("[^.]+") do found = found[tonumber(key) or key] end
  if type(found) ~= "string" and found.id then found = found.id end
  return rest == "" and found or found .. rest
end

local function all(...)
  local items = json.list({})
  for item in ... do table.insert(items, item) end
  return items
end

-- What an operation returned, as one value.
local function one(first, ...)
  if select("#", ...) > 0 then return json.list({ first or json.null, ... }) end
  return type(first) == "function" and all(first) or first
end

for line in fs.lines(arg[1]) do
  local name, manager, operation, rest = line:match("^([%w_]+) = ([%w_]+)%.([%w_]+) (%b{}.*)$")
  if not name then manager, operation, rest = line:match("^([%w_]+)%.([%w_]+) (%b{}.*)$") end
  if manager then
    local arguments, path, wanted = rest:match("^(%b{}) until (%S+) = (%S+)$")
    arguments = resolve(json.decode(arguments or rest))
    for turn = 1, 600 do
      local answer
      local ok, err = pcall(function() answer = { result = one(sdk[manager][operation](arguments)) } end)
      if not ok then
        local answered = { name = err.name, status = err.status, service = err.service, code = err.code, details = err.details }
        answer = { error = answered, text = tostring(err) }
      end
      local value = answer.result
      for key in (value and path or ""):gmatch("[^.]+") do value = value and value[key] end
      if not path or tostring(value) == wanted or turn == 600 then
        if name then known[name] = answer.result end
        print(json.encode(answer))
        break
      end
      time.sleep(0.05)
    end
  end
end
