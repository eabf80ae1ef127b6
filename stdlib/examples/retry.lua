-- retry.call
local tried = 0
local result = require("retry").call(function()
  tried = tried + 1
  if tried < 3 then error("not yet") end
  return "done"
end, { wait = 0.001, on = function(err) return tostring(err):find("not yet") end })
assert(result == "done" and tried == 3)

-- retry.policy
local patient = require("retry").policy{ attempts = 10, max_wait = 300 }
assert(patient:call(function() return "fine" end) == "fine")

-- policy:call
local careful = require("retry").policy{ attempts = 3, wait = 0.001 }
assert(careful:call(function(n) return n + 1 end, 1) == 2)
