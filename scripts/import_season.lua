-- Import a season from a spreadsheet saved as CSV: fields, crops, trials and the
-- missions they plan:
--
--   transect run --local scripts/import_season.lua "Trial farm" season.csv
--
-- One row a planned mission, with the columns field, crop, trial, mission,
-- start_date and end_date (2026-04-01), and perhaps season (a date) and
-- description. Run it again after changes: what is there is found by name and
-- brought up to date, nothing is doubled, nothing is deleted. The whole file is
-- checked before anything is sent.
local sdk, script, query = require("sdk"), require("script"), require("query")
local csv, time = require("csv"), require("time")
local find, outcome = require("lib.find"), require("lib.outcome")

local args = script.args({ "project", "file", _doc = "Import fields, crops, trials and planned missions from CSV.",
  project = { "string", doc = "project, by name or id" },
  file = { "string", doc = "CSV file with the columns field, crop, trial, mission, start_date, end_date, "
      .. "perhaps season, description; dates such as 2026-04-01" },
  separator = { "string", default = ",", choices = { ",", ";", "\t" }, doc = "field separator" },
  check = { "boolean", doc = "check the file only" } })
outcome.check_files({ args.file })

-- Every row first: a mistake in the last one must not leave half a season.
local rows, mistakes, once = {}, {}, {}
local function mistake(line, text) mistakes[#mistakes + 1] = args.file .. ":" .. line .. ": " .. text end
local function day(text)
  local seconds = try(time.parse, text)
  return text:match("^%d%d%d%d%-%d%d%-%d%d$") and seconds
end
for row, line in csv.read(args.file, { separator = args.separator, trim = true }) do
  local complete = true
  for _, column in ipairs({ "field", "crop", "trial", "mission", "start_date", "end_date" }) do
    if (row[column] or "") == "" then
      complete = false
      mistake(line, column .. " is missing")
    end
  end
  if complete then
    local first, last = day(row.start_date), day(row.end_date)
    for _, column in ipairs({ "start_date", "end_date", "season" }) do
      local date = row[column] or ""
      if date ~= "" and not day(date) then
        mistake(line, column .. " " .. date .. " is not a date such as 2026-04-01")
      end
    end
    if first and last and first > last then mistake(line, "it ends before it starts") end
    local key = row.field .. "\0" .. row.trial .. "\0" .. row.mission
    if once[key] then
      local what = "the mission " .. row.mission .. " of the trial " .. row.trial
      mistake(line, what .. " is in line " .. once[key] .. " already")
    end
    once[key] = line
    rows[#rows + 1] = row
  end
end
if #mistakes > 0 then error(table.concat(mistakes, "\n") .. "\nnothing was sent", 0) end
if #rows == 0 then error(args.file .. " has no row", 0) end
if args.check then
  print(("%d rows, no mistake"):format(#rows))
  script.exit(0)
end

local project = find.project(args.project)
script.lock("season " .. project.id)
local company, made = project.company, { field = 0, crop = 0, trial = 0, mission = 0, changed = 0 }

-- found gives what is there by that name, or makes it.
local known = { field = {}, crop = {}, trial = {} }
local function found(kind, key, search, make)
  local record = known[kind][key] or search[1]
  if not record then
    record = make()
    made[kind] = made[kind] + 1
  end
  known[kind][key] = record
  return record
end

for _, row in ipairs(rows) do
  local field = known.field[row.field] or found("field", row.field,
    sdk.fields.search({ filter = query.all(query.eq("project", project), query.eq("name", row.field)), limit = 1 }),
    function() return sdk.fields.create({ company = company, project = project, name = row.field }) end)
  local crop = known.crop[row.crop] or found("crop", row.crop,
    sdk.crops.search({ filter = query.all(query.eq("company", company), query.eq("name", row.crop)), limit = 1 }),
    function() return sdk.crops.create({ company = company, name = row.crop }) end)
  local key = row.field .. "\0" .. row.trial
  local trial = known.trial[key] or found("trial", key,
    sdk.trials.search({ filter = query.all(query.eq("field", field), query.eq("name", row.trial)), limit = 1 }),
    function()
      local season = row.season ~= "" and row.season or nil
      return sdk.trials.create({ field = field, crop = crop, name = row.trial, season = season })
    end)
  local description = (row.description or "") ~= "" and row.description or nil
  local planned = sdk.season_planner_missions.search({ limit = 1,
    filter = query.all(query.eq("trial", trial), query.eq("name", row.mission)) })[1]
  if not planned then
    sdk.season_planner_missions.add_mission_to_trial({ trial = trial, name = row.mission, start_date = row.start_date,
      end_date = row.end_date, description = description })
    made.mission = made.mission + 1
  elseif planned.start_date:sub(1, 10) ~= row.start_date or planned.end_date:sub(1, 10) ~= row.end_date
    or description and planned.description ~= description then
    sdk.season_planner_missions.update_mission({ mission = planned, name = row.mission, start_date = row.start_date,
      end_date = row.end_date, description = description })
    made.changed = made.changed + 1
  end
end
print(("%d rows: created %d fields, %d crops, %d trials, %d missions; %d missions changed"):format(
  #rows, made.field, made.crop, made.trial, made.mission, made.changed))
