local Point = {}
Point.__index = Point
Point.__add = function(a, b) return Point.new(a.x + b.x, a.y + b.y) end
Point.__eq = function(a, b) return a.x == b.x and a.y == b.y end
Point.__tostring = function(p) return ("(%d, %d)"):format(p.x, p.y) end

function Point.new(x, y) return setmetatable({ x = x or 0, y = y or 0 }, Point) end
function Point:length() return math.sqrt(self.x ^ 2 + self.y ^ 2) end

local p = Point.new(3, 4)
print(p:length(), tostring(p + Point.new(1)), p == Point.new(3, 4))
