package stdlib_test

import (
	"testing"

	"transect/runtime/vm"
)

// timeCases run with time, same (two times are one) and refused.
var timeCases = map[string]string{
	// Year ends of the table in the ISO 8601 article of Wikipedia ("ISO week date").
	"ISO weeks at year ends": `
		for date, week in pairs{ ["2005-01-01"] = "2004-W53-6", ["2005-01-02"] = "2004-W53-7", ["2005-12-31"] = "2005-W52-6", ["2006-01-01"] = "2005-W52-7",
			["2006-01-02"] = "2006-W01-1", ["2006-12-31"] = "2006-W52-7", ["2007-01-01"] = "2007-W01-1", ["2007-12-30"] = "2007-W52-7", ["2007-12-31"] = "2008-W01-1",
			["2008-01-01"] = "2008-W01-2", ["2008-12-28"] = "2008-W52-7", ["2008-12-29"] = "2009-W01-1", ["2008-12-31"] = "2009-W01-3", ["2009-12-31"] = "2009-W53-4",
			["2010-01-01"] = "2009-W53-5", ["2010-01-03"] = "2009-W53-7" } do
			assert(time.format(date, "%G-W%V-%u") == week, date)
			assert(time.format(time.parse(week, "%G-W%V-%u"), "date") == date, week)
			local d = time.date(date)
			assert(time.at{ year = d.weekyear, week = d.week, weekday = d.weekday } == time.parse(date))
		end
		assert(time.format("2009-12-31", "week") == "2009-W53")
		assert(time.add(0, { seconds = 2.3 }) == 2.3 and time.at{ year = 1970, second = 1.001 } == 1.001)
		refused("ValueError", "there is no 2006-W53-1", time.at, { year = 2006, week = 53 })
		refused("ParameterError", "either month and day, or week", time.at, { year = 2006, week = 5, month = 2 })`,
	"a day of 23 hours and one of 25": `
		local zone = { zone = "Europe/Berlin" }
		same(time.at{ year = 2024, month = 3, day = 31, hour = 2, minute = 30, zone = "Europe/Berlin" }, "2024-03-31T01:30Z") -- jumped over: shows 03:30
		same(time.at{ year = 2024, month = 10, day = 27, hour = 2, minute = 30, zone = "Europe/Berlin" }, "2024-10-27T00:30Z") -- the first of two
		assert(time.format("2024-10-27T00:30Z", "%H:%M %Z", zone) == "02:30 CEST" and time.format("2024-10-27T01:30Z", "%H:%M %Z", zone) == "02:30 CET")
		same(time.parse("2024-03-31 02:30", "%Y-%m-%d %H:%M", zone), "2024-03-31T01:30Z")
		assert(time.add("2024-03-30T23:00Z", { days = 1, zone = "Europe/Berlin" }) - time.parse("2024-03-30T23:00Z") == 23 * 3600)
		assert(time.add("2024-10-26T22:00Z", { days = 1, zone = "Europe/Berlin" }) - time.parse("2024-10-26T22:00Z") == 25 * 3600)
		assert(time.add("2024-10-26T22:00Z", { hours = 24, zone = "Europe/Berlin" }) - time.parse("2024-10-26T22:00Z") == 24 * 3600)
		same(time.start_of("day", "2024-10-27T12:00Z", zone), "2024-10-26T22:00Z")
		same(time.start_of("hour", "2024-10-27T01:10Z", zone), "2024-10-27T01:00Z")`,
	"changes of other zones": `
		same(time.at{ year = 2024, month = 3, day = 10, hour = 2, minute = 30, zone = "America/New_York" }, "2024-03-10T07:30Z")
		same(time.at{ year = 2024, month = 11, day = 3, hour = 1, minute = 30, zone = "America/New_York" }, "2024-11-03T05:30Z")
		same(time.at{ year = 2024, month = 10, day = 6, hour = 2, minute = 15, zone = "Australia/Lord_Howe" }, "2024-10-05T15:45Z") -- half an hour
		same(time.at{ year = 2011, month = 12, day = 30, hour = 12, zone = "Pacific/Apia" }, "2011-12-30T22:00Z") -- a day that was not
		assert(time.date("2024-07-01T00:00Z", { zone = "Asia/Kathmandu" }).offset == 20700)
		assert(time.format("1883-11-18T00:00Z", "%:z", { zone = "America/New_York" }) == "-04:56")`,
	"local is the zone of TZ": `
		assert(time.format(0, "%H:%M", { zone = "local" }) == "05:30")`,
	"months end": `
		for _, c in ipairs{ { "2024-01-31", 1, "2024-02-29" }, { "2023-01-31", 1, "2023-02-28" }, { "2024-03-31", -1, "2024-02-29" }, { "2024-12-31", 2, "2025-02-28" }, { "2024-02-29", 12, "2025-02-28" } } do
			assert(time.format(time.add(c[1], { months = c[2] }), "date") == c[3], c[1])
		end
		local ends = {}
		for t in time.each("2024-01-31", "2024-05-31", { months = 1 }) do ends[#ends + 1] = time.format(t, "%d") end
		assert(table.concat(ends, " ") == "31 29 31 30 31")
		local n = 0
		for t in time.each("2024-01-03", "2024-01-01", { days = -1 }) do n = n + 1 end
		assert(n == 3)
		for t in time.each("9998-12-31", "9999-12-31", { years = 3 }) do n = n + 1 end
		assert(n == 4)`,
	"texts of many forms": `
		same(time.parse("2024-05-01T10:00:00+02:00"), "2024-05-01T08:00Z")
		same(time.parse("2024-05-01 10:00", nil, { zone = "+02:00" }), "2024-05-01T08:00Z")
		same(time.parse("20240501T100000Z"), "2024-05-01T10:00Z")
		same(time.parse("Wed, 01 May 2024 10:00:00 GMT", "%a, %d %b %Y %T %Z"), "2024-05-01T10:00Z")
		same(time.parse("1 may 24 12:05 am", "%e %B %y %I:%M %p"), "2024-05-01T00:05Z")
		same(time.parse("2024-122", "%Y-%j"), "2024-05-01")
		same(time.parse("-86400.5", "%s.%L"), -86399.5)
		assert(time.format("2024-05-01T13:05:09.007Z", "%e|%I %p|%j|%y|%a %A|%b %B|%w|%s|%L|%R|%%|%z") == " 1|01 PM|122|24|Wed Wednesday|May May|3|1714568709|007|13:05|%|Z")
		assert(time.format(-1.5) == "1969-12-31T23:59:58.500Z")
		assert(time.format("0001-01-01") == "0001-01-01T00:00:00.000Z")`,
	"durations": `
		for text, seconds in pairs{ ["1h30m"] = 5400, ["90s"] = 90, ["1w 2d"] = 9 * 86400, ["-1.5h"] = -5400, ["250ms"] = 0.25, PT1H30M = 5400, P1DT12H = 129600, P2W = 14 * 86400, ["0s"] = 0 } do
			assert(time.duration(text) == seconds, text)
		end
		for _, text in ipairs{ "", "5", "h", "1m1h", "1h1h", "1y", "PT", "P1DT", "1.2.3s", "1 parsec" } do refused("ValueError", "is not a duration", time.duration, text) end
		refused("ValueError", "months or years", time.duration, "P1M")
		assert(time.format_duration(90061.5) == "1d1h1m1.5s" and time.format_duration(0) == "0s" and time.format_duration(-90) == "-1m30s" and time.format_duration(0.9996) == "1s")`,
	"what is wrong is said": `
		refused("ParameterError", '"Europe/Berln" is not a time zone (did you mean Europe/Berlin?)', time.format, 0, "date", { zone = "Europe/Berln" })
		refused("ParameterError", "not a time zone", time.format, 0, "date", { zone = "../etc/passwd" })
		refused("ValueError", "day out of range", time.parse, "2024-02-30")
		refused("ValueError", "there is no 2023-02-29", time.parse, "29.2.2023", "%d.%m.%Y")
		refused("ValueError", "2023 has no day 366", time.parse, "2023-366", "%Y-%j")
		for _, text in ipairs{ "2024-W00", "2024-W53", "2026-W54" } do refused("ValueError", "there is no " .. text, time.parse, text, "%Y-W%V") refused("ValueError", "there is no " .. text, time.parse, text, "week") end
		refused("ValueError", "short names of zones", function() local _, e = try(time.parse, "10:00 CEST", "%H:%M %Z"); error(e.hint and tostring(e) .. e.hint and e) end)
		refused("ValueError", 'has " tomorrow" more', time.parse, "2024-05-01 tomorrow", "%Y-%m-%d")
		refused("ParameterError", "%q is not known", time.format, 0, "%q")
		refused("ParameterError", "must be one of compact, date, datetime, week", time.format, 0, "dat")
		refused("ParameterError", "outside of the years", time.format, 1e12)
		refused("ParameterError", "outside of the years", time.format, 0 / 0)
		refused("ValueError", "outside of the years", time.add, 0, { years = 9000 })
		refused("ParameterError", "month must be between 1 and 12", time.at, { year = 2024, month = 13 })
		refused("ParameterError", "must not be empty", time.each, 0, 1, {})
		refused("ParameterError", "unknown option dayz (did you mean days?)", time.add, 0, { dayz = 1 })`,
}

