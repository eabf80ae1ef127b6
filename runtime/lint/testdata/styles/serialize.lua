local function serialize(o, indent)
  indent = indent or ""
  local t = type(o)
  if t == "number" or t == "boolean" or t == "nil" then return tostring(o)
  elseif t == "string" then return string.format("%q", o)
  elseif t == "table" then
    local out, keys = {}, {}
    for k in pairs(o) do table.insert(keys, k) end
    table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
    for _, k in ipairs(keys) do
      out[#out + 1] = ("%s  [%s] = %s"):format(indent, serialize(k), serialize(o[k], indent .. "  "))
    end
    return "{\n" .. table.concat(out, ",\n") .. "\n" .. indent .. "}"
  else
    error("cannot serialize a " .. t)
  end
end
local text = serialize { 1, "two", { x = true } }
print(text)
print(#assert(loadstring("return " .. text))())
