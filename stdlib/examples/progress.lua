-- progress.each
local sum = 0
for n in require("progress").each({ 1, 2, 3 }, { label = "adding" }) do sum = sum + n end
assert(sum == 6)

-- progress.start
local p = require("progress").start({ label = "upload", files = 10, bytes = 5e6 })
p:add({ files = 10, bytes = 5e6 })
p:finish()

-- progress:add
local p = require("progress").start({ label = "upload", files = 2 })
p:add({ files = 1, bytes = 1024 })
p:add({ failed = 1 })
p:finish()

-- progress:finish
require("progress").start({ label = "check" }):finish()
