-- Runs one program for both interpreters and writes what came of it.
local print, pcall, loadstring, type, tostring, pairs, ipairs, select, getmetatable, rawget, rawequal =
	print, pcall, loadstring, type, tostring, pairs, ipairs, select, getmetatable, rawget, rawequal
local format, gsub, byte, sub, concat, sort, stdout = string.format, string.gsub, string.byte, string.sub, table.concat, table.sort, io.stdout

local function quoted(text)
	return '"' .. gsub(text, '[%c"\\\127-\255]', function(c) return format("\\%03d", byte(c)) end) .. '"'
end

-- A value without anything that changes from run to run.
local function show(v, depth)
	local kind = type(v)
	if kind == "string" then
		return quoted(v)
	elseif kind == "number" then
		return v ~= v and tostring(v) or format("%.14g", v)
	elseif kind == "boolean" or v == nil then
		return tostring(v)
	elseif kind ~= "table" then
		return kind
	elseif depth > 3 then
		return "{...}"
	end
	local fields = {}
	for k, item in pairs(v) do
		fields[#fields + 1] = show(k, depth + 1) .. "=" .. show(item, depth + 1)
	end
	sort(fields)
	return "{" .. concat(fields, ",") .. "}"
end

local function results(ok, ...)
	if not ok then
		local e = ...
		return "error " .. (type(e) == "string" and e or type(e) == "userdata" and tostring(e) or show(e, 1))
	end
	local values = {}
	for i = 1, select("#", ...) do
		values[i] = show((select(i, ...)), 1)
	end
	return "values " .. concat(values, " ")
end

-- run runs a program, or a case, which may be an expression list.
return function(code, case)
	local f, e
	if case then
		f = loadstring("return " .. code, "=p")
	end
	if not f then
		f, e = loadstring(code, "=p")
	end
	stdout:write("\n", f and results(pcall(f)) or "error " .. e, "\n")
end
