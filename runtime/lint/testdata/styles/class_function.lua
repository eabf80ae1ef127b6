-- class(base): a constructor that is called.
local function class(base)
  local c = {}
  c.__index = c
  if base then setmetatable(c, { __index = base }) end
  function c.is_a(self, other)
    local m = getmetatable(self)
    while m do
      if m == other then return true end
      m = (getmetatable(m) or {}).__index
    end
    return false
  end
  local mt = getmetatable(c) or {}
  mt.__call = function(_, ...)
    local o = setmetatable({}, c)
    if o.init then o:init(...) end
    return o
  end
  return setmetatable(c, mt)
end

local Animal = class()
function Animal:init(name) self.name = name end
function Animal:speak() return self.name .. " makes a sound" end
local Dog = class(Animal)
function Dog:init(name, breed) Animal.init(self, name) self.breed = breed end
function Dog:speak() return Animal.speak(self) .. ": woof" end
local d = Dog("Rex", "mutt")
print(d:speak(), d:is_a(Animal), d.breed)
