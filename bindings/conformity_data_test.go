package bindings_test

// conformsData are statements of parts 4.1 to 4.5 and 4.8 to 4.13 of the interface documents.
var conformsData = map[string]string{
	"4.1 arguments": `
		local p = sdk.projects.create("by position", company, point)
		assert(p.geometry.type == "Point" and sdk.projects.create{ company = company, name = "by name" }.name == "by name")
		fails("ParameterError", "name", sdk.projects.update_name, p, "New")
		fails("ParameterError", "", sdk.annotations.create, p)
		fails("ParameterError", "company", sdk.projects.create, "no company")
		fails("ParameterError", "team", sdk.teams.create, company, "North")
		sdk.projects.update_name(p, { name = "New" })
		assert(sdk.projects.describe(p).name == "New" and sdk.projects.describe{ project = p.id }.name == "New")`,

	"4.1 describe of lists": `
		local ring = { { 4, 50 }, { 5, 50 }, { 5, 51 }, { 4, 50 } }
		local flight, mission = sdk.missions.create{ project = project, survey_date = "2026-05-31", number_of_images = 1, coordinates = ring }
		local team = sdk.teams.create{ company = company, name = "T" }
		local model = sdk.sensors_models.create{ name = "m", maker = "k", type = "rgb" }
		local crop = sdk.crops.create{ company = company, name = "c" }
		local carrier_model = sdk.carrier_models.create{ name = "m", maker = "k", type = "multirotor" }
		local field = sdk.fields.create{ company = company, project = project, name = "f" }
		local trial = sdk.trials.create{ field = field, crop = crop, name = "t", missions = { { name = "m" } } }
		local made = {
			projects = project, missions = mission, flights = flight, teams = team, sensors_models = model, crops = crop, trials = trial,
			carrier_models = carrier_model, companies = company,
			datasets = sdk.datasets.create_file_dataset{ name = "d", project = project },
			annotations = sdk.annotations.create{ project = project, geometry = point }, features = sdk.features.create{ geometry = point },
			pilots = sdk.pilots.create{ user = sdk.users.describe(), teams = { team } },
			carriers = sdk.carriers.create{ carrier_model = carrier_model, team = team, serial_number = "1" },
			sensors = sdk.sensors.create{ sensor_model = model, team = team, serial_number = "1" },
			estimation_methods = sdk.estimation_methods.create{ name = "e", companies = { company }, crops = { crop }, input_data_requirements = { sensor_type = "rgb" } },
			season_planner_missions = sdk.season_planner_missions.search{}[1],
			growth_stages = sdk.growth_stages.create{ company = company, name = "g" },
			collection_tasks = sdk.collection_tasks.create{ name = "t", company = company, team = team },
			analytic_configurations = sdk.analytic_configurations.create("s", "rehearsal", { a = 1 }),
		}
		local first = { annotations = 1, companies = 1, features = 1, missions = 1, projects = 1, flights = 1 } -- part 8
		for manager, record in pairs(made) do
			local describe = sdk[manager].describe
			assert(describe(record.id).id == record.id and describe(record).id == record.id, manager)
			local list = describe{ record.id }
			assert(type(list) == "table" and #list == 1 and list[1].id == record.id, manager)
			assert(#describe{} == 0, manager)
			local of = { _id = { ["$eq"] = record.id } }
			local function page(n) return #sdk[manager].search{ filter = of, limit = 1, page = n } end
			assert(page() == 1 and page(first[manager] or 0) == 1 and page((first[manager] or 0) + 1) == 0, manager)
			if manager ~= "companies" then
				fails("ResponseError", "", describe, ("0"):rep(24))
			end
		end
		sdk.datastreamtemplates.create{ name = "t", source = { type = "s3" }, import_dataset = { dataset_parameters = { type = "file" } } } sdk.share_tokens.create(made.datasets) key()
		sdk.analytics.order{ name = "rehearsal", parameters = { duration = 0 } }
		for manager, n in pairs{ users = 1, share_tokens = 1, analytics = 0, credentials = 0, products = 0, datastreamtemplates = 0 } do
			local all = sdk[manager].search{ limit = 100 }
			assert(#all > 0 and sdk[manager].search{ limit = 1, page = n }[1].id == all[1].id and #sdk[manager].search{ limit = 100, page = n + 1 } == 0, manager)
		end
		local second = sdk.projects.create("second", company)
		local both = sdk.projects.describe{ second.id, project }
		assert(both[1].id == second.id and both[2].id == project.id)`,

	"4.2 search": `
		local place = sdk.projects.create("place", company)
		for i = 1, 5 do sdk.datasets.create_file_dataset{ name = "Set " .. i, project = place, properties = { name = "P" .. i, n = i } } end
		local of = { project = { ["$eq"] = place.id } }
		local function find(more) more.filter = more.filter or of return sdk.datasets.search(more) end
		assert(#find{} == 5 and #find{ limit = 2 } == 2 and #find{ limit = 2, page = 2 } == 1 and #find{ limit = 2, page = 3 } == 0)
		local page = find{ limit = 2, return_total = true }
		assert(page.total == 5 and #page.results == 2 and find{ return_total = false }.total == nil)
		assert(find{ sort = { name = -1 } }[1].name == "Set 5" and find{ sort = { name = 1 } }[1].name == "Set 1")
		local one = find{ fields = { include = { "name" } } }[1]
		assert(one.name and one.project == nil and one.id)
		local other = find{ fields = { exclude = { "name", "properties" } } }[1]
		assert(other.name == nil and other.properties == nil and other.project == place.id)
		fails("SearchError", "combined", find, { fields = { include = { "name" }, exclude = { "type" } } })
		assert(#sdk.datasets.search() >= 5)`,

	"4.2 operators": `
		local place = sdk.projects.create("place", company)
		for i = 1, 5 do sdk.datasets.create_file_dataset{ name = "Set " .. i, project = place, properties = { name = "P" .. i, n = i } } end
		local function n(filter) filter.project = { ["$eq"] = place.id } return #sdk.datasets.search{ filter = filter } end
		assert(n{ name = { ["$eq"] = "Set 1" } } == 1 and n{ name = { ["$eq"] = "set 1" } } == 0)
		assert(n{ name = { ["$match"] = "sET" } } == 5 and n{ name = { ["$match"] = "t 3" } } == 1)
		assert(n{ name = { ["$in"] = { "Set 1", "Set 5", "none" } } } == 2)
		assert(n{ ["properties.n"] = { ["$gt"] = 3 } } == 2 and n{ ["properties.n"] = { ["$gte"] = 3 } } == 3 and n{ ["properties.n"] = { ["$lt"] = 3 } } == 2)
		assert(n{ ["properties.n"] = { ["$gte"] = 2, ["$lt"] = 4 } } == 2)
		assert(n{ ["properties.name"] = { ["$eq"] = "P2" } } == 1)
		assert(n{ creation_date = { ["$gt"] = "2020-01-01T00:00:00" } } == 5 and n{ creation_date = { ["$lt"] = "2020-01-01T00:00:00" } } == 0)`,

	"4.2 key search of projects": `
		local p = sdk.projects.create("Old Quarry", company)
		for _, text in ipairs{ "quarry", "OLD Q" } do
			local found = sdk.projects.search{ filter = { search = { ["$match"] = text } } }
			assert(#found == 1 and found[1].id == p.id)
		end
		assert(#sdk.projects.search{ filter = { search = { ["$match"] = "nowhere" } } } == 0)`,

	"4.2 search_generator": `
		for i = 1, 3 do sdk.datasets.create_file_dataset{ name = "Set " .. i, project = project } end
		local function names(more)
			more.filter = { project = { ["$eq"] = project.id } }
			local all = {}
			for d in sdk.datasets.search_generator(more) do all[#all + 1] = d.name end
			return table.concat(all, " ")
		end
		assert(names{} == "Set 1 Set 2 Set 3" and names{ limit = 1 } == names{} and names{ count = true } == names{} and names{ count = false } == names{})
		assert(names{ sort = { name = -1 } } == "Set 3 Set 2 Set 1" and names{ limit = 1, page = 1 } == "Set 2 Set 3")
		for d in sdk.datasets.search_generator{ fields = { include = { "type" } } } do assert(d.name == nil and d.type) end
		for _, manager in ipairs{ "analytics", "analytic_configurations", "annotations", "companies", "datasets", "features", "missions", "products", "projects",
			"share_tokens", "trials", "users" } do
			for r in sdk[manager].search_generator() do assert(manager == "companies" or r.id) end
		end`,

	"4.3 create, describe, delete": `
		local function create(more)
			local t = { name = "mine", version = "1.0.0", container_image = "r/i:1", container_credentials_name = key().name, company = company }
			for k, v in pairs(more or {}) do t[k] = v end
			return sdk.analytics.create(t)
		end
		local entry = { name = "n", display_name = "N", description = "d", required = true, scheme = { type = "string" } }
		local from = { name = "n", display_name = "N", description = "d", required = true, scheme = { type = "string", pattern = "^[0-9a-f]{24}$" },
			source = { service = "data-manager", resource = "dataset", scheme = {} } }
		local a = create{ display_name = "Mine", description = "d", instance_type = "small", volume_size = 10, inputs = { from }, deliverables = { from },
			parameters = { entry }, credentials = { entry }, outputs = { { name = "o" } }, tags = { "t" }, groups = { "g" } }
		for _, field in ipairs{ "name", "version", "container_image", "container_credentials_name", "company", "display_name", "description", "instance_type", "volume_size" } do
			assert(a[field], field)
		end
		assert(a.inputs[1].source.service == "data-manager" and a.deliverables[1].required and a.parameters[1].scheme.type == "string")
		assert(a.credentials[1].name == "n" and a.tags[1] == "t" and a.groups[1] == "g" and a.outputs[1].name == "o")
		fails("ResponseError", "", create) -- name and version are taken
		assert(create{ version = "1.0.1" }.version == "1.0.1")
		fails("ResponseError", "version", create, { version = "one" })
		fails("ResponseError", "", create, { version = "2.0.0", container_credentials_name = "none" })
		for name, value in pairs{ credentials = { { display_name = "x" } }, volume_size = "big", instance_type = {}, tags = "t", inputs = "i", parameters = { "p" }, deliverables = { 1 } } do
			fails("KeyError", name, create, { version = "2.0.0", [name] = value })
		end
		for _, name in ipairs{ "name", "version", "container_image", "container_credentials_name", "company" } do
			local t = { name = "x", version = "3.0.0", container_image = "r/i:1", container_credentials_name = key().name, company = company }
			t[name] = nil
			fails("ParameterError", name, sdk.analytics.create, t)
		end
		assert(sdk.analytics.describe(a).name == "mine" and sdk.analytics.describe(a.id).id == a.id)
		local b, c = create{ version = "4.0.0" }, create{ version = "5.0.0" }
		assert(sdk.analytics.delete(a) == nil and sdk.analytics.delete{ b.id, c } == nil)
		fails("ResponseError", "", sdk.analytics.describe, a) fails("ResponseError", "", sdk.analytics.describe, c)`,

	"4.3 describe_by_name": `
		for _, v in ipairs{ "1.0.0", "1.0.5", "1.2.0", "2.0.0" } do
			sdk.analytics.create{ name = "mine", version = v, container_image = "r/i:1", container_credentials_name = key().name, company = company }
		end
		local function version(wanted) local a = sdk.analytics.describe_by_name("mine", { version = wanted }) return a and a.version end
		assert(sdk.analytics.describe_by_name("mine").version == "2.0.0" and sdk.analytics.describe_by_name("mine").container_image == "r/i:1")
		assert(version("1") == "1.2.0" and version("1.x") == "1.2.0" and version("1.0.0") == "1.0.0" and version("1.0.x") == "1.0.5" and version("*") == "2.0.0")
		assert(version("1.1.0") == nil and version("3.x") == nil and sdk.analytics.describe_by_name("none") == nil)
		fails("ParameterError", "", sdk.analytics.describe_by_name, "mine", "1.x")`,

	"4.3 expose, enable, disable, unexpose": `
		for _, name in ipairs{ "one", "two" } do
			sdk.analytics.create{ name = name, version = "1.0.0", container_image = "r/i:1", container_credentials_name = key().name, company = company }
		end
		fails("ResponseError", "", sdk.analytics.enable, "one", company) -- not exposed
		for _, given in ipairs{ { "one", company.id }, { { "one", "two" }, { company.id } } } do
			for _, verb in ipairs{ "expose", "enable", "disable", "unexpose" } do
				local answer = sdk.analytics[verb](given[1], given[2])
				assert(type(answer) == "table", verb)
			end
		end
		sdk.analytics.expose{ analytics = "one", root_companies = company } sdk.analytics.enable{ analytics = { "one" }, companies = { company } }
		fails("ParameterError", "", sdk.analytics.expose, "one") fails("ResponseError", "", sdk.analytics.expose, "none", company)`,

	"4.3 order": `
		local rehearsal = sdk.analytics.describe_by_name("rehearsal")
		local mission = sdk.missions.create_mission{ project = project, survey_date = "2026-05-31" }
		local p = sdk.analytics.order(rehearsal.id, { parameters = { duration = 0 }, project = project, mission = mission, deliverables = {} })
		assert(tostring(p):match("^product") and p.project == project.id and p.mission == mission.id and p.parameters.duration == 0)
		for _, version in ipairs{ "*", "1.x", rehearsal.version } do
			assert(sdk.analytics.order{ name = "rehearsal", version = version, parameters = { duration = 0 } }.analytic == rehearsal.id)
		end
		assert(sdk.analytics.order{ analytic = rehearsal, parameters = { duration = 0 } }.analytic == rehearsal.id)
		fails("ParameterError", "analytic or name", sdk.analytics.order, {})
		fails("ParameterError", "no analytic", sdk.analytics.order, { name = "rehearsal", version = "99.x" })
		fails("ResponseError", "", sdk.analytics.order, rehearsal, { parameters = { unknown = 1 } })
		fails("ResponseError", "", sdk.analytics.order, rehearsal, { deliverables = { "none" } })`,

	"4.3 search": `
		assert(sdk.analytics.search{ name = "rehearsal" }[1].name == "rehearsal" and #sdk.analytics.search{ name = "rehears" } == 0)
		local page = sdk.analytics.search{ filter = { name = { ["$match"] = "REHEAR" } }, limit = 1, page = 0, sort = { name = 1 }, return_total = true }
		assert(page.total == 1 and #page.results == 1)
		assert(sdk.analytics.search{ limit = 1, fields = { include = { "name" } } }[1].version == nil)`,

	"4.3 credentials": `
		sdk.analytics.create{ name = "mine", version = "1.0.0", container_image = "r/i:1", container_credentials_name = key().name, company = company,
			credentials = { { name = "service" } } }
		sdk.credentials.create{ name = "other", company = company, credentials = { type = "docker", login = "l", password = "p", registry = "r" } }
		assert(type(sdk.analytics.set_container_credentials("mine", "1.0.0", company, "other")) == "table")
		assert(sdk.analytics.describe_by_name("mine").container_credentials_name == "other")
		fails("ResponseError", "", sdk.analytics.set_container_credentials, "mine", "1.0.0", company, "none")
		assert(select("#", sdk.analytics.assign_credentials("mine", "1.x", company, { service = "other" })) == 0)
		assert(select("#", sdk.analytics.unassign_credentials("mine", "1.x", company, { "service" })) == 0)
		fails("ResponseError", "", sdk.analytics.assign_credentials, "mine", "1.x", company, { service = "none" })
		fails("ParameterError", "", sdk.analytics.unassign_credentials, "mine", "1.x", company, "service")
		assert(sdk.analytics.assign_credentials{ analytic_name = "mine", analytic_version_range = "*", company = company, credentials = { service = "other" } } == nil)`,

	"4.3 share_with_company": `
		local a = sdk.analytics.describe_by_name("rehearsal")
		assert(sdk.analytics.share_with_company(a, { company = company }) == nil and sdk.analytics.unshare_with_company(a.id, { company = company.id }) == nil)
		fails("ParameterError", "company", sdk.analytics.share_with_company, a)`,

	"4.4 analytic configurations": `
		local c = sdk.analytic_configurations
		local set = c.create("n", "rehearsal", { duration = 1 })
		assert(set.name == "n" and set.analytic_name == "rehearsal" and set.versions[1].analytic_version_range == "*" and set.versions[1].value.duration == 1)
		assert(set.creation_date and c.create("m", "rehearsal", { a = 1 }, "1.x", "d").description == "d")
		assert(c.create{ name = "o", analytic_name = "rehearsal", value = { a = 1 }, analytic_version_range = "1.x" }.versions[1].analytic_version_range == "1.x")
		local answer = c.assign_to_company(set, { company = company })
		assert(answer.company == company.id and answer.analytic_configuration == set.id and answer.analytic, json.encode(answer))
		assert(c.unassign_from_company(set.id, { company = company.id }) == nil)
		assert(c.update(set, { name = "new" }).name == "new" and c.update(set, { description = "d" }).description == "d")
		local two = c.update(set, { versions = { { analytic_version_range = "1.x", value = { a = 1 } }, { analytic_version_range = "2.x", value = { a = 2 } } } })
		assert(#two.versions == 2 and two.name == "new")
		local one = c.update(set, { value = { a = 3 }, analytic_version_range = "3.x" })
		assert(#one.versions == 1 and one.versions[1].value.a == 3)
		fails("QueryError", "nothing", c.update, set) fails("QueryError", "combined", c.update, set, { value = { a = 1 }, analytic_version_range = "*", versions = {} })
		fails("QueryError", "version_range", c.update, set, { value = { a = 1 } }) fails("QueryError", "value", c.update, set, { analytic_version_range = "*" })
		fails("QueryError", "value", c.update, set, { versions = { { analytic_version_range = "*" } } })
		assert(#c.search{} == 3 and c.search{ filter = { name = { ["$eq"] = "m" } }, fields = { include = { "name" } }, limit = 1, page = 0, sort = { name = 1 } }[1].analytic_name == nil)
		assert(c.search{ return_total = true }.total == 3)
		assert(c.delete(set) == nil and c.delete{ c.search{ filter = { name = "m" } }[1].id } == nil and #c.search{} == 1)
		fails("ResponseError", "", c.describe, set)`,

	"4.5 create": `
		local fs = require("fs")
		local d = sdk.datasets.create_file_dataset{ name = "d", project = project }
		local m = sdk.missions.create_mission{ project = project, survey_date = "2026-05-31" }
		local me = sdk.users.describe()
		fs.write("note.txt", "text")
		local a = sdk.annotations.create{ project = project, mission = m, geometry = point, stroke = { 1, 2, 3 }, stroke_dasharray = { 4, 2 }, icon = sdk.Icons.CONVEYOR,
			stroke_width = 1.5, stroke_opacity = 0.5, fill = { 1, 2, 3, 255 }, fill_opacity = 0.25, target = d, name = "n", description = "d", followers = { me }, attachments = { d },
			file_paths = { "note.txt", photo } }
		assert(a.type == "2d" and a.mission == m.id and a.stroke[3] == 3 and a.stroke_dasharray[2] == 2 and a.stroke_width == 1.5 and a.stroke_opacity == 0.5)
		assert(a.fill[1] == 1 and a.fill_opacity == 0.25 and a.target.id == d.id and a.name == "n" and a.description == "d" and a.followers[1] == me.id and #a.attachments == 3, json.encode(a))
		local types = {}
		for _, id in ipairs(a.attachments) do local x = sdk.datasets.describe(id) types[x.name] = x.type assert(x.project == project.id) end
		assert(types["note.txt"] == "file" and types["FLIGHT_0001.JPG"] == "image" and types.d == "file")
		local wall = sdk.annotations.create{ project = project, type = "3d", geometry = { type = "LineString", coordinates = { { 0, 0, 0 }, { 0, 2, 0 } } }, normals = { { 1, 0, 0 }, { 1, 0, 0 } } }
		assert(wall.normals[2][1] == 1 and sdk.annotations.create{ project = project }.project == project.id)
		fails("ParameterError", "project", sdk.annotations.create, { geometry = point })
		fails("ValueError", "type", sdk.annotations.create, { project = project, geometry = point, type = "4d" })
		fails("ValueError", "", sdk.annotations.create, { project = project, geometry = point, fill_opacity = 2 })
		local list = sdk.annotations.create_annotations{ { project = project, geometry = point, name = "one", target = d, file_paths = { "note.txt" } }, { project = project, icon = "STOP", geometry = point } }
		assert(#list == 2 and list[1].name == "one" and list[1].target.id == d.id and #list[1].attachments == 1 and list[2].icon == sdk.Icons.STOP)`,

	"4.5 attachments, deletion, search": `
		local n = sdk.annotations
		local d, e = sdk.datasets.create_file_dataset{ name = "d", project = project }, sdk.datasets.create_file_dataset{ name = "e", project = project }
		local a, b = n.create{ project = project, name = "a" }, n.create{ project = project, name = "b" }
		require("fs").write("note.txt", "text")
		assert(n.add_attachments(a, { attachments = { d, e.id } }) == nil and n.add_attachments(a.id, { file_paths = { "note.txt" } }) == nil)
		assert(#n.describe(a).attachments == 3)
		assert(n.remove_attachments(a, { attachments = d }) == nil) n.remove_attachments(a, { attachments = { e.id } })
		assert(#n.describe(a).attachments == 1)
		assert(n.rename(a, { name = "A" }) == nil and n.describe(a).name == "A") fails("ParameterError", "name", n.rename, a)
		assert(#n.search{ project = project } == 2 and #n.search{ project = project.id, filter = { name = { ["$eq"] = "b" } } } == 1)
		local page = n.search{ project = project, limit = 1, page = 1, sort = { name = -1 }, return_total = true }
		assert(page.total == 2 and page.results[1].name == "b" and n.search{ limit = 1, page = 2, sort = { name = -1 } }[1].name == "A")
		assert(n.delete(a) == nil and n.delete{ b } == nil and #n.search{ project = project } == 0)
		assert(n.restore{ a, b.id } == nil and #n.search{ project = project } == 2) n.delete(b) n.restore(b)`,

	"4.5 setters": `
		local n = sdk.annotations
		local a = n.create{ project = project, geometry = point, type = "3d" }
		local function set(what, more) local r = n["set_" .. what](a, more) assert(r == nil, what) return n.describe(a) end
		assert(set("description", { description = "d" }).description == "d")
		assert(set("fill_color", { color = { 1, 2, 3 }, opacity = 0.5 }).fill[2] == 2, json.encode(n.describe(a)))
		assert(set("fill_color", { color = { 3, 2, 1 } }).fill[1] == 3)
		assert(set("fill_opacity", { opacity = 0.25 }).fill_opacity == 0.25 and set("fill_opacity", { opacity = 0 }).fill_opacity == 0)
		assert(set("geometry", { geometry = { type = "Point", coordinates = { 5, 51 } } }).geometry.coordinates[1] == 5)
		assert(set("icon", { icon = "CONVEYOR" }).icon == sdk.Icons.CONVEYOR and set("icon").icon == sdk.Icons.ANNOTATE)
		assert(set("normals", { normals = { { 0, 0, 1 } } }).normals[1][3] == 1)
		assert(set("stroke_color", { color = { 1, 2, 3 }, opacity = 0.75 }).stroke[3] == 3, json.encode(n.describe(a)))
		assert(set("stroke_dasharray", { dasharray = { 1.5, 2 } }).stroke_dasharray[1] == 1.5)
		assert(set("stroke_opacity", { opacity = 1 }).stroke_opacity == 1 and set("stroke_width", { width = 2.5 }).stroke_width == 2.5)
		for _, color in ipairs{ { 1, 2 }, { 1, 2, 300 }, { 1, 2, 2.5 } } do
			fails("ValueError ParameterError", "", n.set_fill_color, a, { color = color }) fails("ValueError ParameterError", "", n.set_stroke_color, a, { color = color })
		end
		for _, opacity in ipairs{ -0.5, 1.5 } do
			fails("ValueError", "", n.set_fill_opacity, a, { opacity = opacity }) fails("ValueError", "", n.set_stroke_opacity, a, { opacity = opacity })
			fails("ValueError", "", n.set_fill_color, a, { color = { 1, 2, 3 }, opacity = opacity })
		end`,

	"4.8 companies": `
		assert(sdk.companies.describe(company).name == company.name and sdk.companies.describe{ company.id }[1].id == company.id)
		local page = sdk.companies.search{ filter = { name = { ["$eq"] = company.name } }, limit = 5, page = 1, sort = { name = 1 }, return_total = true }
		assert(page.total == 1 and page.results[1].id == company.id)`,

	"4.9 credentials": `
		local c = sdk.credentials
		local function create(name, secret, labels) return c.create{ name = name, company = company, credentials = secret, labels = labels } end
		local a = create("a", { type = "docker", login = "l", password = "p", registry = "r" }, { type = "docker", registry = "r" })
		assert(a.name == "a" and a.company == company.id and a.labels.registry == "r")
		create("b", { type = "s3", cloud_access_key_id = "k", cloud_secret_access_key = "s", cloud_region = "eu" }, { type = "object-storage", bucket = "b" })
		create("c", { type = "azure-blob", blob_client_id = "i", blob_tenant_id = "t", blob_client_secret = "s" }, { account_url = "u" })
		create("d", { type = "oauth", client_id = "i", client_secret = "s", token_url = "https://x.test" }, { type = "stac-catalog", catalog = "c" })
		fails("ResponseError", "", create, "a", { type = "docker", login = "l", password = "p", registry = "r" })
		fails("ParameterError", "labels", create, "e", { type = "docker" }, { type = 1 })
		assert(#c.search{ name = "a" } == 1 and #c.search{ name = { "a", "c", "x" } } == 2 and #c.search{ filter = { name = { ["$match"] = "A" } } } == 1)
		local page = c.search{ limit = 2, page = 0, sort = { name = -1 }, return_total = true }
		assert(page.total == 4 and #page.results == 2 and page.results[1].name == "d")
		assert(next(c.set_credentials(company.id, "a", { type = "docker", login = "m", password = "p", registry = "r" })) == nil)
		assert(c.search{ name = "a" }[1].credentials.login == "m")
		assert(next(c.set_labels(company, "a", { type = "stac-catalog" })) == nil and c.search{ name = "a" }[1].labels.type == "stac-catalog")
		fails("ParameterError", "labels", c.set_labels, company, "a", { type = 1 })
		fails("ResponseError", "", c.set_credentials, company, "none", { type = "docker" })
		assert(c.delete(a) == nil and #c.search{ name = "a" } == 0) fails("ResponseError", "", c.delete, a)`,

	"4.10 crops": `
		local c = sdk.crops
		local a = c.create{ company = company, name = "wheat" }
		assert(a.name == "wheat" and a.company == company.id and a.creation_date and c.describe(a).id == a.id)
		assert(c.update{ crop = a, name = "rye" }.name == "rye" and c.update{ crop = a.id, name = "rye", company = company }.company == company.id)
		for field, value in pairs{ _id = a.id, company = company.id, name = "rye", creation_date = a.creation_date, modification_date = c.describe(a).modification_date } do
			assert(#c.search{ filter = { [field] = { ["$eq"] = value } } } == 1, field)
		end
		local page = c.search{ limit = 1, fields = { include = { "name" } }, page = 0, sort = { name = 1 }, return_total = true }
		assert(page.total == 1 and page.results[1].company == nil)
		assert(c.delete(a) == nil and #c.search{} == 0)
		local gone = c.search{ filter = { deletion_date = { ["$gt"] = "2020-01-01T00:00:00" } } }
		assert(#gone == 1 and gone[1].deletion_date) assert(#c.search{ filter = { deletion_date = { ["$eq"] = gone[1].deletion_date } } } == 1)`,

	"4.11 creation": `
		local mission = sdk.missions.create_mission{ project = project, survey_date = "2026-05-31" }
		for kind, components in pairs{ file = "file", image = "image", mesh = "mesh texture material", pcl = "pcl", raster = "raster", vector = "vector" } do
			local create = sdk.datasets["create_" .. kind .. "_dataset"]
			local d = create{ name = kind, categories = { "c" }, company = company, project = project, mission = mission, hidden = true, published = false, horizontal_srs_wkt = "h",
				vertical_srs_wkt = "v", dataset_format = "f", geometry = point, properties = { a = 1 } }
			assert(d.type == kind and d.categories[1] == "c" and d.company == company.id and d.project == project.id and d.mission == mission.id, kind)
			assert(d.hidden == true and d.published == false and d.horizontal_srs_wkt == "h" and d.vertical_srs_wkt == "v" and d.dataset_format == "f", kind)
			assert(d.geometry.type == "Point" and d.properties.a == 1, kind)
			local names = {}
			for i, c in ipairs(d.components) do names[i] = c.name end
			assert(table.concat(names, " ") == components, kind .. " " .. table.concat(names, " "))
			assert(create{ name = kind, company = company }.company == company.id and create{ name = kind, project = project.id }.project == project.id)
			fails("ParameterError", "company or project", create, { name = kind })
			fails("ParameterError", "name", create, { project = project })
		end
		local function names(d) local t = {} for i, c in ipairs(d.components) do t[i] = c.name end return table.concat(t, " ") end
		local function file(more) more.name, more.project = "n", project return names(sdk.datasets.create_file_dataset(more)) end
		assert(file{ file_count = 2 } == "file_0 file_1" and file{ components = { "a", "b" }, file_count = 5 } == "a b" and file{ file_count = 0 } == "")
		local function mesh(more) more.name, more.project = "n", project return sdk.datasets.create_mesh_dataset(more) end
		assert(names(mesh{ texture_count = 2, material_count = 0 }) == "mesh texture_0 texture_1" and mesh{ offset = { 1, 2, 3.5 } }.offset[3] == 3.5)
		fails("ParameterError", "offset", mesh, { offset = { 1, 2 } })
		local raster = sdk.datasets.create_raster_dataset{ name = "r", project = project, bands = { { name = "red" } }, has_projection_file = true, has_worldfile = true, has_headerfile = true }
		assert(names(raster) == "raster projection worldfile header" and raster.bands[1].name == "red")
		local flight = sdk.missions.create{ project = project, survey_date = "2026-05-31", number_of_images = 1, coordinates = { { 4, 50 }, { 5, 50 }, { 5, 51 }, { 4, 50 } } }
		local image = sdk.datasets.create_image_dataset{ name = "i", project = project, flight = flight, acquisition_date = "2026-05-31T08:00:00Z", width = 4, height = 3, sensor = { name = "s" },
			lens = { name = "l" }, camera_parameters = { f = 1 }, reflectance_calibration_panel = { id = "p" }, parse_metadata = true }
		assert(image.flight == flight.id and image.acquisition_date:match("^2026%-05%-31T08") and image.width == 4 and image.height == 3 and image.sensor.name == "s")
		assert(image.lens.name == "l" and image.reflectance_calibration_panel.id == "p" and image.ingestion.parameters.parse_metadata == true)`,

	"4.11 vectors": `
		local collection = sdk.collections.create{ name = "c", company = company, features = {} }
		local function vector(more) more.name, more.project = "v", project return sdk.datasets.create_vector_dataset(more) end
		local function names(d) local t = {} for i, c in ipairs(d.components) do t[i] = c.name end return table.concat(t, " ") end
		assert(names(vector{ is_shape_file = true, has_projection_file = true }) == "vector database index projection" and names(vector{ is_archive = true }) == "archive")
		local origin = vector{}
		local d = vector{ collection = collection, origin = origin }
		assert(names(d) == "collection" and d.components[1].collection.id == collection.id and d.components[1].origin.id == origin.id)
		for _, flag in ipairs{ "is_shape_file", "has_projection_file" } do fails("ParameterError", flag, vector, { is_archive = true, [flag] = true }) end
		for flag, value in pairs{ is_shape_file = true, has_projection_file = true, is_archive = true, dataset_format = "shp" } do
			fails("ParameterError", "collection", vector, { collection = collection, [flag] = value })
		end
		assert(names(vector{ collection = collection, is_archive = false, is_shape_file = false, has_projection_file = false }) == "collection")`,

	"4.11 bulk creation, deletion, categories, properties": `
		local d = sdk.datasets
		local made = d.create_datasets{ { name = "one", type = "file", project = project.id, components = { { name = "file" } } }, { name = "two", type = "pcl", project = project, components = { { name = "pcl" } } } }
		assert(#made == 2 and made[1].name == "one" and made[2].type == "pcl" and made[1].components[1].name == "file")
		local one = made[1]
		assert(d.rename(one, { name = "One" }) == nil and d.describe(one).name == "One")
		assert(d.add_categories(one, { categories = { "a", "b" } }) == nil and d.remove_categories(one.id, { categories = { "a" } }) == nil and d.describe(one).categories[1] == "b")
		assert(d.update_properties(one, { properties = { a = 1, b = { c = 2 } } }) == nil and d.update_properties(one, { properties = { a = 2 } }) == nil)
		assert(d.describe(one).properties.a == 2 and d.describe(one).properties.b.c == 2)
		assert(d.delete_properties(one, { properties = { "a" } }) == nil and d.describe(one).properties.a == nil and d.describe(one).properties.b)
		assert(d.delete(one) == nil and d.delete{ made[2].id } == nil and #d.search{ filter = { project = { ["$eq"] = project.id } } } == 0)
		assert(d.restore(one) == nil and d.restore{ made[2] } == nil and #d.search{ filter = { project = { ["$eq"] = project.id } } } == 2)
		assert(d.describe{ made[2], one }[1].id == made[2].id)`,

	"4.11 transfers": `
		local d, fs, hash = sdk.datasets, require("fs"), require("hash")
		fs.write("text.txt", "content")
		local one = d.create_file_dataset{ name = "t", project = project }
		local md5 = hash.md5("content")
		fails("UploadError ResponseError", "", d.upload_file, one, { component = "file", file_path = "text.txt", md5hash = ("0"):rep(32) })
		assert(d.upload_file(one, { component = "file", file_path = "text.txt", md5hash = md5, multipart = false }) == nil)
		assert(d.upload_file(one, { component = "file", file_path = "text.txt", multipart = true, chunk_size = 5 * 1024 * 1024 }) == nil)
		fails("ValueError UploadError ParameterError", "chunk_size", d.upload_file, one, { component = "file", file_path = "text.txt", chunk_size = 1024 })
		fails("FileError UploadError", "", d.upload_file, one, { component = "file", file_path = "none.txt" })
		fails("ParameterError", "component", d.upload_file, one, { file_path = "text.txt" })
		d.wait(one)
		local path = d.download_component(one, { component = "file", target_path = "a/b", target_name = "x.txt" })
		assert(path:match("a/b/x.txt$") and fs.read(path) == "content")
		fails("FileExistsError", "", d.download_component, one, { component = "file", target_path = "a/b", target_name = "x.txt" })
		assert(d.download_component(one, { component = "file", target_path = "a/b", target_name = "x.txt", overwrite = true, md5hash = md5 }) == path)
		assert(d.download_component(one.id, { component = "file", target_path = "c" }):match("c/text.txt$"))
		fails("DownloadError", "", d.download_component, one, { component = "file", target_path = "d", md5hash = ("0"):rep(32) })
		fails("ParameterError", "component", d.download_component, one)
		fails("ParameterError", "", d.download_component, one, "file")`,

	"4.11 pictures": `
		local d, fs = sdk.datasets, require("fs")
		local image = d.create_image_dataset{ name = "i", project = project }
		d.upload_file(image, { component = "image", file_path = photo })
		d.wait(image)
		local path = d.download_image_as_jpeg(image, "out", "p.jpg")
		assert(path:match("out/p.jpg$") and fs.stat(path).size > 0)
		fails("FileExistsError", "", d.download_image_as_jpeg, image, "out", "p.jpg", false)
		assert(d.download_image_as_jpeg(image, "out", "p.jpg", true) == path and d.download_image_as_jpeg{ dataset = image, target_path = "out2" }:match("out2/"))
		fails("DownloadError", "", d.download_image_as_jpeg, image, "out", "q.jpg", true, ("0"):rep(32))
		for _, kind in ipairs{ "tiny", "small" } do
			assert(d.download_preview(image, kind, "out", kind .. ".jpg"):match(kind .. ".jpg$"))
			assert(d.download_preview(image, kind, "out", kind .. ".jpg", true))
		end
		assert(d.download_preview(image, nil, "out3") and d.download_preview{ dataset = image, target_path = "out4" })
		fails("ParameterError ValueError", "tiny", d.download_preview, image, "large", "out")`,

	"4.11 search": `
		sdk.datasets.create_file_dataset{ name = "a", project = project } sdk.datasets.create_file_dataset{ name = "b", project = project }
		local page = sdk.datasets.search{ filter = { type = { ["$eq"] = "file" } }, limit = 1, page = 1, sort = { name = 1 }, return_total = true }
		assert(page.total == 2 and page.results[1].name == "b")
		local all = {}
		for d in sdk.datasets.search_generator{ filter = { type = { ["$eq"] = "file" } }, limit = 1, count = true } do all[#all + 1] = d.name end
		assert(table.concat(all) == "ab")
		fails("ParameterError", "limit", sdk.datasets.search, { limt = 1 })`,

	"4.11 share_tiles": `
		local d = sdk.datasets
		local function raster(name) local r = d.create_raster_dataset{ name = name, project = project } d.upload_file(r, { component = "raster", file_path = ortho }) return r end
		local a, b = raster("a"), raster("b")
		d.wait{ filter = { project = { ["$eq"] = project.id } } }
		assert(d.share_tiles(a):find("/" .. a.id .. "/{z}/{x}/{y}.", 1, true))
		assert(d.share_tiles({ a.id, b }, { duration = 60 }):find(a.id .. "," .. b.id, 1, true))
		fails("UnsupportedResourceError", "ingest", d.share_tiles, d.create_raster_dataset{ name = "c", project = project })
		local file = d.create_file_dataset{ name = "f", project = project }
		require("fs").write("f.txt", "f") d.upload_file(file, { component = "file", file_path = "f.txt" }) d.wait(file)
		fails("UnsupportedResourceError", "file", d.share_tiles, file) fails("UnsupportedResourceError", "types", d.share_tiles, { a, file })
		fails("ParameterError", "", d.share_tiles, a, 60)`,

	"4.12 estimation methods": `
		local e = sdk.estimation_methods
		local variable = sdk.assessment_parameters_variables.create{ company = company, name = "v" }
		local crop, stage = sdk.crops.create{ company = company, name = "c" }, sdk.growth_stages.create{ company = company, name = "g" }
		local needs = { sensor_type = "ms", carrier_type = "multirotor", bands = { { name = "red", full_width_half_maximum = 10, central_wavelength = 650 } }, gsd = { value = 1, unit = "cm/pixel" },
			overlap = { forward = 80, lateral = 70 }, speed = { value = 5, unit = "m/s" }, ppk_rtk = { use = true }, calibration = { use = false }, gcp = { type = "none" } }
		local analytic = { name = "rehearsal", inputs_mapping = { a = "b" }, parameters = { duration = 0 }, outputs_mapping = { o = { [variable.id] = "q" } }, version_range = "1.x" }
		local m = e.create{ name = "m", companies = { company.id }, input_data_requirements = needs, crops = { crop }, description = "d", status = "development", analytic = analytic, growth_stages = { stage.id } }
		assert(m.name == "m" and m.companies[1] == company.id and m.crops[1] == crop.id and m.description == "d" and m.status == "development" and m.growth_stages[1] == stage.id)
		assert(m.input_data_requirements.bands[1].central_wavelength == 650 and m.input_data_requirements.calibration.use == false and m.analytic.outputs_mapping.o[variable.id] == "q")
		fails("ParameterError ValueError", "status", e.create, { name = "m", companies = { company }, input_data_requirements = needs, crops = { crop }, status = "done" })
		for _, sensor in ipairs{ "hs", "lidar", "ms", "rgb" } do
			for _, purpose in ipairs{ "mapping", "3d-modeling", "raw" } do assert(type(e.list_deliverables_definitions{ sensor_type = sensor, task_purpose = purpose }) == "table") end
			local list = e.list_deliverables_definitions{ sensor_type = sensor }
			assert(#list > 0 and type(list[1]) == "table")
		end
		fails("ParameterError ValueError", "sensor_type", e.list_deliverables_definitions, { sensor_type = "thermal" })
		fails("ParameterError", "sensor_type", e.list_deliverables_definitions, {})
		for field, value in pairs{ _id = m.id, company = m.company, creation_date = m.creation_date, name = "m" } do
			assert(#e.search{ filter = { [field] = { ["$eq"] = value } } } == 1, field)
		end
		assert(e.search{ limit = 1, fields = { include = { "name" } }, page = 0, sort = { name = 1 }, return_total = true }.total == 1)
		local u = e.update{ estimation_method = m, crops = { crop }, name = "n", description = "e", status = "validated", companies = { company }, input_data_requirements = { sensor_type = "rgb" },
			analytic = analytic, growth_stages = {} }
		assert(u.name == "n" and u.description == "e" and u.status == "validated" and u.input_data_requirements.sensor_type == "rgb" and #u.growth_stages == 0)
		fails("ParameterError", "crops", e.update, { estimation_method = m, name = "o" })
		assert(e.delete(m) == nil) fails("ResponseError", "", e.describe, m)`,

	"4.13 features": `
		local f = sdk.features
		local c = sdk.collections.create{ name = "c", company = company, features = {} }
		local d = sdk.datasets.create_file_dataset{ name = "d", project = project }
		local a = f.create{ geometry = point, properties = { n = 1 }, collection = c }
		assert(a.geometry.type == "Point" and a.properties.n == 1 and a.collection == c.id and f.create{}.id)
		local list = f.create_features{ { geometry = point, properties = { n = 2 } }, { properties = { n = 3 } } }
		assert(#list == 2 and list[2].properties.n == 3)
		local b = list[1]
		assert(f.add_attachments{ feature = a, attachments = { d } } == nil and f.describe(a).attachments[1] == d.id)
		assert(f.remove_attachments{ feature = a.id, attachments = { d.id } } == nil and #f.describe(a).attachments == 0)
		local r = f.update_feature_properties(a, { m = 2 })
		assert(r.id == a.id and r.properties.n == 1 and r.properties.m == 2)
		assert(f.delete_feature_properties(a.id, { "n" }).properties.n == nil)
		local all = f.update_features_properties{ [a.id] = { x = 1 }, [b.id] = { x = 2 } }
		assert(#all == 2 and all[1].properties.x and f.describe(b).properties.x == 2 and f.describe(b).properties.n == 2)
		all = f.delete_features_properties{ [a.id] = { "x" }, [b.id] = { "x", "n" } }
		assert(#all == 2 and f.describe(b).properties.x == nil)
		assert(f.set_geometry(a, { geometry = { type = "Point", coordinates = { 5, 51 } } }) == nil and f.describe(a).geometry.coordinates[2] == 51)
		local page = f.search{ filter = { collection = { ["$eq"] = c.id } }, limit = 1, page = 1, sort = { _id = 1 }, return_total = true }
		assert(page.total == 1 and page.results[1].id == a.id)
		assert(f.delete(a) == nil and f.delete({ b.id }) == nil and #f.search{ filter = { collection = { ["$eq"] = c.id } } } == 0)
		assert(f.restore(a) == nil and f.restore{ b } == nil and f.describe(a).id == a.id and #f.describe{ a, b } == 2)
		assert(f.delete(a, { permanent = true }) == nil and f.delete({ b }, { permanent = true }) == nil)
		fails("ResponseError", "", f.restore, a) fails("ResponseError", "", f.describe, b)`,
}
