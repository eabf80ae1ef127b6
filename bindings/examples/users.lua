local sdk = require("sdk")

-- users.describe
local me = sdk.users.describe()
assert(sdk.users.describe(me) == me)
print(me.displayName, me.company)

-- users.search
local me = sdk.users.describe()
local colleagues = sdk.users.search{ filter = { company = { ["$eq"] = me.company } }, sort = { lastName = 1 } }
assert(colleagues[1] == me)

-- users.search_generator
for user in sdk.users.search_generator{} do
  print(user.username, user.status)
end
