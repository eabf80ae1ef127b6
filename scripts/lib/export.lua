-- Writes what a project holds in the formats of the field: STAC, GeoJSON, GeoPackage, CSV, and a project of QGIS.
-- Records are written as they are listed, so that memory does not grow with the project.
local sdk, query, geo, json = require("sdk"), require("query"), require("geo"), require("json")
local csv, fs, path = require("csv"), require("fs"), require("path")
local export = {}

-- kept is what a copy of a dataset keeps, by the names of the wire.
export.kept = {
  categories = "categories",
  hidden = "hidden",
  published = "published",
  horizontal_srs_wkt = "horizontal_srs_wkt",
  vertical_srs_wkt = "vertical_srs_wkt",
  format = "dataset_format",
  geometry = "geometry",
  acquisition_date = "acquisition_date",
  width = "width",
  height = "height",
  sensor = "sensor",
  lens = "lens",
  camera_parameters = "camera_parameters",
  reflectance_calibration_panel = "reflectance_calibration_panel",
  bands = "bands",
  offset = "offset",
}

-- The layers, and their columns, in the order of the table.
local layers = {
  {
    name = "photos",
    geometry = "Point",
    columns = {
      { "id", "string" },
      { "name", "string" },
      { "mission", "string" },
      { "taken", "time" },
      { "altitude", "number" },
      { "camera", "string" },
      { "width", "integer" },
      { "height", "integer" },
      { "size", "integer" },
      { "md5", "string" },
      { "state", "string" },
    },
  },
  {
    name = "footprints",
    geometry = "Geometry",
    columns = { { "id", "string" }, { "name", "string" }, { "mission", "string" }, { "taken", "time" } },
  },
  {
    name = "flight_lines",
    geometry = "LineString",
    columns = {
      { "mission", "string" },
      { "flight", "string" },
      { "photos", "integer" },
      { "began", "time" },
      { "ended", "time" },
    },
  },
  {
    name = "datasets",
    geometry = "Geometry",
    columns = {
      { "id", "string" },
      { "name", "string" },
      { "mission", "string" },
      { "type", "string" },
      { "format", "string" },
      { "created", "time" },
      { "size", "integer" },
      { "state", "string" },
    },
  },
  {
    name = "annotations",
    geometry = "Geometry",
    columns = {
      { "id", "string" },
      { "name", "string" },
      { "mission", "string" },
      { "type", "string" },
      { "description", "string" },
      { "created", "time" },
    },
  },
  {
    name = "features",
    geometry = "Geometry",
    columns = { { "id", "string" }, { "collection", "string" }, { "properties", "string" } },
  },
}

local function value(v)
  if v == json.null or v == "" then
    return nil
  end
  return v
end

-- shape returns a geometry that can be written, nil for none.
local function shape(g)
  if value(g) and try(geo.check, g) then
    return g
  end
end

local function main_file(d)
  for _, c in ipairs(d.components or {}) do
    if value(c.size) then
      return c
    end
  end
  return {}
end

