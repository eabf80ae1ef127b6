-- path.join
local path = require("path")
assert(path.base(path.join("out", "a", "b.tif")) == "b.tif")

-- path.base
assert(require("path").base("flight/DJI_0001.JPG") == "DJI_0001.JPG")

-- path.dir
assert(require("path").dir("flight/DJI_0001.JPG") == "flight")

-- path.ext
assert(require("path").ext("ortho.tif") == ".tif")

-- path.stem
assert(require("path").stem("maps/ortho.tif") == "ortho")

-- path.clean
assert(require("path").clean("a/../b") == "b")

-- path.abs
assert(require("path").base(require("path").abs("x")) == "x")

-- path.relative
local path = require("path")
assert(path.relative("flights/may/a.jpg", "flights") == path.join("may", "a.jpg"))

-- path.parts
local parts = require("path").parts("flights/may/a.jpg")
assert(#parts == 3 and parts[2] == "may")

-- path.with_ext
assert(require("path").with_ext("maps/ortho.tif", "png") == "maps/ortho.png")

-- path.is_abs
local path = require("path")
assert(path.is_abs(path.abs("x")) and not path.is_abs("x"))

-- path.match
local path = require("path")
assert(path.match("**/*.{jpg,JPG}", "flight/DJI_0001.JPG") and not path.match("*.jpg", "flight/a.jpg"))
