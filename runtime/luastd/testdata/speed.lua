-- Times operations of everyday Lua at three sizes, each twice the one before. Prints for
-- each the processor time in seconds, the least of three.
local cases = {}
local function case(name, n, f) cases[#cases + 1] = { name, n, f } end
local function numbers(n) local t = {} for i = 1, n do t[i] = i * 7919 % n end return t end
local function texts(n) local t = {} for i = 1, n do t[i] = "item " .. i * 7919 % n end return t end
local function set(n) local t = {} for i = 1, n do t["key" .. i] = i end return t end

-- tables as lists
case("append by length", 2e4, function(n) local t = {} for i = 1, n do t[#t + 1] = i end end)
case("append by counter", 2e4, function(n) local t = {} for i = 1, n do t[i] = i end end)
case("table.insert at the end", 2e4, function(n) local t = {} for i = 1, n do table.insert(t, i) end end)
case("table.insert at the front", 1e3, function(n) local t = {} for i = 1, n do table.insert(t, 1, i) end end)
case("table.remove from the end", 2e4, function(n) local t = numbers(n) for _ = 1, n do table.remove(t) end end)
case("table.remove from the front", 1e3, function(n) local t = numbers(n) for _ = 1, n do table.remove(t, 1) end end)
case("shorten by length", 2e4, function(n) local t = numbers(n) while #t > 0 do t[#t] = nil end end)
case("a stack", 2e4, function(n)
  local t = {}
  for i = 1, n do t[#t + 1] = i t[#t + 1] = i local v = t[#t] t[#t] = nil end
end)
case("a queue by two counters", 2e4, function(n)
  local q, first, last = {}, 1, 0
  for i = 1, n do
    last = last + 1 q[last] = i
    if i % 2 == 0 then local v = q[first] q[first] = nil first = first + 1 end
  end
end)
case("a list filled from its end", 2e4, function(n) local t = {} for i = n, 1, -1 do t[i] = i end end)
case("read by index", 5e4, function(n) local t, s = numbers(100), 0 for i = 1, n do s = s + t[i % 100 + 1] end end)
case("ipairs", 2e4, function(n) local t, s = numbers(n), 0 for _, v in ipairs(t) do s = s + v end end)
case("length in a loop", 5e4, function(n) local t, s = numbers(10), 0 for i = 1, n do s = s + #t end end)
case("a longer list", 1e5, function(n) local t = {} for i = 1, n do t[#t + 1] = i end assert(#t == n) end)
case("table.sort of numbers", 2e3, function(n) table.sort(numbers(n)) end)
case("table.sort of texts", 2e3, function(n) table.sort(texts(n)) end)
case("table.sort by a function", 2e3, function(n) table.sort(numbers(n), function(a, b) return a > b end) end)
case("table.concat", 1e4, function(n) table.concat(texts(n), ",") end)
case("unpack", 5e2, function(n) for _ = 1, 20 do select("#", unpack(numbers(n))) end end)
case("two dimensions", 2e4, function(n)
  local rows = {}
  for i = 1, n do local r = rows[i % 100] or {} rows[i % 100] = r r[i] = i end
end)

-- tables by key
case("a date as a key", 1e3, function(n) for i = 1, n do local t = {} t[20261126 + i] = i end end)
case("a set of dates", 2e4, function(n) local t = {} for i = 1, n do t[20260000 + i] = i end end)
case("distant indexes", 1e3, function(n) local t = {} for i = 1, n do t[i * 1000003] = i end end)
case("a million as a key", 1e3, function(n) for _ = 1, n do local t = {} t[1000000] = 1 end end)
case("negative indexes", 1e4, function(n) local t = {} for i = 1, n do t[-i] = i end end)
case("fractions as keys", 1e4, function(n) local t = {} for i = 1, n do t[i / 8] = i end end)
case("texts as keys", 1e4, function(n) set(n) end)
case("tables as keys", 1e4, function(n) local t = {} for i = 1, n do t[{}] = i end end)
case("booleans as keys", 5e4, function(n) local t = {} for i = 1, n do t[i % 2 == 0] = i end end)
case("read a field", 5e4, function(n) local t, s = { value = 1 }, 0 for i = 1, n do s = s + t.value end end)
case("write a field", 5e4, function(n) local t = {} for i = 1, n do t.value = i end end)
case("read by a text", 2e4, function(n) local t, k, s = set(100), texts(100), 0 for i = 1, n do s = t[k[i % 100 + 1]] end end)
case("read what is absent", 5e4, function(n) local t, s = set(100), 0 for i = 1, n do s = t.none end end)
case("count words", 2e4, function(n) local t = {} for i = 1, n do local k = "w" .. i % 97 t[k] = (t[k] or 0) + 1 end end)
case("pairs of a list", 2e4, function(n) local s = 0 for _, v in pairs(numbers(n)) do s = s + v end end)
case("pairs of a set", 1e4, function(n) local s = 0 for _, v in pairs(set(n)) do s = s + v end end)
case("clear in pairs", 1e4, function(n) local t = set(n) for k in pairs(t) do t[k] = nil end end)
case("clear a list in pairs", 1e4, function(n) local t = numbers(n) for k in pairs(t) do t[k] = nil end end)
case("clear by next", 4e3, function(n) local t = set(n) local k = next(t) while k do t[k] = nil k = next(t) end end)
case("clear a list by next", 4e3, function(n) local t = numbers(n) while next(t) do t[next(t)] = nil end end)
case("a work list", 4e3, function(n)
  local todo, done = { key1 = true }, 0
  while true do
    local k = next(todo)
    if not k then break end
    todo[k] = nil done = done + 1
    if done < n then todo["key" .. done + 1] = true end
  end
end)
case("keys that come and go", 2e4, function(n) local t = {} for i = 1, n do t["key" .. i] = 1 t["key" .. i] = nil end end)
case("small tables", 2e4, function(n) for i = 1, n do local t = { i, i, x = i } end end)
case("records", 1e4, function(n) local t = {} for i = 1, n do t[i] = { name = "a", size = i, kind = "b" } end end)
case("a linked list", 2e4, function(n) local l for i = 1, n do l = { value = i, next = l } end while l do l = l.next end end)
case("weak values", 2e3, function(n) local t = setmetatable({}, { __mode = "v" }) for i = 1, n do t[i] = {} end end)

-- texts
case("join two", 2e4, function(n) for i = 1, n do local s = "item " .. i end end)
case("join to one that grows", 1e3, function(n) local s = "" for i = 1, n do s = s .. "x" end end)
case("collect and join", 1e4, function(n) local t = {} for i = 1, n do t[#t + 1] = "x" .. i end local s = table.concat(t) end)
case("string.format", 1e4, function(n) for i = 1, n do local s = string.format("%05d %s %.2f", i, "a", i / 3) end end)
case("string.find plain", 2e4, function(n) local s = ("x"):rep(n) .. "needle" assert(s:find("needle", 1, true)) end)
case("string.find a pattern", 2e4, function(n) local s = ("x "):rep(n) .. "n1" assert(s:find("n%d")) end)
case("string.match", 1e4, function(n) for i = 1, n do local y, m = ("2024-05-14"):match("(%d+)-(%d+)") end end)
case("string.gmatch", 1e4, function(n) for w in ("word "):rep(n):gmatch("%a+") do end end)
case("string.gsub by text", 1e4, function(n) local s = ("word "):rep(n):gsub("word", "text") end)
case("string.gsub by a function", 1e4, function(n) local s = ("word "):rep(n):gsub("%a+", string.upper) end)
case("string.sub", 3e4, function(n) local s, c = ("abc"):rep(100), 0 for i = 1, n do if s:sub(i % 300, i % 300) == "a" then c = c + 1 end end end)
case("string.byte", 3e4, function(n) local s, c = ("abc"):rep(100), 0 for i = 1, n do c = c + s:byte(i % 300 + 1) end end)
case("string.char", 3e4, function(n) for i = 1, n do local s = string.char(65 + i % 26) end end)
case("string.rep", 1e5, function(n) local s = ("ab"):rep(n) end)
case("string.reverse", 1e5, function(n) local s = ("ab"):rep(n):reverse() end)
case("string.upper", 2e4, function(n) for i = 1, n do local s = ("word"):upper() end end)
case("tostring", 2e4, function(n) for i = 1, n do local s = tostring(i) end end)
case("tonumber", 2e4, function(n) for i = 1, n do local s = tonumber("123.5") end end)
case("compare texts", 5e4, function(n) local a, b, c = "photo 1", "photo 2", 0 for i = 1, n do if a < b then c = c + 1 end end end)
case("split lines", 1e4, function(n) local t = {} for l in ("a line\n"):rep(n):gmatch("([^\n]*)\n") do t[#t + 1] = l end end)

-- calls
case("a call", 5e4, function(n) local function f(x) return x end for i = 1, n do f(i) end end)
case("a method", 5e4, function(n) local o = { v = 0 } function o:add(x) self.v = self.v + x end for i = 1, n do o:add(i) end end)
case("recursion", 16, function(n) local function fib(k) if k < 2 then return k end return fib(k - 1) + fib(k - 2) end fib(16 + math.floor(math.log(n / 16) / math.log(2) * 1.44 + 0.5)) end)
case("a tail call", 5e4, function(n) local function f(k) if k == 0 then return 0 end return f(k - 1) end f(n) end)
case("closures", 2e4, function(n) for i = 1, n do local f = function() return i end f() end end)
case("upvalues", 5e4, function(n) local c = 0 local function f() c = c + 1 end for i = 1, n do f() end end)
case("varargs", 2e4, function(n) local function f(...) return select("#", ...) end for i = 1, n do f(i, i, i) end end)
case("varargs to a table", 2e4, function(n) local function f(...) return { ... } end for i = 1, n do f(i, i, i) end end)
case("inheritance", 2e4, function(n)
  local A = {} A.__index = A function A:get() return self.v end
  local B = setmetatable({}, { __index = A }) B.__index = B
  local o = setmetatable({ v = 1 }, B)
  for i = 1, n do o:get() end
end)
case("operators of objects", 2e4, function(n)
  local M = {} M.__add = function(a, b) return a end
  local a, b = setmetatable({}, M), setmetatable({}, M)
  for i = 1, n do local c = a + b end
end)
case("pcall", 2e4, function(n) local function f() end for i = 1, n do pcall(f) end end)
case("pcall of an error", 5e3, function(n) local function f() error("x") end for i = 1, n do pcall(f) end end)
case("a coroutine", 1e4, function(n) local f = coroutine.wrap(function() while true do coroutine.yield(1) end end) for i = 1, n do f() end end)
case("many coroutines", 1e3, function(n) for i = 1, n do coroutine.wrap(function() coroutine.yield(1) end)() end end)
case("globals", 5e4, function(n) counter = 0 for i = 1, n do counter = counter + 1 end end)
case("loadstring", 5e2, function(n) for i = 1, n do loadstring("local a = 1 return a + " .. i)() end end)

-- numbers
case("a numeric loop", 2e5, function(n) local s = 0 for i = 1, n do s = s + i end end)
case("a while loop", 1e5, function(n) local i = 0 while i < n do i = i + 1 end end)
case("remainders", 1e5, function(n) local s = 0 for i = 1, n do s = s + i % 7 end end)
case("powers", 5e4, function(n) local s = 0 for i = 1, n do s = s + i ^ 2 end end)
case("math functions", 3e4, function(n) local s = 0 for i = 1, n do s = s + math.floor(math.sqrt(i)) end end)
case("math.random", 3e4, function(n) local s = 0 for i = 1, n do s = s + math.random(10) end end)
case("os.date", 1e3, function(n) for i = 1, n do local s = os.date("!%Y-%m-%d", i * 86400) end end)

local chosen = arg and arg[1]
for _, c in ipairs(cases) do
  if not chosen or c[1] == chosen then
    local times = {}
    for size = 0, 2 do
      local n, least = c[2] * 2 ^ size, math.huge
      for _ = 1, 3 do
        collectgarbage()
        local begun = os.clock()
        c[3](n)
        least = math.min(least, os.clock() - begun)
      end
      times[#times + 1] = string.format("%.7f", least)
    end
    print(c[1] .. "\t" .. table.concat(times, "\t"))
  end
end
