-- Share the tiles of a project's rasters and write a page with the map and the links:
--
--   transect run --local scripts/share_map.lua "Surveys" map.html --days 30
--
-- The local platform must be served meanwhile, and as long as the links are used:
--
--   transect platform serve --listen 127.0.0.1:8080
--
-- Whoever has the page sees the tiles until the links expire, without an
-- account: give it to nobody else. The map itself is drawn by Leaflet, fetched
-- from unpkg.com; the links work in QGIS as XYZ tiles, too.
local sdk, script, query, json = require("sdk"), require("script"), require("query"), require("json")
local fs, time, geo, find = require("fs"), require("time"), require("geo"), require("lib.find")

local args = script.args({ "project", "page",
  _doc = "Share the tiles of a project's rasters and write a page with the map and the links.",
  project = { "string", doc = "project, by name or id" },
  page = { "string", default = "map.html", doc = "HTML file to write" },
  mission = { "string", optional = true, doc = "only rasters of this mission, by name or id" },
  match = { "string", default = "", doc = "only rasters whose name contains this text" },
  days = { "integer", default = 7, doc = "days until the links expire" } })
if args.days < 1 then script.usage_error("--days must be 1 or more", "leave it out for a week") end

local project = find.project(args.project)
local filters = { query.eq("project", project), query.eq("type", "raster"), query.eq("ingestion.status", "completed") }
if args.mission then filters[#filters + 1] = query.eq("mission", find.mission(project, args.mission)) end
if args.match ~= "" then filters[#filters + 1] = query.match("name", args.match) end

local expires, layers, failed, total = time.now() + args.days * 86400, {}, 0, 0
for raster in sdk.datasets.search_generator({ filter = query.all(unpack(filters)) }) do
  total = total + 1
  local tiles, err = try(sdk.datasets.share_tiles, raster, { duration = args.days * 86400 })
  if err and err.name ~= "UnsupportedResourceError" and err.name ~= "ResponseError" then error(err, 0) end
  if err then
    failed = failed + 1
    print("not shared: " .. raster.name .. ": " .. err)
  else
    local box = raster.geometry and geo.bbox(raster.geometry)
    layers[#layers + 1] = { name = raster.name, tiles = tiles,
      box = box and { { box[2], box[1] }, { box[4], box[3] } } }
  end
end
if total == 0 then
  print("the project " .. project.name .. " has no such raster")
  script.exit(0)
end

local marks = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;", ["'"] = "&#39;" }
local function html(text) return (text:gsub("[&<>\"']", marks)) end
local links = {}
for i, layer in ipairs(layers) do
  links[i] = ("<tr><td>%s</td><td><code>%s</code></td></tr>"):format(html(layer.name), html(layer.tiles))
end

local page = [[
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<link rel="stylesheet" href="https://unpkg.com/leaflet@1.9.4/dist/leaflet.css"
  integrity="sha256-p4NxAoJBhIIN+hmNHrzRCf9tD/miZyoHS5obTRR9BMY=" crossorigin="">
<script src="https://unpkg.com/leaflet@1.9.4/dist/leaflet.js"
  integrity="sha256-20nQCchB9co0qIjJZRGuk2/Z9VM+kNiyxNV1lvTlZBo=" crossorigin=""></script>
<style>
body { font-family: sans-serif; margin: 1rem; }
#map { height: 70vh; }
td { padding: .2rem 1rem .2rem 0; vertical-align: top; }
code { word-break: break-all; }
</style>
</head>
<body>
<h1>{title}</h1>
<div id="map"></div>
<p>These links expire on {expires}. In QGIS: Layer, Add Layer, Add XYZ Layer.</p>
<table>
{links}
</table>
<script>
const layers = {layers};
if (window.L) {
  const map = L.map("map"), overlays = {};
  let all = null;
  for (const layer of layers) {
    const tiles = L.tileLayer(layer.tiles, { maxZoom: 24 });
    const label = document.createElement("span");
    label.textContent = layer.name;
    overlays[label.innerHTML] = tiles.addTo(map);
    if (layer.box) all = all ? all.extend(layer.box) : L.latLngBounds(layer.box);
  }
  L.control.layers(null, overlays, { collapsed: false }).addTo(map);
  if (all) map.fitBounds(all); else map.fitWorld();
}
</script>
</body>
</html>
]]
local values = { title = html(project.name), expires = time.format(expires, "date"), links = table.concat(links, "\n"),
  layers = (json.encode(json.list(layers)):gsub("<", "\\u003c")) } -- nothing in a name ends the script
fs.write(args.page, (page:gsub("{(%l+)}", values)))
for _, layer in ipairs(layers) do print("shared: " .. layer.name) end
print("wrote " .. args.page .. ": open it in a browser")
script.fail_items(failed, total)
