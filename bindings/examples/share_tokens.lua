local sdk = require("sdk")
local project = sdk.projects.create("North quarry", sdk.users.describe().company)
local orthophoto = sdk.datasets.create_raster_dataset{ name = "Orthophoto", project = project }

-- share_tokens.create
local token = sdk.share_tokens.create(orthophoto, { duration = 24 * 3600 })
print(token.token, token.expiration_date)

-- share_tokens.revoke
local token = sdk.share_tokens.create(orthophoto)
sdk.share_tokens.revoke(token.token)

-- share_tokens.search
sdk.share_tokens.create(orthophoto)
local tokens = sdk.share_tokens.search{ limit = 10 }
assert(#tokens == 1)

-- share_tokens.search_generator
sdk.share_tokens.create({ orthophoto })
for token in sdk.share_tokens.search_generator{} do
  print(token.expiration_date or "never expires")
end
