-- query.eq
assert(require("query").eq("name", "x").name["$eq"] ~= nil)

-- query.ne
assert(require("query").ne("name", "x").name["$ne"] ~= nil)

-- query.gt
assert(require("query").gt("name", 1).name["$gt"] ~= nil)

-- query.gte
assert(require("query").gte("name", 1).name["$gte"] ~= nil)

-- query.lt
assert(require("query").lt("name", 1).name["$lt"] ~= nil)

-- query.lte
assert(require("query").lte("name", 1).name["$lte"] ~= nil)

-- query.match
assert(require("query").match("name", "x").name["$match"] ~= nil)

-- query.one_of
assert(require("query").one_of("name", { "x" }).name["$in"] ~= nil)

-- query.none_of
assert(require("query").none_of("name", { "x" }).name["$nin"] ~= nil)

-- query.between
local f = require("query").between("creation_date", "2026-05-01", "2026-05-31")
assert(f.creation_date["$gte"] == "2026-05-01" and f.creation_date["$lte"] == "2026-05-31")

-- query.exists
assert(require("query").exists("mission", false).mission["$exists"] == false)

-- query.near
local f = require("query").near(4.9127, 50.7312, 100)
local latitude = f["geometry.coordinates.1"]
assert(latitude["$gte"] < 50.7312 and latitude["$lte"] > 50.7312)

-- query.all
local q = require("query")
local f = q.all(q.eq("type", "image"), q.gte("width", 4000))
assert(f["$and"][2].width["$gte"] == 4000)

-- query.any
local q = require("query")
local f = q.any(q.eq("status", "failed"), q.eq("status", "rejected"))
assert(#f["$or"] == 2)
