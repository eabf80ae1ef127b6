-- json.encode
local json = require("json")
assert(json.encode({ a = 1, list = { 1, 2 } }) == '{"a":1,"list":[1,2]}')

-- json.pretty
assert(require("json").pretty({ 1 }) == "[\n  1\n]")

-- json.decode
local v = require("json").decode('{"n": 12, "big": 9007199254740993}')
assert(v.n == 12 and v.big == "9007199254740993")

-- json.lines
local sum = 0
for v in require("json").lines('{"n":1}\n{"n":2}\n') do sum = sum + v.n end
assert(sum == 3)

-- json.list
local json = require("json")
assert(json.encode({ tags = json.list() }) == '{"tags":[]}')

-- json.read
require("fs").write("field.json", '{"name": "North"}')
assert(require("json").read("field.json").name == "North")

-- json.write
local json = require("json")
json.write("field.json", { name = "North" })
assert(json.read("field.json").name == "North")

-- json.read_lines
local json = require("json")
json.write_lines("log.jsonl", { { n = 1 }, { n = 2 } })
local sum = 0
for v, line in json.read_lines("log.jsonl") do sum = sum + v.n end
assert(sum == 3)

-- json.write_lines
local json = require("json")
assert(json.write_lines("log.jsonl", { { event = "flown" }, { event = "sent" } }) == 2)

-- json.encode_lines
assert(require("json").encode_lines({ { a = 1 }, 2 }) == '{"a":1}\n2\n')

-- json.integer
local json = require("json")
assert(json.encode({ id = json.integer("9007199254740993") }) == '{"id":9007199254740993}')
