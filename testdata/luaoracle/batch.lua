-- Runs the programs in a file by Lua 5.1, each in an environment of its own.
local file = assert(io.open(arg[1], "rb"))
local mode = arg[3]
local run = assert(loadfile(arg[2]))()
local pairs, type, setfenv, string, tonumber, next, rawset = pairs, type, setfenv, string, tonumber, next, rawset
local stdout, stdin, io, collectgarbage = io.stdout, io.stdin, io, collectgarbage
local setmetatable, getmetatable = debug.setmetatable, debug.getmetatable
local original = {}
for name, v in pairs(_G) do
	original[name] = v
end
local libraries = {}
for name, v in pairs(_G) do
	if type(v) == "table" and name ~= "_G" and name ~= "arg" then
		libraries[name] = {}
		for k, f in pairs(v) do
			libraries[name][k] = f
		end
	end
end
stdout:setvbuf("full", 1024 * 1024)
while true do
	local size = file:read("*n", 1)
	if not size then
		break
	end
	local code = file:read(size)
	local env = {}
	for name, v in pairs(original) do
		env[name] = v
	end
	for name, functions in pairs(libraries) do
		local lib = env[name]
		for k in pairs(lib) do
			lib[k] = nil
		end
		for k, f in pairs(functions) do
			lib[k] = f
		end
	end
	env._G, env.arg = env, nil
	string.format("") -- the table is the same, whatever a program did
	setmetatable("", {__index = string})
	for _, v in pairs({1, true, print}) do
		setmetatable(v, nil)
	end
	setmetatable(nil, nil)
	io.output(stdout)
	io.input(stdin)
	setfenv(0, env)
	setfenv(run, env)
	run(code, mode == "case")
	stdout:write("\1\2\1\n")
	stdout:flush()
end
