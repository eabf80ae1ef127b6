-- Missions made for files that are about to be sent: date, outline and number of
-- images come from the photos among them.
local sdk, imagery, geo, fs = require("sdk"), require("imagery"), require("geo"), require("fs")
local time, run = require("time"), require("run")
local flight = {}

local endings = { jpg = true, jpeg = true, tif = true, tiff = true, dng = true }

-- photos goes through what may be photos among files, folders and patterns.
local function photos(paths)
  local list = {}
  local function take(file)
    if endings[(file:lower():match("%.(%w+)$"))] then
      list[#list + 1] = file
    end
  end
  for _, given in ipairs(paths) do
    if fs.is_dir(given) then
      for file in fs.walk(given, { skip_unreadable = true }) do -- the ingest names what it cannot read
        take(file)
      end
    else
      for _, file in ipairs(fs.exists(given) and { given } or fs.glob(given)) do
        take(file)
      end
    end
  end
  return imagery.each(list)
end

-- outline is the ring around positions.
local function outline(points)
  local hull = try(geo.hull, geo.multi_point(points))
  if not hull then -- one position, or a straight line of them
    local b = geo.bbox_pad(geo.bbox(geo.multi_point(points)), 20)
    hull = geo.polygon({ { { b[1], b[2] }, { b[3], b[2] }, { b[3], b[4] }, { b[1], b[4] }, { b[1], b[2] } } })
  end
  return hull.coordinates[1], geo.area(hull)
end

-- mission makes the mission of a project for files.
function flight.mission(project, name, paths)
  local points, first = {}, nil
  for photo in photos(paths) do
    if photo.latitude and photo.longitude then
      points[#points + 1] = { photo.longitude, photo.latitude }
    end
    if photo.acquired and (not first or photo.acquired < first) then
      first = photo.acquired
    end
  end
  local options = { project = project, name = name, survey_date = first or time.format(run.started) }
  if #points > 0 then
    options.number_of_images = #points
    options.coordinates, options.area = outline(points)
  end
  return sdk.missions.find_or_create(options)
end

return flight
