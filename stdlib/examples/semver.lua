-- semver.parse
local v = require("semver").parse("v1.2.3")
assert(v:major() == 1 and v:minor() == 2 and tostring(v) == "1.2.3")

-- semver.compare
assert(require("semver").compare("1.10.0", "1.9.0") == 1)

-- semver.satisfies
assert(require("semver").satisfies("1.4.2", "1.x"))

-- semver.highest
assert(require("semver").highest({ "1.0.0", "1.10.0", "2.0.0" }, "1.x") == "1.10.0")

-- semver.valid
local semver = require("semver")
assert(semver.valid("v1.2.3") and not semver.valid("1.2"))

-- semver.sort
local sorted = require("semver").sort({ "1.10.0", "1.9.0", "1.10.0-rc.1" })
assert(table.concat(sorted, " ") == "1.9.0 1.10.0-rc.1 1.10.0")

-- semver.increment
local semver = require("semver")
assert(semver.increment("1.2.3", "minor") == "1.3.0")
assert(semver.increment("1.2.3", "premajor", "rc") == "2.0.0-rc.0")
assert(semver.increment("2.0.0-rc.0", "prerelease") == "2.0.0-rc.1")

-- semver.intersects
local semver = require("semver")
assert(semver.intersects("^1.2", ">=1.4 <3"))
assert(not semver.intersects("1.x", ">=2"))