local function camera(d)
  local s = value(d.sensor) or {}
  local words = {}
  for _, word in ipairs({ value(s.make) or "", value(s.model) or "" }) do
    words[#words + 1] = word ~= "" and word or nil
  end
  return value(table.concat(words, " "))
end

local function state(d)
  return value((value(d.ingestion) or {}).status)
end

-- position returns where a dataset is: longitude, latitude and height, nil when unknown.
local function position(d)
  local g = shape(d.geometry)
  if g and g.type == "Point" then
    return g.coordinates
  end
  local at = value(d.location)
  return at and shape({ type = "Point", coordinates = at }) and at or nil
end

local function outline(d)
  return shape(d.footprint) or shape(d.geometry)
end

-- each calls a function for each dataset of a target, mission by mission, with the mission; nil for those in none.
-- begin, when given, is called with each mission before.
local function each(target, visit, begin)
  local function search(filter, mission)
    if begin and mission then
      begin(mission)
    end
    for d in sdk.datasets.search_generator({ filter = filter }) do
      visit(d, mission)
    end
  end
  if target.mission then
    search(query.eq("mission", target.mission.id), target.mission)
    return
  end
  for mission in sdk.missions.search_generator({ filter = query.eq("project", target.project.id) }) do
    search(query.eq("mission", mission.id), mission)
  end
  local lone = query.all(query.eq("project", target.project.id), query.exists("mission", false))
  search(lone, nil)
end

-- rows calls add with the layer and the row of each thing.
local function rows(target, add)
  local points, counts, missions, collections = {}, {}, {}, {}
  local function put(layer, row)
    counts[layer] = (counts[layer] or 0) + 1
    add(layer, row)
  end
  -- Positions of one mission; a project is never held as a whole.
  local function lines(mission)
    local flights = {}
    for _, p in ipairs(points) do
      flights[p.flight] = flights[p.flight] or {}
      table.insert(flights[p.flight], p)
    end
    points = {}
    for flight, list in pairs(flights) do
      table.sort(list, function(a, b)
        return a.taken < b.taken
      end)
      local line = {}
      for _, p in ipairs(list) do
        line[#line + 1] = { p[1], p[2] }
      end
      if #line > 1 then
        put("flight_lines", {
          geometry = { type = "LineString", coordinates = line },
          mission = mission and mission.name,
          flight = flight ~= "" and flight or nil,
          photos = #list,
          began = list[1].taken,
          ended = list[#list].taken,
        })
      end
    end
  end
  local before
  each(target, function(d, mission)
    if before ~= (mission or false) then
      if before ~= nil then
        lines(before or nil)
      end
      before = mission or false
      if mission then
        missions[mission.id] = mission.name
      end
    end
    local name, file = mission and mission.name, main_file(d)
    if d.type == "image" then
      local at, taken = position(d), value(d.acquisition_date)
      put("photos", {
        geometry = at and { type = "Point", coordinates = { at[1], at[2] } },
        id = d.id,
        name = d.name,
        mission = name,
        taken = taken,
        altitude = at and at[3],
        camera = camera(d),
        width = value(d.width),
        height = value(d.height),
        size = value(file.size),
        md5 = value(file.checksum),
        state = state(d),
      })
      local ground = shape(d.footprint)
      if ground then
        put("footprints", { geometry = ground, id = d.id, name = d.name, mission = name, taken = taken })
      end
      if at and taken then
        points[#points + 1] = { at[1], at[2], taken = taken, flight = value(d.flight) or "" }
      end
      return
    end
    put("datasets", {
      geometry = outline(d),
      id = d.id,
      name = d.name,
      mission = name,
      type = d.type,
      format = value(d.format),
      created = value(d.creation_date),
      size = value(file.size),
      state = state(d),
    })
    for _, c in ipairs(d.components or {}) do
      local id = (value(c.collection) or {}).id
      if id then
        collections[#collections + 1] = { id = id, name = d.name }
      end
    end
  end)
  lines(before or nil)
  local inside = target.mission and query.eq("mission", target.mission.id) or query.eq("project", target.project.id)
  for a in sdk.annotations.search_generator({ filter = inside }) do
    put("annotations", {
      geometry = shape(a.geometry),
      id = a.id,
      name = value(a.name),
      mission = missions[a.mission] or value(a.mission),
      type = value(a.type),
      description = value(a.description),
      created = value(a.creation_date),
    })
  end
  for _, collection in ipairs(collections) do
    for f in sdk.features.search_generator({ filter = query.eq("collection", collection.id) }) do
      put("features", {
        geometry = shape(f.geometry),
        id = f.id,
        collection = collection.name,
        properties = value(f.properties) and json.encode(f.properties),
      })
    end
  end
  return counts
end

-- csv writes one file for each layer; geometries are columns with longitude and latitude for points, and one with WKT
-- otherwise.
local function to_csv(target, dir)
  local files = {}
  local columns = {}
  for _, layer in ipairs(layers) do
    columns[layer.name] = {}
    for _, c in ipairs(layer.columns) do
      table.insert(columns[layer.name], c[1])
    end
    if layer.geometry == "Point" then
      table.insert(columns[layer.name], "longitude")
      table.insert(columns[layer.name], "latitude")
    else
      table.insert(columns[layer.name], "wkt")
    end
    files[layer.name] = csv.writer(path.join(dir, layer.name .. ".csv"), { header = columns[layer.name] })
  end
  local counts = rows(target, function(layer, row)
    local g = row.geometry
    row.geometry = nil
    if g and g.type == "Point" and layer == "photos" then
      row.longitude, row.latitude = g.coordinates[1], g.coordinates[2]
    elseif g then
      row.wkt = try(geo.to_wkt, g)
    end
    files[layer]:write(row)
  end)
  for _, file in pairs(files) do
    file:close()
  end
  return counts
end

local function to_geojson(target, dir)
  local files = {}
  local counts = rows(target, function(layer, row)
    local file = files[layer]
    if not file then
      file = assert(io.open(path.join(dir, layer .. ".geojson"), "w"))
      files[layer] = file
      file:write('{"type":"FeatureCollection","features":[\n')
    else
      file:write(",\n")
    end
    local g = row.geometry
    row.geometry = nil
    file:write(json.encode({ type = "Feature", geometry = g or json.null, properties = row }))
  end)
  for _, file in pairs(files) do
    file:write("\n]}\n")
    file:close()
  end
  return counts
end

local function to_gpkg(target, dir)
  local out = geo.geopackage(path.join(dir, "project.gpkg"), layers)
  local counts = rows(target, function(layer, row)
    out:add(layer, row)
  end)
  out:close()
  return counts
end

local function xml(text)
  return (tostring(text):gsub('[<>&"]', { ["<"] = "&lt;", [">"] = "&gt;", ["&"] = "&amp;", ['"'] = "&quot;" }))
end

-- A project of QGIS: the layers of project.gpkg, and the tiles of rasters by links that end after share_days.
local function to_qgis(target, dir, options)
  local counts = to_gpkg(target, dir)
  local tree, maps = {}, {}
  local function add(id, name, source, provider, kind)
    table.insert(
      tree,
      ('<layer-tree-layer id="%s" name="%s" source="%s" providerKey="%s" checked="Qt::Checked"/>'):format(
        xml(id),
        xml(name),
        xml(source),
        provider
      )
    )
    table.insert(
      maps,
      (
        '<maplayer type="%s"><id>%s</id><datasource>%s</datasource><layername>%s</layername>%s'
        .. "<provider>%s</provider></maplayer>"
      ):format(
        kind,
        xml(id),
        xml(source),
        xml(name),
        "<srs><spatialrefsys><authid>"
          .. (provider == "wms" and "EPSG:3857" or "EPSG:4326")
          .. "</authid></spatialrefsys></srs>",
        provider
      )
    )
  end
  for i = #layers, 1, -1 do
    local layer = layers[i]
    if counts[layer.name] then
      add(layer.name, layer.name, "./project.gpkg|layername=" .. layer.name, "ogr", "vector")
    end
  end
  local tiles = 0
  if options.share_days then
    each(target, function(d)
      if d.type == "raster" and state(d) == "completed" then
        local address, err = try(sdk.datasets.share_tiles, d, { duration = options.share_days * 86400 })
        if address then
          tiles = tiles + 1
          address = address:gsub("[&=]", { ["&"] = "%%26", ["="] = "%%3D" })
          add(d.id, d.name, "type=xyz&zmin=0&zmax=24&url=" .. address, "wms", "raster")
        else
          io.stderr:write(d.name .. " has no tiles: " .. tostring(err) .. "\n")
        end
      end
    end)
  end
  fs.write(
    path.join(dir, "project.qgs"),
    table.concat({
      "<!DOCTYPE qgis PUBLIC 'http://mrcc.com/qgis.dtd' 'SYSTEM'>",
      ('<qgis projectname="%s" version="3.34.0">'):format(xml(target.project.name)),
      "<title>" .. xml(target.project.name) .. "</title>",
      "<projectCrs><spatialrefsys><authid>EPSG:3857</authid></spatialrefsys></projectCrs>",
      "<layer-tree-group>",
      table.concat(tree, "\n"),
      "</layer-tree-group>",
      "<projectlayers>",
      table.concat(maps, "\n"),
      "</projectlayers>",
      "</qgis>\n",
    }, "\n")
  )
  counts.tile_layers = tiles > 0 and tiles or nil
  return counts
end

-- STAC 1.1: a catalogue with a collection for each mission, and an item for each dataset.
local stac = "1.1.0"
local file_extension = "https://stac-extensions.github.io/file/v2.1.0/schema.json"
local media = {
  jpeg = "image/jpeg",
  png = "image/png",
  tiff = "image/tiff; application=geotiff",
  geojson = "application/geo+json",
}

-- plain is one name of a folder, whatever the platform calls it.
local function plain(name)
  local text = name:gsub("[%c/\\:*?\"<>|]", "_"):gsub("^%.+", "_"):sub(-150)
  return text == "" and "_" or text
end

-- escaped writes a path as a relative address.
local function escaped(text)
  return (text:gsub("[^%w%-%._~/]", function(c)
    return ("%%%02X"):format(c:byte())
  end))
end

local function link(rel, href, kind, title)
  return { rel = rel, href = href, type = kind or "application/json", title = title }
end

-- extent is the box and the times of the items of a collection.
local function widened(extent, box, time)
  if box then
    local e = extent.box or { box[1], box[2], box[3], box[4] }
    extent.box = { math.min(e[1], box[1]), math.min(e[2], box[2]), math.max(e[3], box[3]), math.max(e[4], box[4]) }
  end
  if time then
    extent.from = (not extent.from or time < extent.from) and time or extent.from
    extent.to = (not extent.to or time > extent.to) and time or extent.to
  end
end

-- item describes a dataset. Where a file will be is told by place.
local function item(d, collection, place)
  local geometry = outline(d)
  local box = geometry and try(geo.bbox, geometry)
  if box and #box == 6 then
    box = { box[1], box[2], box[4], box[5] }
  end
  local time = value(d.acquisition_date) or value(d.creation_date)
  local sensor = value(d.sensor) or {}
  local assets = {}
  for _, c in ipairs(d.components or {}) do
    if value(c.size) then
      local md5 = value(c.checksum)
      assets[c.name] = {
        href = place(d, c),
        title = c.filename or c.name,
        roles = { c.name == "thumbnail" and "thumbnail" or "data" },
        type = c.name == main_file(d).name and media[d.format] or nil,
        ["file:size"] = c.size,
        ["file:checksum"] = md5 and "d50110" .. md5, -- multihash: md5, 16 bytes
      }
    end
  end
  return {
    type = "Feature",
    stac_version = stac,
    stac_extensions = { file_extension },
    id = d.id,
    geometry = geometry or json.null,
    bbox = geometry and box or nil,
    collection = collection,
    properties = {
      title = d.name,
      datetime = time,
      created = value(d.creation_date),
      updated = value(d.modification_date),
      instruments = camera(d) and { camera(d) } or nil,
      platform = value(sensor.platform),
      ["transect:type"] = d.type,
      ["transect:state"] = state(d),
      ["transect:record"] = d,
    },
    links = {
      link("root", "../catalog.json"),
      link("parent", "./collection.json"),
      link("collection", "./collection.json"),
    },
    assets = assets,
  },
    box,
    time
end

-- files fetches the files of a catalogue, many at once.
local function fetch(wanted)
  local progress, hash, task = require("progress"), require("hash"), require("task")
  local bar = progress.start({ label = "download", files = #wanted, transfers = true })
  local failed = 0
  task.map(wanted, function(f)
    local done, err = pcall(function()
      if not (fs.is_file(f.path) and f.md5 and hash.md5_file(f.path) == f.md5) then
        fs.mkdir(path.dir(f.path))
        sdk.datasets.download_component(f.dataset, {
          component = f.component,
          target_path = path.dir(f.path),
          target_name = path.base(f.path),
        })
      end
    end)
    if not done then
      failed = failed + 1
      io.stderr:write("failed: " .. f.path .. ": " .. tostring(err) .. "\n")
    end
    bar:add({ files = 1 })
  end, { workers = 8 })
  bar:finish()
  return failed
end

local function to_stac(target, dir, options)
  local counts, children, current, wanted = {}, {}, nil, {}
  local function finish()
    if not current then
      return
    end
    local extent = current.extent
    current.file:write(
      '],\n"extent":',
      json.encode({
        spatial = { bbox = { extent.box or { -180, -90, 180, 90 } } },
        temporal = { interval = { { extent.from or json.null, extent.to or json.null } } },
      }),
      "}\n"
    )
    current.file:close()
  end
  local function begin(mission)
    finish()
    local id = mission and mission.id or "without-mission"
    local title = mission and mission.name or "without a mission"
    fs.mkdir(path.join(dir, id))
    current = { id = id, extent = {}, file = assert(io.open(path.join(dir, id, "collection.json"), "w")) }
    children[#children + 1] = link("child", "./" .. id .. "/collection.json", nil, title)
    local head = json.encode({
      type = "Collection",
      stac_version = stac,
      id = id,
      title = title,
      description = "Mission " .. title .. " of the project " .. target.project.name,
      license = "other",
      ["transect:record"] = mission,
    })
    current.file:write(head:sub(1, -2), ',\n"links":[', json.encode(link("root", "../catalog.json")), ",\n")
    current.file:write(json.encode(link("parent", "../catalog.json")))
    counts.collections = (counts.collections or 0) + 1
  end
  each(target, function(d, mission)
    if not mission and (not current or current.id ~= "without-mission") then
      begin(nil)
    end
    local function place(dataset, c)
      local name = path.join("files", dataset.id, plain(c.filename or c.name))
      if options.files then
        wanted[#wanted + 1] =
          { dataset = dataset.id, component = c.name, md5 = value(c.checksum), path = path.join(dir, current.id, name) }
      end
      if options.links == "absolute" then
        return "file://" .. escaped(path.abs(path.join(dir, current.id, name)))
      end
      return "./" .. escaped(name)
    end
    local it, box, time = item(d, current.id, place)
    widened(current.extent, box, time)
    -- Not flushed to the disk, as that takes longer than all else: a run that is cut off has no catalog.json.
    local file = assert(io.open(path.join(dir, current.id, d.id .. ".json"), "w"))
    file:write(json.encode(it), "\n")
    file:close()
    current.file:write(",\n", json.encode(link("item", "./" .. d.id .. ".json", "application/geo+json", d.name)))
    counts.items = (counts.items or 0) + 1
  end, begin)
  finish()
  local links = { link("root", "./catalog.json") }
  for _, child in ipairs(children) do
    links[#links + 1] = child
  end
  fs.write(
    path.join(dir, "catalog.json"),
    json.pretty({
      type = "Catalog",
      stac_version = stac,
      id = target.project.id,
      title = target.project.name,
      description = "Project " .. target.project.name,
      links = links,
    })
  )
  if options.files then
    counts.files = #wanted
    counts.failed = fetch(wanted)
  end
  return counts
end

local formats = { stac = to_stac, geojson = to_geojson, gpkg = to_gpkg, csv = to_csv, qgis = to_qgis }

-- run writes a project, or one mission of it, to a folder that is made or empty. target is { project, mission }, both
-- records; options are format, links (relative or absolute), files (fetch them, too) and share_days. It returns how
-- many of each kind were written.
function export.run(target, dir, options)
  fs.mkdir(dir)
  return assert(formats[options.format], "there is no such format")(target, dir, options)
end

return export
