local sdk = require("sdk")
local oauth = sdk.oauth_clients.create("nightly ingest")

-- oauth_clients.create
local limited = sdk.oauth_clients.create("contractor", { expiration_date = "2099-12-31" })
print(limited.id, limited.name) -- its secret is shown this once

-- oauth_clients.delete
sdk.oauth_clients.delete(oauth)

-- oauth_clients.search
local found = sdk.oauth_clients.search{ filter = { name = { ["$eq"] = "nightly ingest" } } }
assert(found[1].id == oauth.id)

-- oauth_clients.search_generator
for c in sdk.oauth_clients.search_generator{} do print(c.name, c.expiration_date or "never expires") end
