-- List the datasets whose ingestion failed, with the reason
-- Their files are on the platform, which could not read them.
local sdk = require("sdk")
for d in sdk.datasets.search_generator{ filter = { ["ingestion.status"] = { ["$eq"] = "failed" } } } do
  print(d.name, d.ingestion.error and d.ingestion.error.message or "no reason given")
end
--> broken.jpg the file contains zeros instead of an image
