local function try_catch(f, catch, finally)
  local results = { pcall(f) }
  if not results[1] and catch then results = { true, catch(results[2]) } end
  if finally then finally() end
  return unpack(results, 2)
end
print(try_catch(function() error({ code = 42 }) end, function(e) return e.code end, function() print "done" end))
local cache = {}
local ok, err = xpcall(function() return cache.entries.x end, function(m) return "caught: " .. m end)
print(ok, err)
local file, why = io.open("/no/such/file")
if not file then print((why:gsub("^.-: ", ""))) end
print(select(2, pcall(error, "plain", 0)))
assert(true, "never")
do return end
