-- fs.read
local fs = require("fs")
fs.write("note.txt", "hello")
assert(fs.read("note.txt") == "hello")

-- fs.write
require("fs").write("report.json", "{}")

-- fs.exists
assert(not require("fs").exists("nowhere"))

-- fs.is_file
local fs = require("fs")
fs.write("a.txt", "")
assert(fs.is_file("a.txt") and not fs.is_file(".") and not fs.is_file("nowhere"))

-- fs.is_dir
local fs = require("fs")
assert(fs.is_dir(".") and not fs.is_dir("nowhere"))

-- fs.stat
local fs = require("fs")
fs.write("a.bin", "1234")
assert(fs.stat("a.bin").size == 4 and fs.stat(".").type == "dir")

-- fs.list
assert(type(require("fs").list(".")) == "table")

-- fs.glob
local fs = require("fs")
fs.mkdir("g/deep")
fs.write("g/deep/a.tif", "")
assert(#fs.glob("g/**/*.tif") == 1)

-- fs.find
local fs = require("fs")
fs.mkdir("f/deep")
fs.write("f/deep/a.tif", "1234")
for path, info in fs.find("f/**/*.tif") do assert(info.size == 4) end

-- fs.walk
local fs = require("fs")
fs.mkdir("w/deep")
fs.write("w/deep/a.txt", "1234")
local bytes = 0
for path, info in fs.walk("w") do bytes = bytes + info.size end
assert(bytes == 4)

-- fs.lines
local fs = require("fs")
fs.write("list.txt", "one\r\ntwo\n")
for line, n in fs.lines("list.txt") do assert(line == (n == 1 and "one" or "two")) end

-- fs.mkdir
require("fs").mkdir("out/maps")

-- fs.remove
local fs = require("fs")
fs.mkdir("old/deep")
fs.remove("old", { recursive = true })
assert(not fs.exists("old"))

-- fs.copy
local fs = require("fs")
fs.write("a.txt", "one")
fs.mkdir("backup")
fs.copy("a.txt", "backup")
assert(fs.read("backup/a.txt") == "one")
assert(fs.copy("backup", "again", { recursive = true }) == 1 and fs.exists("again/a.txt"))

-- fs.move
local fs = require("fs")
fs.write("new.txt", "one")
fs.move("new.txt", "old.txt")
assert(fs.exists("old.txt") and not fs.exists("new.txt"))

-- fs.append
local fs = require("fs")
fs.append("notes.txt", "one\n")
fs.append("notes.txt", "two\n")
assert(fs.read("notes.txt") == "one\ntwo\n")

-- fs.temp_dir
local fs = require("fs")
assert(fs.stat(fs.temp_dir()).type == "dir")

-- fs.temp_file
local fs = require("fs")
assert(fs.stat(fs.temp_file("preview.tif")).size == 0)

-- fs.watch
local fs, path = require("fs"), require("path")
fs.mkdir("card")
fs.write("card/DJI_0001.JPG", "…")
fs.write("card/DJI_0002.JPG.part", "…")
local names = {}
for file in fs.watch("card", { pattern = "**/*.{jpg,JPG}", settle = 0.01, interval = 0.005, idle = 0.05 }) do
  names[#names + 1] = path.base(file)
end
assert(#names == 1 and names[1] == "DJI_0001.JPG")
