-- template.render
local text = require("template").render([[
{{project}}: {{#missions}}{{name}} ({{images}}) {{/missions}}{{^missions}}nothing flown{{/missions}}
]], { project = "North quarry", missions = { { name = "May", images = 120 }, { name = "June", images = 98 } } })
assert(text == "North quarry: May (120) June (98) \n")
local html = require("template").render("<p>{{name}}</p>", { name = "<Hof & Wald>" }, { escape = "html" })
assert(html == "<p>&lt;Hof &amp; Wald&gt;</p>")

-- template.compile
local hello = require("template").compile("Hello {{name}}")
assert(hello:render({ name = "Mia" }) == "Hello Mia")

-- template.load
require("fs").write("mail.txt", "Dear {{name}},\n")
assert(require("template").load("mail.txt"):render({ name = "Mia" }) == "Dear Mia,\n")

-- template:render
local line = require("template").compile("{{id}}: {{area|%.1f}} ha\n")
assert(line:render({ id = "n1", area = 2.345 }) == "n1: 2.3 ha\n")
