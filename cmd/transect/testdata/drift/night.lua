-- Changes, or deletes, the record of a kind.
local kind = require("kinds")[arg[1]]
local record = assert(kind.find(arg[1] .. " " .. arg[2])[1], "it is not there")
if kind.change then
  kind.change(record, "by night")
else
  kind.delete(record)
end
