-- jobs.submit
local jobs = require("jobs")
local id = jobs.submit{ script = "survey.lua", args = { "flight-07", 3 }, queue = "field-office", retries = 5 }
print("job " .. id .. " is queued")

-- jobs.map
local jobs = require("jobs")
local flights = { "flight-01", "flight-02", "flight-03" }
local done = jobs.map(flights, { script = "survey.lua", concurrency = 2, args = function(flight) return { flight, "--quick" } end })
for _, outcome in ipairs(done) do
  print(outcome.item, outcome.ok and outcome.result or outcome.message)
end
assert(#done == 3 and done[2].item == "flight-02")

-- jobs.wait
local jobs = require("jobs")
local first = jobs.submit{ script = "survey.lua", args = { "flight-01" } }
local second = jobs.submit{ script = "survey.lua", args = { "flight-02" } }
for _, outcome in ipairs(jobs.wait({ first, second }, { timeout = 3600 })) do
  print(outcome.job, outcome.state)
end
assert(jobs.wait(first).ok)

-- jobs.result
local jobs = require("jobs")
local id = jobs.submit{ script = "survey.lua", args = { "flight-01" } }
local made = jobs.result(id)
assert(made[1] == "flight-01")
