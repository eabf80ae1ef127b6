package stdlib_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"transect/client/fault"
	"transect/runtime/luastd"
	"transect/runtime/module"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
	"transect/stdlib"
)

func TestDotEnv(t *testing.T) {
	dir := t.TempDir()
	const text = "\xef\xbb\xbf# c\r\nA=1 # one\r\nexport B='x # y\nz'\nC=\"l1\\nl2\\\"\"\nD=\nE= a=b \nSET=file\nF=#c\n"
	for name, text := range map[string]string{".env": text, "bad": "A=1\nS3CRET\n", "open": "A=\"s3cret\n", "name": "1 A=s3cret"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"SET": "outside", "N": "1e3x", "I": "12", "B1": "Yes"}
	_, _, err := run(t, vm.Options{Dir: dir, Env: func(n string) (string, bool) { v, ok := env[n]; return v, ok }}, `
		local env = require("env")
		local v = env.load()
		assert(v.A == "1" and v.B == "x # y\nz" and v.C == 'l1\nl2"' and v.D == "" and v.E == "a=b" and v.F == "", require("inspect").value(v))
		assert(env.get("SET") == "outside" and v.SET == "file" and env.get("A") == "1" and os.getenv("E") == "a=b")
		assert(env.get("NONE") == nil and env.integer("I") == 12 and env.boolean("B1") == true)
		local _, e = try(env.number, "N", 5); assert(e.name == "ConfigError" and e.message:find("N must be a number") and not tostring(e):find("1e3"), tostring(e))
		for file, why in pairs({ bad = "bad, line 2", open = "quote is missing", name = "no variable name before =" }) do
			local _, e = try(env.load, file); assert(e.name == "FileError" and e.message:find(why, 1, true) and not tostring(e):lower():find("s3cret"), tostring(e))
		end`)
	if err != nil {
		t.Error(err)
	}
}

func TestRetry(t *testing.T) {
	for name, code := range map[string]string{
		"gives up with the last error": `
			local n = 0
			local _, e = try(retry.call, function() n = n + 1; http.get("http://127.0.0.1:1/") end, { attempts = 3, wait = 0.001 })
			assert(n == 3 and e.name == "ConnectionError" and e.hint:find("tried 3 times"), tostring(e))`,
		"does not repeat what will not pass": `
			local n = 0
			local _, e = try(retry.call, function() n = n + 1; http.get("x") end, { wait = 0.001 })
			assert(n == 1 and e.name == "ParameterError")
			local _, e = try(retry.call, function() n = n + 1; error("own") end, { wait = 0.001 })
			assert(n == 2 and tostring(e):find("own"))`,
		"asks a list": `
			local n = 0
			local ok = retry.call(function() n = n + 1; if n < 2 then require("fs").read("none") end; return n end, { wait = 0.001, on = { "FileError" } })
			assert(ok == 2)
			local _, e = try(retry.call, print, { on = { "FileEror" } }); assert(e.message:find("did you mean FileError"), tostring(e))`,
		"ends in time": `
			local _, e = try(retry.call, function() error("x") end, { attempts = 1000, wait = 60, timeout = 0.05, on = function() return true end })
			assert(e.name == "TimeoutError", tostring(e))`,
		"does not hold up a time limit outside": `
			local n = 0
			local _, e = try(task.timeout, 0.05, function() task.sleep(60) end)
			assert(tostring(e) == "task.timeout: the time limit of 50ms passed in task.sleep", tostring(e))
			local _, e = try(task.timeout, 0.05, function() retry.call(function() n = n + 1; task.sleep(60) end, { on = function() return true end, wait = 0 }) end)
			assert(e.name == "TimeoutError" and n == 1, tostring(e))`,
		"does not hold up cancelling": `
			local n = 0
			local t = task.spawn(function() retry.call(function() n = n + 1; task.sleep(60) end, { on = function() return true end, wait = 0 }) end)
			task.sleep(0.01); t:cancel()
			local _, e = try(t.await, t); assert(e.name == "CancelledError" and n == 1, tostring(e))`,
		"never repeats a limit": `
			local n = 0
			local _, e = try(retry.call, function() n = n + 1; return ("x"):rep(1e12) end, { wait = 0, on = function() return true end })
			assert(n == 1 and e:find("the limit is"))`,
		"keeps locals of the caller": `
			local seen = {}
			local r = retry.call(function() seen[#seen + 1] = #seen; if #seen < 3 then error("no") end; return #seen, "b" end, { wait = 0, on = function() return true end })
			assert(r == 3 and #seen == 3)`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if _, _, err := run(t, vm.Options{Env: none}, `local retry, http, task = require("retry"), require("http"), require("task"); `+code); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func none(string) (string, bool) { return "", false }

func TestHTTPModule(t *testing.T) {
	var last atomic.Pointer[http.Request]
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		last.Store(r)
		switch r.URL.Path {
		case "/fail":
			w.WriteHeader(418)
			_, _ = io.WriteString(w, `{"why": "tea"}`)
		case "/cut":
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "half")
		case "/query":
			_, _ = io.WriteString(w, r.URL.RawQuery)
		case "/auth":
			user, password, _ := r.BasicAuth()
			_, _ = io.WriteString(w, user+"/"+password+"/"+r.Header.Get("X-A"))
		default:
			w.Header().Set("X-Kind", r.Header.Get("Content-Type"))
			body, _ := io.ReadAll(r.Body)
			_, _ = w.Write(body)
		}
	}))
	defer s.Close()
	dir := t.TempDir()
	_, _, err := run(t, vm.Options{Dir: dir, Env: none}, `
		local http, fs = require("http"), require("fs")
		local url = "`+s.URL+`"
		assert(http.get(url .. "/query?z=1", { query = { b = { 1, "ü" }, a = true } }):text() == "a=true&b=1&b=%C3%BC&z=1")
		assert(http.get(url .. "/auth", { auth = { user = "u", password = "p:w" }, headers = { ["X-A"] = 5 } }):text() == "u/p:w/5")
		local r = http.post(url, { form = { a = "x y", b = 2 } })
		assert(r:text() == "a=x+y&b=2" and r.headers["x-kind"] == "application/x-www-form-urlencoded" and r.ok and r.url == url)
		assert(http.post(url, { json = {}, headers = { ["Content-Type"] = "application/geo+json" } }).headers["x-kind"] == "application/geo+json")
		local _, e = try(http.get, url .. "/fail?token=s3cret"); assert(e.name == "ResponseError" and e.status == 418 and e.data.why == "tea" and not tostring(e):find("s3cret"), tostring(e))
		local r = http.get(url .. "/fail", { raise_for_status = false }); assert(r.status == 418 and not r.ok and r:json().why == "tea")
		fs.write("old.bin", "old")
		local _, e = try(http.get, url .. "/cut", { target = "old.bin" }); assert(e.name == "ConnectionError", tostring(e))
		local _, e = try(http.get, url .. "/fail", { target = "old.bin" }); assert(e.name == "ResponseError" and fs.read("old.bin") == "old")
		http.post(url, { body = ("x"):rep(100000), target = "old.bin" }); assert(fs.stat("old.bin").size == 100000)
		local _, e = try(http.get, url, { target = "no/such/file" }); assert(e.name == "FileError", tostring(e))
		local _, e = try(http.post, url, { body = ("x"):rep(100), max_body = 99 }); assert(e.name == "LimitError", tostring(e))
		local _, e = try(http.post, url, { body = "x", json = 1 }); assert(e.message:find("cannot be combined"), tostring(e))
		local _, e = try(http.get, url, { auth = { token = "s3cret" } }); assert(e.message:find("has no token") and not tostring(e):find("s3cret"), tostring(e))
		local _, e = try(http.get, url, { headers = { A = "x\r\nB: y" } }); assert(e.name == "ParameterError", tostring(e))
		local _, e = try(http.put, url, { file = "none" }); assert(e.name == "FileError" and tostring(e):find("none"), tostring(e))
		local _, e = try(http.post, url .. "/echo", { body = "<p>" }); assert(e == nil)
		local _, e = try(function() return http.post(url, { body = "<p>" }):json() end); assert(e.name == "ValueError", tostring(e))
		assert(#fs.list() == 1)`)
	if err != nil {
		t.Error(err)
	}
}

