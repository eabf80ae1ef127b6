-- script.args
local args = require("script").args({
  "folder",
  folder = { "string", default = "flight", doc = "where the images are" },
  workers = { "integer", default = 4 },
  mode = { "string", default = "fast", choices = { "fast", "careful" } },
  verbose = "boolean",
})
assert(args.folder == "flight" and args.workers == 4 and args.verbose == false)

-- script.exit
local script = require("script")
if false then script.exit(3) end

-- script.fail_items
require("script").fail_items(0, 12)

-- script.checkpoint
local script = require("script")
for _, field in ipairs({ "n1", "n2" }) do
  script.checkpoint()
  -- work on the field
end

-- script.lock
require("script").lock("nightly ingest")

-- script.path
local file = require("script").path()
assert(file == nil or require("path").is_abs(file))

-- script.dir
local script, path, fs = require("script"), require("path"), require("fs")
if fs.exists(path.join(script.dir(), "mail.txt")) then print(fs.read(path.join(script.dir(), "mail.txt"))) end

-- script.usage_error
local script = require("script")
local args = script.args({ "days", days = { "integer", default = 7 } })
if args.days < 1 then script.usage_error("--days must be 1 or more", "leave it out for a week") end

-- script.nearest
assert(require("script").nearest("Quary", { "Quarry", "Harbour" }) == "Quarry")

-- script.confirm
local script = require("script")
local args = script.args({ yes = { "boolean", doc = "do not ask" } })
if args.yes and script.confirm("Delete 12 datasets?", "give --yes") then print("deleting") end

-- script.rehearsal
if require("script").rehearsal() then print("nothing will be sent") end
