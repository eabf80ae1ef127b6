-- Show who is connected, to which platform
-- users.describe without a user is the one who asks.
local sdk = require("sdk")
local me = sdk.users.describe()
print(me.username, me.profile, sdk.url)
for _, company in ipairs(me.companies) do print(sdk.companies.describe(company).name) end
--> local@transect.invalid admin http://transect.local
--> Local company