func TestWhatIsNotPermittedIsNotDone(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("reached") }))
	defer s.Close()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("a=1"), 0o600); err != nil {
		t.Fatal(err)
	}
	for code, want := range map[string]sandbox.Access{
		`require("http").get(url)`: sandbox.Net, `require("http").get(url, { target = "t" })`: sandbox.Write, `require("http").post(url, { file = "f" })`: sandbox.Read,
		`require("notify").ping(url)`: sandbox.Net, `require("env").get("HOME")`: sandbox.Env, `require("env").load("f")`: sandbox.Read,
		`require("csv").read("f")`: sandbox.Read, `require("csv").writer("f")`: sandbox.Write, `require("csv").write("f", {})`: sandbox.Write,
		`require("notify").email{ smtp = "127.0.0.1:1", from = "a@b.c", to = "a@b.c", subject = "" }`: sandbox.Net,
	} {
		_, _, err := run(t, vm.Options{Dir: dir, Env: none, Permit: func(a sandbox.Access, what string) error {
			if a == want {
				return fault.Of(&fault.PermissionError{}, "%s %s", a, what)
			}
			return nil
		}}, "local url = '"+s.URL+"'\n"+code)
		if f := fault.Find(err); f == nil || f.Name() != "PermissionError" {
			t.Errorf("%s: %v", code, err)
		}
	}
}

func TestRequestsEndWithTheRun(t *testing.T) {
	stop := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stop }))
	defer s.Close()
	defer close(stop)
	ctx, cancel := context.WithCancel(context.Background())
	defer time.AfterFunc(20*time.Millisecond, cancel).Stop()
	in := luastd.New(ctx, vm.Options{Env: none})
	defer in.Close()
	module.Preload(in, stdlib.Modules()...)
	_, err := in.RunString("t", `require("http").get("`+s.URL+`")`)
	if err == nil || !strings.Contains(err.Error(), "stopped") {
		t.Error(err)
	}
}
