-- Runs the script case.lua, and prints all that it can see on the platform afterwards.
local script, ended = require("script"), {}
script.exit = function(code) error(code and code ~= 0 and "exit code " .. code or ended, 0) end
local ok, err = pcall(assert(loadfile("case.lua")), ...)

local sdk, json = require("sdk"), require("json")
local lines = {}
local function all(name, search)
  local found, why = pcall(function()
    for r in sdk[name].search_generator(search) do
      local record = type(r) == "userdata" and json.decode(json.encode(r)) or r
      lines[#lines + 1] = json.encode({ of = name, record = record })
      for _, c in ipairs(record.components or {}) do
        if c.collection then
          local shown = json.decode(json.encode(sdk.collections.describe(c.collection.id)))
          lines[#lines + 1] = json.encode({ of = "collections", record = shown })
        end
      end
    end
  end)
  if not found and why.status ~= 400 then lines[#lines + 1] = json.encode({ of = name, error = why.name, message = why.message }) end
end
sdk.datasets.wait({ filter = { ["ingestion.status"] = { ["$in"] = { "pending", "running" } } } })
for _, name in ipairs(sdk.managers()) do
  if name == "tags" or name == "comments" then
    for p in sdk.projects.search_generator({}) do all(name, { project = p }) end
  elseif name == "companies" or name == "users" or name == "collections" or name == "features" then -- not searched
  else
    all(name, {})
    all(name, { filter = { deletion_date = { ["$ne"] = json.null } } })
  end
end
for _, line in ipairs(lines) do print("view " .. line) end
if not ok and err ~= ended then error(err, 0) end
