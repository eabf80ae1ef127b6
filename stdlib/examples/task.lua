-- task.spawn
local t = require("task").spawn(function(a, b) return a + b end, 1, 2)
assert(t:await() == 3)

-- task.await
local task = require("task")
assert(task.await(task.spawn(function() return "done" end)) == "done")

-- task.all
local r = require("task").all({ function() return "a" end, function() return "b" end })
assert(r[1] == "a" and r[2] == "b")

-- task.map
local task = require("task")
local squares = task.map({ 1, 2, 3 }, function(n) return n * n end, { workers = 2 })
assert(squares[3] == 9)
local halves, failures = task.map({ 4, 5, 6 }, function(n)
  return n % 2 == 0 and n / 2 or error(n .. " is odd")
end, { collect = true })
assert(halves[1] == 2 and halves[2] == nil and halves[3] == 3)
assert(#failures == 1 and failures[1].place == 2 and failures[1].item == 5 and tostring(failures[1].error):find("odd"))

-- task.race
local task = require("task")
assert(task.race({ function() task.sleep(60) end, function() return "quick" end }) == "quick")

-- task.timeout
local task = require("task")
local _, err = try(task.timeout, 0.01, task.sleep, 60)
assert(err.name == "TimeoutError")

-- task.sleep
require("task").sleep(0.001)

-- task.scope
local task = require("task")
local n = 0
task.scope(function()
  for i = 1, 3 do task.spawn(function() n = n + i end) end
end)
assert(n == 6)

-- task.channel
local task = require("task")
local photos = task.channel(16)
task.scope(function()
  task.spawn(function()
    for i = 1, 40 do photos:send(i) end
    photos:close()
  end)
  for worker = 1, 4 do
    task.spawn(function() for photo in photos:each() do task.sleep(0) end end)
  end
end)

-- task:await
local t = require("task").spawn(function() return 1, 2 end)
local a, b = t:await()
assert(a == 1 and b == 2)

-- task:cancel
local task = require("task")
local t = task.spawn(function() task.sleep(60) end)
t:cancel()
assert(not pcall(t.await, t))

-- task:status
local t = require("task").spawn(function() end)
t:await()
assert(t:status() == "finished")

-- channel:send
local task = require("task")
local ch = task.channel(1)
ch:send("DJI_0001.JPG")
assert(ch:receive() == "DJI_0001.JPG")

-- channel:receive
local task = require("task")
local ch = task.channel()
task.spawn(function() ch:send(7) end)
assert(ch:receive() == 7)
local _, err = try(ch.receive, ch, { timeout = 0.01 })
assert(err.name == "TimeoutError")

-- channel:each
local task = require("task")
local ch, sum = task.channel(), 0
task.spawn(function()
  for i = 1, 3 do ch:send(i) end
  ch:close()
end)
for n in ch:each() do sum = sum + n end
assert(sum == 6)

-- channel:close
local ch = require("task").channel(1)
ch:send(1)
ch:close()
assert(ch:receive() == 1 and ch:receive() == nil and ch:closed())

-- channel:closed
assert(not require("task").channel():closed())
