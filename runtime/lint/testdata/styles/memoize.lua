local function memoize(f)
  local cache = setmetatable({}, { __mode = "k" })
  return function(x)
    local v = cache[x]
    if v == nil then v = f(x); cache[x] = v end
    return v
  end
end
local fib
fib = memoize(function(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end)
print(fib(60))
local squares = setmetatable({}, { __index = function(t, n) local v = n * n rawset(t, n, v) return v end })
print(squares[12], rawget(squares, 12))
