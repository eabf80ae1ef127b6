-- A recursive descent calculator.
local function parse(s)
  local pos = 1
  local expr
  local function peek() pos = s:find("%S", pos) or #s + 1 return s:sub(pos, pos) end
  local function factor()
    local c = peek()
    if c == "(" then
      pos = pos + 1
      local v = expr()
      assert(peek() == ")", "')' expected")
      pos = pos + 1
      return v
    elseif c == "-" then pos = pos + 1 return -factor() end
    local a, b = s:find("^%d+%.?%d*", pos)
    if not a then error("number expected at " .. pos, 0) end
    pos = b + 1
    return tonumber(s:sub(a, b))
  end
  local function term()
    local v = factor()
    while true do
      local c = peek()
      if c == "*" then pos = pos + 1; v = v * factor()
      elseif c == "/" then pos = pos + 1; v = v / factor()
      else return v end
    end
  end
  function expr()
    local v = term()
    while true do
      local c = peek()
      if c == "+" then pos = pos + 1; v = v + term()
      elseif c == "-" then pos = pos + 1; v = v - term()
      else return v end
    end
  end
  return expr()
end
print(parse("1 + 2 * (3 - 4) / 2"), pcall(parse, "1 + "))
