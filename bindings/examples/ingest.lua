local ingest, sdk, fs = require("ingest"), require("sdk"), require("fs")
fs.mkdir("flight")
fs.write("flight/log.txt", "take-off 10:30")
fs.write("flight/plan.txt", "two strips")
local project = sdk.projects.create("Quarry", sdk.users.describe().company)

-- ingest.run
local result = ingest.run{ source = "flight", project = project, report = "out.json" }
assert(result.created == 2 and result.failed == 0)
for file in result.files() do assert(file.outcome == "created" and file.dataset) end
assert(ingest.run{ source = "flight", project = project }.skipped == 2)
require("script").fail_items(result.failed, result.total)

-- ingest.check
local report = ingest.check{ source = "flight" }
assert(report.files == 2 and report.errors == 0)

-- ingest.verify
local result = ingest.run{ source = "flight", project = project }
assert(ingest.verify{ source = "flight", project = project }.same == 2)
assert(ingest.verify{ ingest = result.id }.ok)
