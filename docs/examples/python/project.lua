-- Finds or creates a project, and prints it as JSON for the program that called.
local project, new = require("projects").find_or_create{ name = arg[1] }
print(require("json").encode{ id = project.id, name = project.name, new = new })
