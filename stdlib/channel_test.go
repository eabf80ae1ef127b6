package stdlib_test

import (
	"testing"

	"transect/runtime/vm"
)

func TestChannel(t *testing.T) {
	for name, code := range map[string]string{
		"every value goes to one receiver, in order for each": `
			local got, n = {}, 0
			local ch, out = task.channel(3), task.channel()
			task.scope(function()
				local senders = 5
				for s = 1, 5 do task.spawn(function()
					for i = 1, 100 do ch:send({ s, i }) end
					senders = senders - 1
					if senders == 0 then ch:close() end
				end) end
				for r = 1, 7 do task.spawn(function()
					local last = {}
					for v in ch:each() do
						assert((last[v[1]] or 0) < v[2]); last[v[1]] = v[2]
						local key = v[1] .. "/" .. v[2]
						assert(not got[key]); got[key] = true; n = n + 1
						if n % 13 == 0 then task.sleep(0) end
					end
				end) end
			end)
			assert(n == 500)`,
		"without room, sending waits": `
			local ch, sent = task.channel(), false
			local t = task.spawn(function() ch:send(1); sent = true end)
			task.sleep(0.005); assert(not sent)
			assert(ch:receive() == 1); t:await(); assert(sent)`,
		"room holds back who is too fast": `
			local ch, sent = task.channel(2), 0
			local t = task.spawn(function() for i = 1, 5 do ch:send(i); sent = sent + 1 end end)
			while sent < 2 do task.sleep(0.001) end
			task.sleep(0.005); assert(sent == 2)
			for i = 1, 5 do assert(ch:receive() == i) end; t:await()`,
		"closing wakes everybody": `
			local ch, full = task.channel(), task.channel()
			local r = task.spawn(function() return ch:receive() end)
			local s = task.spawn(function() local _, e = try(full.send, full, 1); return tostring(e) end)
			task.sleep(0.002); ch:close(); full:close()
			assert(r:await() == nil and s:await():find("channel is closed"))
			assert(not pcall(ch.send, ch, 1) and ch:receive() == nil)`,
		"who gave up does not take or leave a value": `
			local ch = task.channel()
			local _, e = try(ch.receive, ch, { timeout = 0.001 }); assert(e.name == "TimeoutError")
			local _, e = try(ch.send, ch, "lost", { timeout = 0.001 }); assert(e.name == "TimeoutError")
			local t = task.spawn(function() ch:send("kept") end); assert(ch:receive() == "kept"); t:await()
			local t = task.spawn(function() ch:receive() end); task.sleep(0.001); t:cancel(); try(t.await, t)
			local t = task.spawn(function() ch:send("again") end); assert(ch:receive({ timeout = 5 }) == "again")
			assert(tostring(ch) == "channel (0 waiting)")`,
		"false goes through, nil does not": `
			local ch = task.channel(1); ch:send(false); assert(ch:receive() == false)
			local _, e = try(ch.send, ch, nil); assert(e.name == "ParameterError")
			local _, e = try(ch.send, ch, 1, { timout = 1 }); assert(tostring(e):find("did you mean timeout"), tostring(e))`,
		"a task that fails ends those who wait for it": `
			local ch = task.channel()
			local ok, e = pcall(task.scope, function() task.spawn(function() error("sensor") end); ch:receive() end)
			assert(not ok and tostring(e):find("sensor"), tostring(e))`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := run(t, vm.Options{}, `local task = require("task"); `+code); err != nil {
				t.Error(err)
			}
		})
	}
}
