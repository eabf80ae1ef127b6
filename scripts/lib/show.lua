-- How commands print: a table for people; JSON, CSV and GeoJSON for programs.
local inspect, json, script = require("inspect"), require("json"), require("script")
local csv, geo = require("csv"), require("geo")
local show = {}

-- size formats a number of bytes for people.
function show.size(bytes)
  if not bytes then
    return ""
  end
  return inspect.size(bytes)
end

-- count formats a number with the noun it counts, as inspect.count does.
show.count = inspect.count

-- day returns the date of a timestamp.
function show.day(timestamp)
  return timestamp and tostring(timestamp):sub(1, 10) or ""
end

-- bytes returns the size of all files of a dataset, nil when the platform has none.
function show.bytes(dataset)
  local sum
  for _, c in ipairs(dataset.components or {}) do
    if c.size then
      sum = (sum or 0) + c.size
    end
  end
  return sum
end

-- state returns the state of the ingestion of a dataset, "" when there is none.
function show.state(dataset)
  return dataset.ingestion and dataset.ingestion.status or ""
end

-- chosen returns the format that the arguments of a command ask for.
function show.chosen(args)
  if args.json and args.format ~= "table" and args.format ~= "json" then
    script.usage_error("--json and --format " .. args.format .. " are mutually exclusive", "give one of them")
  end
  return args.json and "json" or args.format
end

-- place is the GeoJSON geometry of a record, null when it has none.
local function place(record)
  local at = record.location
  return record.geometry or record.real_bbox or at and geo.point(at[1], at[2]) or json.null
end

-- How people read columns that programs get as they are.
local readable = { size = show.size, created = show.day, date = show.day, ["survey date"] = show.day }

local finish = {
  json = function() end,
  csv = function(rows, columns)
    io.write(csv.encode(rows, { header = columns }))
  end,
  geojson = function(features)
    print(json.encode({ type = "FeatureCollection", features = json.list(features) }))
  end,
  table = function(rows, columns)
    if #rows > 0 then
      print(inspect.table(rows, columns))
    end
  end,
}

-- printer prints records in a format: add takes each with its row, by column, and
-- finish prints what is left.
function show.printer(format, columns)
  local rows = {}
  local function add(record, row)
    if format == "json" then
      print(json.encode(record))
      return
    elseif format == "geojson" then
      row = { type = "Feature", id = record.id, geometry = place(record), properties = row }
    elseif format == "table" then
      for column, form in pairs(readable) do
        row[column] = row[column] and form(row[column])
      end
    end
    rows[#rows + 1] = row
  end
  return {
    add = add,
    finish = function()
      finish[format](rows, columns)
    end,
  }
end

-- rows prints records with the columns that cells, a function of the record, gives. It
-- returns how many there were.
function show.rows(format, records, columns, cells)
  local n, printer = 0, show.printer(format, columns)
  for record in records do
    n = n + 1
    printer.add(record, cells(record))
  end
  printer.finish()
  return n
end

-- note prints to the error stream, for people.
function show.note(text)
  io.stderr:write(text, "\n")
end

-- suggestion returns the hint for an unknown name: a similar one among known, or else the text otherwise.
function show.suggestion(name, known, otherwise)
  local near = script.nearest(name, known)
  return near and "did you mean " .. near .. "?" or otherwise
end

-- each makes an iterator of a list.
function show.each(list)
  local i = 0
  return function()
    i = i + 1
    return list[i]
  end
end

return show