const timeStart = `local time = require("time")
	local function same(t, text) local want = type(text) == "number" and text or time.parse(text); assert(t == want, time.format(t)) end
	local function refused(name, message, f, ...)
		local _, e = try(f, ...)
		assert(type(e) == "userdata" and e.name == name and (tostring(e) .. tostring(e.hint)):find(message, 1, true), tostring(e))
	end; `

func TestTime(t *testing.T) {
	env := func(name string) (string, bool) { return "Asia/Kolkata", name == "TZ" }
	for name, code := range timeCases {
		t.Run(name, func(t *testing.T) {
			if _, _, err := run(t, vm.Options{Env: env}, timeStart+code); err != nil {
				t.Error(err)
			}
		})
	}
}

// No text makes a parser panic, and what it takes it can write.
func FuzzTimeParse(f *testing.F) {
	for _, seed := range [][2]string{{"2024-05-01", "%Y-%m-%d"}, {"12:05 am", "%I:%M %p"}, {"2009-W53-7", "%G-W%V-%u"}, {"-1", "%s"}, {"Z", "%z%:z%"}} {
		f.Add(seed[0], seed[1])
	}
	in := opened(f, `local time = require("time")
		function check(text, layout)
			local t = try(time.parse, text, layout)
			if t then assert(time.format(t)) end
			try(time.parse, text); try(time.duration, text); try(time.format, 0, layout)
		end`)
	f.Fuzz(func(t *testing.T, text, layout string) {
		in.call(t, "check", text, layout)
	})
}
