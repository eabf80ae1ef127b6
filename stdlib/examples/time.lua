-- time.now
assert(require("time").now() > 1.7e9)

-- time.clock
local time = require("time")
local start = time.clock()
assert(time.clock() - start >= 0)

-- time.format
local time = require("time")
assert(time.format(0) == "1970-01-01T00:00:00.000Z" and time.format(0, "date") == "1970-01-01")
assert(time.format("2024-05-01T10:00:00Z", "%d.%m.%Y %H:%M %Z", { zone = "Europe/Berlin" }) == "01.05.2024 12:00 CEST")

-- time.parse
local time = require("time")
assert(time.parse("1970-01-02T00:00:01.5Z") == 86401.5)
assert(time.parse("2016:06:23 16:31:59", "%Y:%m:%d %H:%M:%S", { zone = "America/Chicago" }) == time.parse("2016-06-23T21:31:59Z"))

-- time.sleep
require("time").sleep(0.001)

-- time.date
local d = require("time").date("2024-12-30T23:30:00Z", { zone = "Europe/Berlin" })
assert(d.year == 2024 and d.day == 31 and d.hour == 0 and d.week == 1 and d.weekyear == 2025 and d.offset == 3600)

-- time.at
local time = require("time")
assert(time.at{ year = 2024, month = 5, day = 1, hour = 12, zone = "Europe/Berlin" } == time.parse("2024-05-01T10:00:00Z"))
assert(time.format(time.at{ year = 2020, week = 53, weekday = 7 }, "date") == "2021-01-03")

-- time.add
local time = require("time")
assert(time.format(time.add("2024-01-31", { months = 1 }), "date") == "2024-02-29")
local before = time.parse("2024-03-30T12:00", nil, { zone = "Europe/Berlin" })
assert(time.add(before, { days = 1, zone = "Europe/Berlin" }) == before + 23 * 3600)

-- time.start_of
local time = require("time")
assert(time.format(time.start_of("week", "2024-05-01T10:00:00Z"), "date") == "2024-04-29")

-- time.each
local time = require("time")
local days = {}
for t in time.each("2024-02-28", "2024-03-01", { days = 1 }) do days[#days + 1] = time.format(t, "%d.%m.") end
assert(table.concat(days, " ") == "28.02. 29.02. 01.03.")

-- time.duration
local time = require("time")
assert(time.duration("1h30m") == 5400 and time.duration("2d") == 172800 and time.duration("PT1M0.5S") == 60.5)

-- time.format_duration
local time = require("time")
assert(time.format_duration(5400) == "1h30m" and time.format_duration(0.25) == "250ms")
