-- csv.read
local csv = require("csv")
require("fs").write("fields.csv", "id,area\nn1,2.5\nn2,4\n")
local sum = 0
for row, line in csv.read("fields.csv", { types = { area = "number" } }) do sum = sum + row.area end
assert(sum == 6.5)

-- csv.parse
local csv = require("csv")
local rows = csv.parse("id;name\n1;'Hof; Nord'\n", { separator = ";", quote = "'" })
assert(#rows == 1 and rows[1].name == "Hof; Nord")
assert(csv.parse("a,b\n", { header = false })[1][2] == "b")

-- csv.encode
local text = require("csv").encode({ { id = "n1", note = "wet, cold" }, { id = "n2" } }, { header = { "id", "note" } })
assert(text == 'id,note\nn1,"wet, cold"\nn2,\n')

-- csv.write
local csv = require("csv")
csv.write("out.csv", { { id = "a", n = 1 }, { id = "b", n = 2 } })
for row in csv.read("out.csv") do assert(row.id and row.n) end

-- csv.writer
local out = require("csv").writer("sizes.csv", { header = { "name", "bytes" } })
out:write({ name = "a.tif", bytes = 12 })
out:close()
assert(require("fs").read("sizes.csv") == "name,bytes\na.tif,12\n")

-- csv_writer:write
local out = require("csv").writer("w.csv", { header = false })
out:write({ "a", 1, true })
out:close()

-- csv_writer:close
local out = require("csv").writer("c.csv", { header = { "id" } })
out:close()
assert(require("fs").read("c.csv") == "id\n")

-- csv_writer:discard
local out = require("csv").writer("d.csv")
out:discard()
assert(not require("fs").exists("d.csv"))
