package bindings_test

// conformsRecords are statements of parts 1, 2, 3, 5, 7 and 9 of the interface documents.
var conformsRecords = map[string]string{
	"1 managers": `
		local names = {}
		for _, name in ipairs(sdk.managers()) do names[name] = true end
		for _, name in ipairs{ "analytics", "analytic_configurations", "annotations", "datasets", "features", "missions", "projects", "credentials", "share_tokens", "tags", "comments",
			"datastreamtemplates", "assessment_parameters_estimations", "collection_tasks", "companies", "crops", "estimation_methods", "growth_stages", "pilots", "products",
			"season_planner_missions", "sensors", "sensors_models", "carriers", "carrier_models", "teams", "trials", "users" } do
			assert(names[name] and type(sdk[name]) == "table", name)
		end`,

	"1 domain": `
		local ring = { { 4, 50 }, { 5, 50 }, { 5, 51 }, { 4, 50 } }
		local flight, mission = sdk.missions.create{ project = project, survey_date = "2026-05-31", number_of_images = 1, coordinates = ring }
		local image = sdk.datasets.create_image_dataset{ name = "i", project = project, mission = mission, flight = flight }
		assert(sdk.projects.describe(project).missions[1] == mission.id and mission.flights[1] == flight.id and image.mission == mission.id and image.flight == flight.id)
		assert(project.company == company.id and sdk.analytics.describe_by_name("rehearsal").company == company.id and image.company == company.id)`,

	"2.1 dates and geometries": `
		local date = "^%d%d%d%d%-%d%d%-%d%dT%d%d:%d%d:%d%d%.%d%d%dZ$"
		assert(project.created:match(date), project.created)
		local mission = sdk.missions.create_mission{ project = project, survey_date = "2026-05-31" }
		assert(mission.survey_date:match(date), mission.survey_date)
		for _, d in ipairs{ "2026-06-01", "2026-06-01T08:00:00", "2026-06-01T08:00:00.000Z" } do
			assert(sdk.missions.update_survey_date(mission, { survey_date = d }).survey_date:match("^2026%-06%-01T0[08]:00:00%.000Z$"), d)
		end
		for _, d in ipairs{ "2026-06-01T08:00:00", "2026-06-01T08:00:00.000Z" } do assert(#sdk.missions.search{ filter = { survey_date = { ["$eq"] = d } } } == 1, d) end
		local box = { type = "Polygon", coordinates = { { { 4, 50 }, { 5, 50 }, { 5, 51 }, { 4, 50 } } }, bbox = { 4, 50, 5, 51 } }
		assert(sdk.projects.update_geometry(project, { geometry = box }).geometry.bbox[3] == 5)
		for _, wrong in ipairs{ { 4, 50, 5 }, { 4, 50, 5, 51, 6 }, { 5, 51, 4, 50 }, { 4, 50, 5, "51" } } do
			box.bbox = wrong
			fails("BoundingBoxError", "", sdk.projects.update_geometry, project, { geometry = box })
		end
		fails("ParameterError ValueError QueryError", "needs a type", sdk.projects.update_geometry, project, { geometry = { coordinates = { 4, 50 } } })`,

	"2.1 total and logs": `
		local page = sdk.projects.search{ return_total = true }
		assert(page.total == 1 and page.results[1].id == project.id)
		local product = sdk.analytics.order{ name = "rehearsal", parameters = { duration = 0 } }
		for _ in sdk.products.follow_logs(product) do end
		local logs = sdk.products.retrieve_logs(product)
		assert(logs.total == #logs.logs and logs.total > 0 and logs.logs[1].timestamp and logs.logs[1].record)`,

	"2.2 project and mission": `
		local ring = { { 4, 50 }, { 5, 50 }, { 5, 51 }, { 4, 50 } }
		local me = sdk.users.describe().id
		local p = sdk.projects.create("P", company, { type = "Polygon", coordinates = { ring } }, { industry = "mining", place_name = "Ghent" })
		sdk.projects.update_bbox(p, { real_bbox = { type = "Polygon", coordinates = { ring } } }) sdk.projects.update_location(p, { location = { 4, 50 }, fixed = true })
		sdk.projects.update_srs(p, { horizontal_srs_wkt = "h", vertical_srs_wkt = "v" }) sdk.projects.update_status(p, "available")
		local _, m = sdk.missions.create{ project = p, survey_date = "2026-05-31", number_of_images = 1, name = "M", coordinates = ring }
		sdk.missions.update_bbox(m, { real_bbox = { type = "Polygon", coordinates = { ring } } })
		p, m = sdk.projects.describe(p), sdk.missions.describe(m)
		assert(p.id == p._id and p.name == "P" and p.geometry.type == "Polygon" and p.industry == "mining" and p.created and p.company == company.id and p.missions[1] == m.id)
		assert(p.user == me and p.modification_date and p.modification_user == me and p.real_bbox.type == "Polygon" and p.place_name == "Ghent")
		assert(p.location[1] == 4 and p.fixed == true and p.horizontal_srs_wkt == "h" and p.vertical_srs_wkt == "v" and p.status == "available")
		assert(m.name == "M" and m.project == p.id and m.survey_date and #m.flights == 1 and m.geometry and m.created and m.user == me and m.modification_date and m.modification_user == me and m.real_bbox)`,

	"2.2 vertical reference systems": `
		local d = sdk.datasets.create_raster_dataset{ name = "r", project = project, vertical_srs_wkt = "EGM96" }
		assert(d.vertical_srs_wkt:match("^VERT_CS") and sdk.datasets.create_pcl_dataset{ name = "r", project = project, vertical_srs_wkt = "VERT_CS[1]" }.vertical_srs_wkt == "VERT_CS[1]")`,

	"3 analytics": `
		local a = sdk.analytics.create{ name = "mine", version = "1.0.0", container_image = "r/i:1", container_credentials_name = key().name, company = company }
		fails("ResponseError", "not enabled", sdk.analytics.order, a)
		fails("ResponseError", "not exposed", sdk.analytics.enable, "mine", company)
		sdk.analytics.expose("mine", company) fails("ResponseError", "not enabled", sdk.analytics.order, a)
		sdk.analytics.enable("mine", company) assert(sdk.analytics.order(a).analytic == a.id)
		sdk.analytics.disable("mine", company) fails("ResponseError", "not enabled", sdk.analytics.order, a)
		sdk.analytics.enable("mine", company) sdk.analytics.unexpose("mine", company) fails("ResponseError", "not enabled", sdk.analytics.order, a)
		fails("ResponseError", "not exposed", sdk.analytics.enable, "mine", company)`,

	"3 restoring": `
		local d, a, f = sdk.datasets.create_file_dataset{ name = "d", project = project }, sdk.annotations.create{ project = project }, sdk.features.create{}
		for manager, record in pairs{ datasets = d, annotations = a, features = f } do
			local function n() return #sdk[manager].search{ filter = { _id = { ["$eq"] = record.id } } } end
			sdk[manager].delete(record) assert(n() == 0, manager)
			sdk[manager].restore(record) assert(n() == 1, manager)
			sdk[manager].delete(record)
		end
		sdk.features.delete(f, { permanent = true }) fails("ResponseError", "", sdk.features.restore, f)`,

	"3 location follows the content": `
		local mission = sdk.missions.create_mission{ project = project, survey_date = "2026-05-31" }
		sdk.datasets.create_image_dataset{ name = "i", project = project, mission = mission, geometry = { type = "Point", coordinates = { 6, 52 } } }
		sdk.projects.update_location(project, { location = { 4, 50 }, fixed = true })
		assert(sdk.projects.compute_bbox(project).location[1] == 4)
		sdk.projects.update_location(project, { fixed = false })
		assert(sdk.projects.describe(project).fixed == false)
		assert(sdk.projects.compute_bbox(project).location[1] == 6, json.encode(sdk.projects.describe(project):totable()))`,

	"5 connection": `
		for _, given in ipairs{ {}, { domain = "d" }, { service = "s" }, { service = { "s", "t" } }, { scope = "all" }, { further = "kept" }, { proxy_url = "http://127.0.0.1:1" } } do
			assert(sdk.connect(given).users.describe().id == sdk.users.describe().id)
		end
		fails("ParameterError ConfigError", "", sdk.connect, { usr = "x" })
		fails("ParameterError", "", sdk.connect, { connection = { max_retires = 1 } })
		fails("ParameterError", "config_path", sdk.connect, { file_path = 3 }) fails("ParameterError", "client_secret", sdk.connect, { secret = 3 })`,

	"7 errors": `
		local e = fails("ImmutableAttribute", "name", function() project.name = "x" end)
		e = fails("ResponseError", "", sdk.projects.describe, ("0"):rep(24))
		assert(e.status == 404 and type(e.data) == "table" and e.message and e.operation == "projects.describe")
		fails("UnsupportedOperationError", "projects.explode", function() return sdk.projects.explode end)
		fails("KeyError", "id", sdk.Resource, { name = "x" })
		fails("ParameterError", "name", sdk.projects.create, { company = company })
		fails("RuntimeError", "status", sdk.projects.update_status, project, "open")
		local d = sdk.datasets.create_file_dataset{ name = "d", project = project }
		require("fs").write("empty.txt", "")
		fails("UploadError", "empty", sdk.datasets.upload_file, d, { component = "file", file_path = "empty.txt" })
		fails("UnsupportedResourceError", d.id, sdk.datasets.share_tiles, d)`,

	"9 ranges": `
		for _, v in ipairs{ "1.0.0", "1.0.5", "1.2.0", "2.0.0", "2.1.0-beta" } do
			sdk.analytics.create{ name = "mine", version = v, container_image = "r/i:1", container_credentials_name = key().name, company = company }
		end
		sdk.analytics.expose("mine", company) sdk.analytics.enable("mine", company)
		for range, want in pairs{ ["1"] = "1.2.0", ["1.x"] = "1.2.0", ["1.0.0"] = "1.0.0", ["1.0.x"] = "1.0.5", ["*"] = "2.0.0", ["^1.0"] = "1.2.0", ["~1.0.1"] = "1.0.5", [">=1.0 <1.2"] = "1.0.5",
			["1.0.0 || 2.x"] = "2.0.0", ["1.0 - 1.1"] = "1.0.5" } do
			local found = sdk.analytics.describe_by_name("mine", { version = range })
			assert(found and found.version == want, range)
			assert(sdk.analytics.order{ name = "mine", version = range }.analytic == found.id, range)
		end
		assert(sdk.analytics.describe_by_name("mine").version == "2.1.0-beta" and sdk.analytics.describe_by_name("mine", { version = "1.0.1" }) == nil)
		fails("ParameterError", "no analytic", sdk.analytics.order, { name = "mine", version = "1.0.1" })`,
}
