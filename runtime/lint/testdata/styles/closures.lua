local function counter(step)
  step = step or 1
  local n = 0
  return function() n = n + step; return n end
end
local c1, c2 = counter(), counter(10)
c1() c1()
print(c1(), c2())
local compose = function(f, g) return function(...) return f(g(...)) end end
local inc = function(x) return x + 1 end
local double = function(x) return x * 2 end
print(compose(inc, double)(5), compose(double, inc)(5))
local function curry(f, a) return function(b) return f(a, b) end end
print(curry(math.max, 3)(7))
