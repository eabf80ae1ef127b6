-- Missions made for files that are about to be sent: date, outline and number of
-- images come from the photos among them.
local sdk, imagery, geo, fs, time = require("sdk"), require("imagery"), require("geo"), require("fs"), require("time")
local flight = {}

local function photo(name)
  local ending = name:lower():match("%.(%w+)$")
  return ending == "jpg" or ending == "jpeg" or ending == "tif" or ending == "tiff" or ending == "dng"
end

-- photos goes through the photos of files, folders and patterns.
local function photos(paths, each)
  local list = {}
  for _, given in ipairs(paths) do
    if fs.is_dir(given) then
      for p, problem in imagery.each(given, { recursive = true }) do each(p, problem) end
    else
      for _, file in ipairs(fs.exists(given) and { given } or fs.glob(given)) do
        if photo(file) then list[#list + 1] = file end
      end
    end
  end
  for p, problem in imagery.each(list) do each(p, problem) end
end

-- outline is the ring around positions.
local function outline(points)
  local hull = geo.hull(geo.multi_point(points))
  if hull.type ~= "Polygon" then -- one position, or a line
    local b = geo.bbox_pad(geo.bbox(geo.multi_point(points)), 20)
    hull = geo.polygon({ { { b[1], b[2] }, { b[3], b[2] }, { b[3], b[4] }, { b[1], b[4] }, { b[1], b[2] } } })
  end
  return hull.coordinates[1], geo.area(hull)
end

-- mission makes the mission of a project for files.
function flight.mission(project, name, paths)
  local points, first = {}, nil
  photos(paths, function(p)
    if p.latitude and p.longitude then points[#points + 1] = { p.longitude, p.latitude } end
    if p.acquired and (not first or p.acquired < first) then first = p.acquired end
  end)
  local options = { project = project, name = name, survey_date = first or time.format(time.now()) }
  if #points > 0 then
    options.number_of_images = #points
    options.coordinates, options.area = outline(points)
  end
  return sdk.missions.find_or_create(options)
end

return flight
