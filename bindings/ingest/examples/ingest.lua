local ingest, sdk, fs = require("ingest"), require("sdk"), require("fs")
fs.mkdir("flight")
fs.write("flight/log.txt", "take-off 10:30")
fs.write("flight/plan.txt", "two strips")
local project = sdk.projects.create("Quarry", sdk.users.describe().company)

-- ingest.run
local result = ingest.run{ source = "flight", project = project, report = "out.json" }
assert(result.uploaded == 2 and result.bad == 0)
for file in result.files() do assert(file.verdict == "uploaded" and file.dataset) end
assert(ingest.run{ source = "flight", project = project }.already_there == 2)
require("script").fail_items(result.bad, result.total)

-- ingest.check
local report = ingest.check{ source = "flight" }
assert(report.files == 2 and report.errors == 0)

-- ingest.fits
ingest.fits{ source = "flight" }

-- ingest.verify
local result = ingest.run{ source = "flight", project = project }
assert(ingest.verify{ source = "flight", project = project }.already_there == 2)
assert(ingest.verify{ ingest = result.id }.ok)
