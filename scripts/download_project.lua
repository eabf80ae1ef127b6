-- Download all deliverables of a project:
--
--   transect run --local scripts/download_project.lua "Surveys" out
--
-- They go to OUT/mission/analytic version/dataset/file. A file that is there
-- with the right checksum is not fetched again.
local sdk, script, inspect, query = require("sdk"), require("script"), require("inspect"), require("query")
local fs, path, hash, task, progress = require("fs"), require("path"), require("hash"), require("task"), require("progress")
local find = require("lib.find")

local args = script.args({ "project", "out", _doc = "Download all deliverables of a project.",
  project = { "string", doc = "project, by name or id" },
  out = { "string", default = "out", doc = "folder for them" },
  match = { "string", default = "", doc = "only missions whose name holds this text" },
  analytic = { "string", default = "", doc = "only what this analytic made" },
  all = { "boolean", doc = "of each analytic and mission all products, not the newest alone" } })

local project = find.project(args.project)
local missions = {}
for _, m in ipairs(find.missions(project, args.match)) do missions[m.id] = m.name end

-- A name of the platform becomes one name of a folder, wherever it is used.
local function plain(name)
  local text = name:gsub("[%c/\\:*?\"<>|]", "_"):gsub("^[%s.]+", ""):gsub("[%s.]+$", "")
  return text == "" and "unnamed" or text
end

-- What there is: the components of the outputs of each product, newest first.
local analytics, seen, files, bytes = {}, {}, {}, 0
local done = query.all(query.eq("project", project), query.eq("status", "available"))
for product in sdk.products.search_generator({ filter = done, sort = { creation_date = -1 } }) do
  local analytic = analytics[product.analytic] or sdk.analytics.describe(product.analytic)
  analytics[product.analytic] = analytic
  local mission = missions[product.mission]
  local key = tostring(product.mission) .. " " .. analytic.name
  local wanted = (mission or args.match == "" and not product.mission)
    and (args.analytic == "" or args.analytic == analytic.name) and (args.all or not seen[key])
  if wanted and product.outputs and #product.outputs > 0 then
    local folder = path.join(args.out, plain(mission or "no mission"), plain(analytic.name .. " " .. analytic.version), args.all and product.id or ".")
    seen[key] = true
    for _, dataset in ipairs(sdk.datasets.describe(product.outputs)) do
      for _, c in ipairs(dataset.components) do
        files[#files + 1] = { dataset = dataset, component = c, folder = path.join(folder, plain(dataset.name)) }
        bytes = bytes + (c.size or 0)
      end
    end
  end
end
if #files == 0 then
  print("the project " .. project.name .. " has no such deliverable")
  script.exit(0)
end

local rows, failed, fetched = {}, 0, 0
local bar = progress.start({ label = "download", files = #files, bytes = bytes, transfers = true })
task.map(files, function(file)
  local c = file.component
  local target = path.join(file.folder, plain(c.filename or c.name))
  if not (fs.exists(target) and c.checksum and hash.md5_file(target) == c.checksum) then
    local _, err = try(sdk.datasets.download_component, file.dataset, { component = c.name, target_path = file.folder,
      target_name = path.base(target), overwrite = true, md5hash = c.checksum })
    if err and err.name ~= "DownloadError" and err.name ~= "ResponseError" then error(err, 0) end -- not this file's fault: stop
    if err then
      failed = failed + 1
      print("failed: " .. target .. ": " .. err)
    else
      fetched = fetched + 1
    end
    bar:add(err and { failed = 1 } or { files = 1 })
  else
    bar:add({ files = 1, bytes = c.size })
  end
  rows[#rows + 1] = { file = target, bytes = c.size }
end, { workers = 8 })
bar:finish()

table.sort(rows, function(a, b) return a.file < b.file end)
print(inspect.table(rows, { "file", "bytes" }))
print(("%d of %d files fetched, %d there already, %d failed"):format(fetched, #files, #files - fetched - failed, failed))
script.fail_items(failed, #files)
