---An identifier, or a resource, which stands for its own.
---@alias ID string|Resource

---Which records to find: property to operators, such as {name = {["$eq"] = "North"}}.
---@alias Filter table<string, any>

---The order of results: {attribute = 1} ascending, -1 descending; a list of such tables for several.
---@alias Sort table<string, 1|-1>|table<string, 1|-1>[]

---A GeoJSON geometry.
---@class Geometry
---@field type "Point"|"MultiPoint"|"LineString"|"MultiLineString"|"Polygon"|"MultiPolygon"|"GeometryCollection"
---@field coordinates? any[]
---@field geometries? Geometry[]

---A record of the platform. Its fields cannot be assigned.
---@class Resource
---@field id string
---@field _id string
---@field [string] any
local Resource = {}

---A plain copy that may be changed.
---@return table<string, any>
function Resource:totable() end

---The names of the fields that the platform sent, in its order.
---@return string[]
function Resource:fields() end

---What is raised.
---@class Error
---@field name ErrorName
---@field message string
---@field operation? string
---@field hint? string what to do next
---@field done? string[] ids of a list that were done when it failed
---@field pending? string[] ids of a list that were not done
---@field status? integer of HTTP, when the platform refused
---@field service? string that refused
---@field code? string the service's name of the error
---@field details? any
---@field data? any the whole answer

---Calls a function: its results, or nil and what it raised.
---@generic R
---@param f fun(...: any): R
---@param ... any
---@return R? result
---@return Error? err
function try(f, ...) end
