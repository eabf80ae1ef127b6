-- http.get
local http = require("http")
local weather = http.get("https://example.com/weather.json", { query = { field = "n1" }, timeout = 10 }):json()
assert(weather.wind == 3.5)

-- http.head
local http = require("http")
assert(http.head("https://example.com/ortho.tif").headers["content-type"] == "image/tiff")

-- http.post
local http = require("http")
local answer = http.post("https://example.com/echo", { json = { field = "n1" }, auth = { bearer = "token" } })
assert(answer.status == 200 and answer:json().field == "n1")

-- http.put
require("fs").write("map.txt", "north")
local answer = require("http").put("https://example.com/echo", { file = "map.txt" })
assert(answer:text() == "north")

-- http.patch
require("http").patch("https://example.com/echo", { form = { note = "dry" } })
require("fs").write("photo.jpg", "…")
require("http").post("https://example.com/echo", { form = { note = "dry", photo = { file = "photo.jpg", type = "image/jpeg" } } })

-- http.delete
require("http").delete("https://example.com/echo")

-- http.session
local http = require("http")
local s = http.session("https://example.com", { headers = { Accept = "application/json" } })
s:post("echo", { form = { user = "ops" } })
assert(s:get("weather.json", { query = { field = "n1" } }):json().wind == 3.5)

-- http.request
local http = require("http")
local answer = http.request{ method = "GET", url = "https://example.com/ortho.tif", target = "ortho.tif" }
assert(answer.status == 200 and require("fs").stat("ortho.tif").size > 0)

-- response:text
assert(require("http").get("https://example.com/hello.txt"):text() == "hello")

-- response:json
assert(require("http").get("https://example.com/weather.json"):json().wind == 3.5)

-- session:get
local s = require("http").session("https://example.com")
assert(s:get("hello.txt"):text() == "hello")

-- session:head
local s = require("http").session("https://example.com")
assert(s:head("ortho.tif").status == 200)

-- session:post
local s = require("http").session("https://example.com")
assert(s:post("echo", { json = { n = 1 } }):json().n == 1)

-- session:put
local s = require("http").session("https://example.com")
assert(s:put("echo", { body = "north" }):text() == "north")

-- session:patch
local s = require("http").session("https://example.com")
s:patch("echo", { form = { note = "dry" } })

-- session:delete
local s = require("http").session("https://example.com")
s:delete("echo")

-- session:cookies
local s = require("http").session("https://example.com")
assert(next(s:cookies()) == nil)
