-- inspect.value
local inspect = require("inspect")
assert(inspect.value({ b = 1, a = { 1, "x" } }) == '{\n  a = { 1, "x" },\n  b = 1,\n}')
assert(inspect.value({ 1, 2, 3 }, { items = 2 }) == "{ 1, 2, … 1 more }")

-- inspect.print
require("inspect").print({ mission = "m1", photos = { 1, 2 } }, { depth = 1 })

-- inspect.table
local text = require("inspect").table({ { id = "p1", size = 20 }, { id = "p2", size = 5 } }, { "id", "size" })
assert(text:find("p2"))

-- inspect.size
assert(require("inspect").size(8200000) == "8.2 MB")

-- inspect.count
assert(require("inspect").count(1, "dataset") == "1 dataset")
assert(require("inspect").count(1200, "entry") == "1,200 entries")

-- inspect.print_table
require("fs").write("fields.csv", "id,area\nn1,2.5\nn2,4\nn3,1\n")
require("inspect").print_table(require("csv").read("fields.csv"), { "id", "area" }, { limit = 2 })
