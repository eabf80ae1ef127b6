-- env.get
assert(require("env").get("NO_SUCH_VARIABLE", "none") == "none")

-- env.require
local _, err = try(require("env").require, "NO_SUCH_VARIABLE")
assert(err.name == "ConfigError")

-- env.number
assert(require("env").number("NO_SUCH_VARIABLE", 2.5) == 2.5)

-- env.integer
assert(require("env").integer("NO_SUCH_VARIABLE", 8) == 8)

-- env.boolean
assert(require("env").boolean("NO_SUCH_VARIABLE", false) == false)

-- env.load
local env = require("env")
require("fs").write(".env", "SEASON=2024  # this one\nexport GREETING='hello # world'\n")
assert(env.load().GREETING == "hello # world" and env.integer("SEASON") == 2024)
