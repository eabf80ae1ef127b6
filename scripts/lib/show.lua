-- How commands print: a table for people, one JSON object a line for programs.
local inspect, json, script = require("inspect"), require("json"), require("script")
local show = {}

-- size is a number of bytes for people.
function show.size(bytes)
  if not bytes then
    return ""
  end
  return inspect.size(bytes)
end

-- count is a number with the noun it counts.
show.count = inspect.count

-- day is the date of a timestamp.
function show.day(timestamp)
  return timestamp and tostring(timestamp):sub(1, 10) or ""
end

-- bytes is the size of all files of a dataset, nil when the platform has none.
function show.bytes(dataset)
  local sum
  for _, c in ipairs(dataset.components or {}) do
    if c.size then
      sum = (sum or 0) + c.size
    end
  end
  return sum
end

-- state is what a dataset is in the middle of.
function show.state(dataset)
  return dataset.ingestion and dataset.ingestion.status or ""
end

-- rows prints records: as JSON what the platform sent, else the columns that
-- cell, a function of the record, gives. It returns how many there were.
function show.rows(as_json, records, columns, cells)
  local rows, n = {}, 0
  for record in records do
    n = n + 1
    if as_json then
      print(json.encode(record))
    else
      rows[n] = cells(record)
    end
  end
  if n > 0 and not as_json then
    print(inspect.table(rows, columns))
  end
  return n
end

-- note prints to the error stream, for people.
function show.note(text)
  io.stderr:write(text, "\n")
end

-- suggestion is the hint for a name that is not known: a similar one, or else
-- what can be done otherwise.
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
