-- notify.ping
local notify = require("notify")
notify.ping("https://example.com/ping/nightly", "start")
notify.ping("https://example.com/ping/nightly", "fail", { body = "3 of 12 photos failed" })

-- notify.webhook
local notify = require("notify")
notify.webhook("https://example.com/hooks/field", { text = "the map of n1 is ready" })
notify.webhook("https://example.com/hooks/field", { json = { title = "map", field = "n1" } })

-- notify.email
local env, notify = require("env"), require("notify")
notify.email{ smtp = env.require("SMTP_SERVER"), user = "survey@example.com", password = env.require("SMTP_PASSWORD"),
  from = "Survey <survey@example.com>", to = "ops@example.com", subject = "The map of n1 is ready", body = "See the share." }
