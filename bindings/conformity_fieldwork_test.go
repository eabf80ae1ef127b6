package bindings_test

// conformsField are statements of parts 4.6, 4.7 and 4.14 to 4.27 of the interface documents.
var conformsField = map[string]string{
	"4.6 estimations": season + `
		local e = sdk.assessment_parameters_estimations
		local estimation = e.search{ filter = { trial = { ["$eq"] = trial.id } } }[1]
		for field, value in pairs{ _id = estimation.id, company = company.id, creation_date = estimation.creation_date, trial = trial.id, mission = trial.missions[1],
			estimation_method = method.id } do
			value = type(value) == "string" and value or value.id or value._id
			local n = #e.search{ filter = { [field] = { ["$eq"] = value } } }
			assert(n == 1, field)
		end
		assert(#e.search{ filter = { deletion_date = { ["$eq"] = "2020-01-01T00:00:00" }, modification_date = { ["$eq"] = "2020-01-01T00:00:00" } } } == 0)
		for _, field in ipairs{ "collection_task", "survey", "product" } do assert(#e.search{ filter = { [field] = { ["$eq"] = ("0"):rep(24) } } } == 0) end
		assert(#e.search{ filter = { status = { ["$in"] = { "pending", "other" } } } } == 1 and #e.search{ filter = { status = { ["$in"] = { "other" } } } } == 0)
		local page = e.search{ limit = 1, page = 0, sort = { _id = 1 }, fields = { include = { "status" } }, return_total = true }
		assert(page.total == 1 and page.results[1].status == "pending" and page.results[1].trial == nil)
		for _, key in ipairs{ "_id", "trial", "mission", "ap_estimation", "creation_date" } do
			assert(#e.export_report_entries{ filter = { [key] = { ["$eq"] = key == "creation_date" and estimation.creation_date or ("0"):rep(24) } } } == 0)
		end
		fails("ParameterError", "filter", e.export_report_entries) `,

	"4.7 collection tasks": `
		local t = sdk.collection_tasks
		local team = sdk.teams.create{ company = company, name = "North" }
		local pilot = sdk.pilots.create{ user = sdk.users.describe(), teams = { team } }
		local mission = sdk.missions.create_mission{ project = project, survey_date = "2026-05-31" }
		local task = t.create{ name = "Spring", company = company, team = team }
		local report = { capture_date = "2026-05-31", team = team, pic = pilot, weather = { wind_speed = { value = 2, unit = "m/s" }, type = "sunny", dew = true, wind = false },
			speed = { value = 5, unit = "m/s" }, altitude = { value = 60, unit = "m" }, duration = { value = 20, unit = "min" }, overlap = { forward = 80, lateral = 70 }, comment = "c",
			custom_props = { a = 1 } }
		local done = t.set_fieldreport_in_task{ task = task, field_report = report }
		assert(done.id == task.id and done.field_report.weather.dew == true and done.field_report.weather.wind == false and done.field_report.overlap.lateral == 70, json.encode(done:totable()))
		assert(done.field_report.custom_props.a == 1 and done.field_report.duration.unit == "min" and done.field_report.pic == pilot.id)
		for _, status in ipairs{ "pending", "ready", "assigned", "scheduled", "data-captured", "data-submitted", "completed" } do
			assert(t.set_task_status(task, { status = status }).status == status)
		end
		fails("ParameterError ValueError", "status", t.set_task_status, task, { status = "done" }) fails("ParameterError", "status", t.set_task_status, task)
		local range = { start_date = "2026-07-01", end_date = "2026-07-15" }
		local place = { street = "s", zipcode = "z", city = "c" }
		for _, key in ipairs{ "adress", "address" } do
			local u = t.update(task, { name = "N", location = { [key] = place, contact = { name = "n", phone = "p", email = "e" }, task_area = {} }, forecast_date_range = range,
				scheduled_date_range = range, team = team, pic = pilot, comment = "c", custom_props = { a = 1 }, purpose = "mapping" })
			assert(u.name == "N" and u.location.contact.email == "e" and u.forecast_date_range.start_date:match("^2026%-07%-01") and u.scheduled_date_range.end_date:match("^2026%-07%-15"))
			assert(u.location.adress.city == "c" or u.location.address.city == "c")
			assert(u.team == team.id and u.pic == pilot.id and u.comment == "c" and u.custom_props.a == 1 and u.purpose == "mapping")
		end
		local u = t.update(task, { site = project.id, survey = mission.id, requirement = { a = 1 } })
		assert(u.site == project.id and u.survey == mission.id and u.requirement.a == 1)`,

	"4.14 growth stages": `
		local g = sdk.growth_stages.create{ company = company, name = "g" }
		assert(sdk.growth_stages.update{ growth_stage = g, name = "h" }.name == "h" and sdk.growth_stages.update{ growth_stage = g.id, name = "h", company = company }.company == company.id)`,

	"4.15 creation": `
		local m = sdk.missions
		local ring = { { 4, 50 }, { 5, 50 }, { 5, 51 }, { 4, 50 } }
		local none, plain = m.create{ project = project, survey_date = "2026-05-31", number_of_images = 0, name = "plain" }
		assert(none == nil and plain.name == "plain" and plain.project == project.id and #(plain.flights or {}) == 0)
		local flight, mission = m.create{ project = project, survey_date = "2026-05-31T08:00:00.000Z", number_of_images = 2, name = "s", coordinates = ring }
		assert(mission.flights[1] == flight.id and mission.name == "s" and flight.mission == mission.id and mission.survey_date:match("^2026%-05%-31T08"))
		local own = m.create_mission{ project = project, survey_date = "2026-05-31", name = "own" }
		assert(select("#", m.create_mission{ project = project, survey_date = "2026-05-31" }) == 1 and own.name == "own")
		for _, outline in ipairs{ { coordinates = ring }, { geometry = { type = "GeometryCollection", geometries = { { type = "Polygon", coordinates = { ring } } } } } } do
			outline.project, outline.survey_date, outline.number_of_images = project, "2026-05-31", 2
			local f, s = m.create_survey(outline)
			assert(f.mission == s.id and s.geometry.type == "GeometryCollection" and s.area == 0)
			outline.name, outline.area = "n", 12.5
			local _, named = m.create_survey(outline)
			assert(named.name == "n" and named.area == 12.5)
			for _, field in ipairs{ "project", "survey_date", "number_of_images" } do
				local lacks = {}
				for k, v in pairs(outline) do if k ~= field then lacks[k] = v end end
				fails("ParameterError", field, m.create_survey, lacks)
			end
		end
		local survey = { project = project, survey_date = "2026-05-31", number_of_images = 2 }
		fails("QueryError", "coordinates or geometry", m.create_survey, survey) fails("QueryError", "coordinates or geometry", m.create, survey)
		survey.coordinates, survey.geometry = ring, { type = "GeometryCollection", geometries = { { type = "Polygon", coordinates = { ring } } } }
		fails("QueryError", "combined", m.create_survey, survey) fails("QueryError", "combined", m.create, survey)
		survey.geometry, survey.coordinates = nil, { { 4, 50 }, { 5, 50 }, { 5, 51 } }
		fails("ParameterError QueryError ResponseError", "", m.create_survey, survey)`,

	"4.15 changes": `
		local m = sdk.missions
		local ring = { { 4, 50 }, { 5, 50 }, { 5, 51 }, { 4, 50 } }
		local flight, mission = m.create{ project = project, survey_date = "2026-05-31", number_of_images = 2, coordinates = ring }
		assert(m.create_archive(mission) == true and m.create_archive(mission.id, { name = "a", chunk_size = 10 }) == true)
		fails("ResponseError", "", m.create_archive, ("0"):rep(24))
		for status, stored in pairs{ complete = "completed", failed = "error" } do
			assert(m.complete_survey_upload{ flight = flight, status = status } == nil)
			local f = sdk.flights.describe(flight)
			assert((f.status.name or f.status) == stored, json.encode(f.status))
		end
		assert(m.complete_survey_upload{ flight = flight.id } == nil)
		fails("ParameterError ValueError", "complete", m.complete_survey_upload, { flight = flight, status = "done" }) fails("ParameterError", "", m.complete_survey_upload, flight)
		assert(m.compute_bbox(mission).id == mission.id)
		local box = { type = "Polygon", coordinates = { ring }, bbox = { 4, 50, 5, 51 } }
		local u = m.update_bbox(mission, { real_bbox = box })
		assert(u.id == mission.id and u.real_bbox.type == "Polygon")
		for _, geometry in ipairs{ box, { type = "GeometryCollection", geometries = { box } } } do assert(m.update_geometry(mission, { geometry = geometry }).geometry.type == geometry.type) end
		assert(m.update_name(mission, { name = "N" }).name == "N")
		for _, date in ipairs{ "2026-06-01", "2026-06-01T10:00:00.000Z" } do assert(m.update_survey_date(mission, { survey_date = date }).survey_date:match("^2026%-06%-01")) end
		fails("ParameterError ValueError", "survey_date", m.update_survey_date, mission, { survey_date = "June" })
		local of = { project = { ["$eq"] = project.id } }
		m.create_mission{ project = project, survey_date = "2026-05-31", name = "A" }
		local page = m.search{ filter = of, fields = { include = { "name" } }, limit = 1, page = 1, sort = { name = 1 }, return_total = true }
		assert(page.total == 2 and page.results[1].name == "A" and page.results[1].project == nil and m.search{ filter = of, limit = 1, page = 2, sort = { name = 1 } }[1].name == "N")
		fails("ParameterError", "", m.delete, mission, { extra = { a = 1 } }) fails("ParameterError", "", m.delete, mission, { other = 1 })
		assert(m.delete(mission) == nil) fails("ResponseError", "", m.describe, mission)`,

	"4.16 pilots": `
		local p = sdk.pilots
		local team = sdk.teams.create{ company = company, name = "T" }
		local sensor, carrier = sdk.sensors_models.create{ name = "m", maker = "k", type = "rgb" }, sdk.carrier_models.create{ name = "m", maker = "k", type = "multirotor" }
		local pilot = p.create{ user = sdk.users.describe(), teams = { team }, carrier_models = { carrier }, sensor_models = { sensor.id } }
		assert(pilot.teams[1] == team.id and pilot.carrier_models[1] == carrier.id and pilot.sensor_models[1] == sensor.id and pilot.user == sdk.users.describe().id)
		local u = p.update{ pilot = pilot, carrier_models = {}, sensor_models = {} }
		assert(#u.carrier_models == 0 and #u.sensor_models == 0 and u.teams[1] == team.id and p.update{ pilot = pilot.id, teams = { team.id } }.id == pilot.id)
		local page = p.search{ filter = { user = { ["$eq"] = pilot.user } }, limit = 1, fields = { include = { "user" } }, page = 0, sort = { _id = 1 }, return_total = true }
		assert(page.total == 1 and page.results[1].teams == nil and p.delete(pilot) == nil and #p.search{} == 0)`,

	"4.17 products": `
		local p = sdk.products
		local product = sdk.analytics.order{ name = "rehearsal", parameters = { duration = 0 }, project = project }
		local last, lines = "", 0
		for line in p.follow_logs(product) do assert(line.timestamp >= last and line.record) last, lines = line.timestamp, lines + 1 end
		assert(p.describe(product).status == "available" and p.describe(product.id).id == product.id)
		local logs = p.retrieve_logs(product)
		assert(logs.total == lines and #logs.logs == lines and logs.logs[1].timestamp <= logs.logs[lines].timestamp)
		local long = sdk.analytics.order{ name = "rehearsal", parameters = { duration = 600 } }
		assert(p.cancel(long).status:match("^cancel"))
		fails("ResponseError", "", p.cancel, ("0"):rep(24)) fails("ResponseError", "", p.describe, ("0"):rep(24))
		assert(#p.search{ project = project } == 1)
		local page = p.search{ filter = { status = { ["$in"] = { "available" } } }, limit = 1, page = 0, sort = { _id = 1 }, return_total = true }
		assert(page.total == 1 and page.results[1].id == product.id)`,

	"4.18 projects": `
		local p = sdk.projects
		assert(p.compute_bbox(project).id == project.id)
		local ring = { { 4, 50 }, { 5, 50 }, { 5, 51 }, { 4, 50 } }
		assert(p.update_bbox(project, { real_bbox = { type = "Polygon", coordinates = { ring } } }).real_bbox.type == "Polygon")
		assert(p.update_geometry(project, { geometry = point }).geometry.type == "Point")
		local d = sdk.datasets.create_file_dataset{ name = "grid", project = project }
		assert(p.update_local_coordinates_dataset(project, { dataset = d }).id == project.id)
		assert(p.update_name(project, { name = "N" }).name == "N")
		local u = p.update_srs(project, { horizontal_srs_wkt = "h", vertical_srs_wkt = "v" })
		assert(u.horizontal_srs_wkt == "h" and u.vertical_srs_wkt == "v" and p.update_srs(project, { vertical_srs_wkt = "w" }).horizontal_srs_wkt == "h")
		for _, status in ipairs{ "pending", "available", "failed", "maintenance" } do
			assert(p.update_status(project, status).id == project.id and p.describe(project).status == status)
		end
		fails("RuntimeError", "", p.update_status, project, "open") fails("ResponseError", "", p.update_status, ("0"):rep(24), "available")
		local units = { distances = "feet", surfaces = "square-feet", volumes = "cubic-feet", altitude = "feet", gsd = "inch/pixel", weight = "metric-tons", slope = "percent" }
		local with = p.update_units(project, { units = units }).units
		for k, v in pairs(units) do assert(with[k] == v, k) end
		local page = p.search{ filter = { name = { ["$eq"] = "N" } }, fields = { include = { "name" } }, limit = 1, page = 1, sort = { name = 1 }, return_total = true }
		assert(page.total == 1 and page.results[1].company == nil)
		assert(p.delete(project) == nil) fails("ResponseError", "", p.describe, project)`,

	"4.18 update_location": `
		local p = sdk.projects
		local u = p.update_location(project, { location = { 4.5, 50.5 }, fixed = true })
		assert(u.location[1] == 4.5 and u.fixed == true)
		for _, nothing in ipairs{ {}, { location = nil }, { fixed = nil } } do
			u = p.update_location(project, nothing)
			assert(u.location[2] == 50.5 and u.fixed == true)
		end
		assert(p.update_location(project, { fixed = false }).location[1] == 4.5 and p.describe(project).fixed == false)
		fails("ParameterError ValueError ResponseError", "location", p.update_location, project, { location = { 4 } })`,

	"4.19 season planner missions": season + `
		local m = sdk.season_planner_missions
		local a, b = sdk.growth_stages.create{ company = company, name = "a" }, sdk.growth_stages.create{ company = company, name = "b" }
		local t = m.add_mission_to_trial{ trial = trial, name = "later", start_date = "2026-07-01", end_date = "2026-07-10", description = "d", estimation_methods = { method.id },
			growth_stages_range = { from = a.id, to = b } }
		assert(t.id == trial.id and #t.missions == 2)
		local one = m.search{ filter = { name = { ["$eq"] = "later" } } }[1]
		assert(one.trial == trial.id and one.company == company.id and one.description == "d" and one.estimation_methods[1] == method.id and one.growth_stages_range.to == b.id)
		local u = m.update_mission{ mission = one, name = "L", start_date = "2026-07-02", end_date = "2026-07-11", description = "e", estimation_methods = {}, growth_stages_range = { from = b, to = b } }
		assert(u.id == one.id and u.name == "L" and u.start_date:match("^2026%-07%-02") and u.description == "e" and #u.estimation_methods == 0 and u.growth_stages_range.from == b.id)
		fails("ParameterError", "name", m.update_mission, { mission = one, description = "f" })
		u = m.describe(one)
		for field, value in pairs{ _id = one.id, name = "L", creation_date = one.creation_date, modification_date = u.modification_date } do
			assert(#m.search{ filter = { [field] = { ["$eq"] = value } } } == 1, field)
		end
		assert(#m.search{ filter = { company = { ["$eq"] = company.id } } } == 2 and #m.search{ filter = { deletion_date = { ["$eq"] = one.creation_date } } } == 0)
		assert(m.search{ filter = { trial = { ["$eq"] = trial.id } }, limit = 1, page = 1, sort = { name = 1 }, return_total = true }.total == 2)
		assert(m.delete(one) == nil and #m.search{} == 1) fails("ResponseError", "", m.describe, one)`,

	"4.20 sensors, 4.21 carriers": `
		local team = sdk.teams.create{ company = company, name = "T" }
		local bands = { { name = "red", full_width_half_maximum = 10, central_wavelength = 650 } }
		local sm = sdk.sensors_models.create{ name = "m", maker = "k", type = "thermal", company = company, weight = { value = 200, unit = "g" }, lens_type = "fisheye", width = 640, height = 480,
			focal_length = 8.5, pixel_size = 3.5, principal_point = { 1, 2 }, distortion = { k1 = 0.5 }, bands = bands }
		assert(sm.name == "m" and sm.maker == "k" and sm.type == "thermal" and sm.company == company.id and sm.weight.unit == "g" and sm.lens_type == "fisheye" and sm.width == 640 and sm.height == 480)
		assert(sm.focal_length == 8.5 and sm.pixel_size == 3.5 and sm.principal_point[2] == 2 and sm.distortion.k1 == 0.5 and sm.bands[1].central_wavelength == 650)
		for _, type in ipairs{ "rgb", "ms", "hs", "lidar" } do sdk.sensors_models.create{ name = type, maker = "k", type = type, lens_type = "perspective", weight = { value = 1, unit = "kg" } } end
		for field, value in pairs{ type = "radar", lens_type = "flat", weight = { value = 1, unit = "t" } } do
			local t = { name = "x", maker = "k", type = "rgb" } t[field] = value
			fails("ParameterError ValueError", "", sdk.sensors_models.create, t)
		end
		local cm = sdk.carrier_models.create{ name = "m", maker = "k", type = "multirotor", company = company, unloaded_weight = { value = 3.5, unit = "kg" }, compatible_sensor_models = { sm } }
		assert(cm.company == company.id and cm.unloaded_weight.value == 3.5 and cm.compatible_sensor_models[1] == sm.id)
		for _, type in ipairs{ "ground-robot", "helicopter", "pedestrian" } do assert(sdk.carrier_models.create{ name = type, maker = "k", type = type }.type == type) end
		fails("ParameterError ValueError", "type", sdk.carrier_models.create, { name = "x", maker = "k", type = "balloon" })
		local sensor = sdk.sensors.create{ sensor_model = sm, team = team, serial_number = "1", firmware = "f", comment = "c" }
		assert(sensor.sensor_model == sm.id and sensor.team == team.id and sensor.serial_number == "1" and sensor.firmware == "f" and sensor.comment == "c")
		for i, status in ipairs{ "ready", "in-maintenance", "out-of-service" } do
			local c = sdk.carriers.create{ carrier_model = cm.id, team = team.id, serial_number = tostring(i), firmware = "f", status = status, comment = "c" }
			assert(c.carrier_model == cm.id and c.status == status and c.firmware == "f" and c.comment == "c" and c.serial_number == tostring(i))
		end
		fails("ParameterError ValueError", "status", sdk.carriers.create, { carrier_model = cm, team = team, serial_number = "9", status = "lost" })
		for _, manager in ipairs{ "sensors", "sensors_models" } do
			local page = sdk[manager].search{ filter = { _id = { ["$eq"] = manager == "sensors" and sensor.id or sm.id } }, limit = 1, fields = { include = { "company" } }, page = 0, sort = { _id = 1 }, return_total = true }
			assert(page.total == 1 and page.results[1].comment == nil)
		end
		local carriers = sdk.carriers.search{ filter = { team = { ["$eq"] = team.id } }, limit = 2, page = 0, sort = { serial_number = -1 } }
		assert(#carriers == 2 and carriers[1].serial_number == "3")
		assert(sdk.sensors.delete(sensor) == nil and sdk.carriers.delete(carriers[1]) == nil and #sdk.sensors.search{} == 0)
		for _, c in ipairs(sdk.carriers.search{}) do sdk.carriers.delete(c) end
		assert(sdk.carrier_models.delete(cm) == nil and sdk.sensors_models.delete(sm) == nil) fails("ResponseError", "", sdk.sensors_models.describe, sm)`,

	"4.22 teams": `
		local t = sdk.teams
		local team = t.create{ company = company, name = "T" }
		local pilot = sdk.pilots.create{ user = sdk.users.describe(), teams = { team } }
		assert(t.rename(team, "U").name == "U" and t.rename{ team = team, name = "V" }.name == "V" and t.set_leader(team, { leader = pilot }).leader == pilot.id)
		fails("ParameterError", "", t.set_leader, team, pilot)
		assert(t.create{ company = company.id, name = "W", leader = pilot }.leader == pilot.id)
		local found = t.search{ filter = { company = { ["$eq"] = company.id } }, limit = 1, page = 1, sort = { name = 1 } }
		assert(#found == 1 and found[1].name == "W")
		assert(select("#", t.delete(found[1])) <= 1 and #t.search{} == 1)`,

	"4.23 trials": season + `
		local t = sdk.trials
		local area = { type = "Polygon", coordinates = { { { 1.40, 43.60, 0 }, { 1.41, 43.60, 0 }, { 1.41, 43.61, 0 }, { 1.40, 43.60, 0 } } } }
		local place = { type = "Feature", crs = { type = "name", properties = { name = "EPSG:4326" } }, geometry = area, bbox = { 1.40, 43.60, 1.41, 43.61 } }
		local made = t.create{ field = field, name = "n", crop = crop, comment = "c", season = "2026-03-01", location = place, links = { trial }, custom_id = "own",
			missions = { { name = "m", start_date = "2026-04-01", end_date = "2026-04-10", description = "d", estimation_methods = { method }, growth_stages_range = {} } } }
		assert(made.field == field.id and made.crop == crop.id and made.comment == "c" and made.season:match("^2026%-03%-01") and made.location.geometry.coordinates[1][1][3] == 0)
		assert(made.links[1] == trial.id and made.custom_id == "own" and #made.missions == 1 and made.location.bbox[4] == 43.61 and made.location.crs)
		for name, value in pairs{ _id = made.id, name = "n", field = field.id, crop = crop.id, season = made.season, company = company.id, creation_date = made.creation_date } do
			assert(#t.search{ filter = { [name] = { ["$eq"] = value } } } >= 1, name)
		end
		for _, name in ipairs{ "modification_date", "deletion_date" } do assert(#t.search{ filter = { [name] = { ["$eq"] = "2020-01-01T00:00:00.000Z" } } } == 0) end
		assert(t.search{ limit = 1, page = 1, sort = { name = 1 }, return_total = true }.total == 2)
		local dtm = sdk.datasets.create_raster_dataset{ name = "dtm", project = project }
		assert(t.set_dtm_dataset_on_trial{ trial = made, dataset = dtm }.id == made.id)
		local plots = { location = { type = "FeatureCollection", features = { { type = "Feature", properties = { plot = 1 }, geometry = area } } } }
		assert(t.set_plots_on_trial{ trial = made.id, plots = plots }.plots.location.features[1].properties.plot == 1)
		local n = 0
		for x in t.search_generator{ filter = { field = { ["$eq"] = field.id } } } do n = n + 1 end
		local elsewhere = sdk.fields.create{ company = company, project = project, name = "other" }
		fails("ResponseError", "field", t.create, { field = elsewhere, name = "x", crop = crop, links = { trial } })
		assert(n == 2 and t.delete(made) == nil) fails("ResponseError", "", t.describe, made)`,

	"4.24 share tokens": `
		local s = sdk.share_tokens
		local a, b = sdk.datasets.create_raster_dataset{ name = "a", project = project }, sdk.datasets.create_raster_dataset{ name = "b", project = project }
		local one, two = s.create(a), s.create({ a, b.id }, { duration = 3600 })
		assert(one.token and one.scope.datasets[1] == a.id and one.expiration_date == nil and #two.scope.datasets == 2 and two.expiration_date:match("^%d+%-%d+%-%d+T"))
		local page = s.search{ filter = {}, limit = 1, page = 1, return_total = true }
		assert(page.total == 2 and #page.results == 1 and #s.search{ limit = 1, page = 2 } == 1)
		assert(s.revoke(one.token) == nil and #s.search{} == 1) fails("ResponseError", "", s.revoke, "none")`,

	"4.25 tags and comments": `
		local ring = { { 4, 50 }, { 5, 50 }, { 5, 51 }, { 4, 50 } }
		local flight = sdk.missions.create{ project = project, survey_date = "2026-05-31", number_of_images = 1, coordinates = ring }
		local image = sdk.datasets.create_image_dataset{ name = "i", project = project, flight = flight }
		local d, a = sdk.datasets.create_file_dataset{ name = "d", project = project }, sdk.annotations.create{ project = project }
		for manager, field in pairs{ tags = "name", comments = "text" } do
			local m = sdk[manager]
			for kind, target in pairs{ dataset = d, annotation = a, flight = flight, feature = sdk.features.create{} } do
				local made = m.create("x " .. kind, { project = project, type = kind, target = target })
				assert(made[field] == "x " .. kind and made.project == project.id and made.type == kind and made.target == target.id, json.encode(made:totable()))
				local found = m.search{ project = project, type = kind, target = target.id }
				assert(#found == 1 and found[1].id == made.id and #m.search{ project = project.id, type = kind } >= 1)
			end
			assert(m.create("p", { project = project, type = "project" }).type == "project")
			local photo = m.create("f", { project = project, type = "photo", target = image, flight = flight })
			assert(photo.flight == flight.id and photo.target == image.id)
			assert(m.search{ project = project, type = "photo", target = image, flight = flight }[1].id == photo.id and #m.search{ project = project } == 6)
			fails("ParameterError", "flight", m.create, "f", { project = project, type = "photo", target = image })
			fails("ParameterError", "flight", m.search, { project = project, type = "photo", target = image })
			fails("ParameterError", "target", m.search, { project = project, type = "photo", flight = flight })
			fails("ParameterError ValueError", "type", m.create, "f", { project = project, type = "mission", target = d })
			fails("ParameterError", "project", m.search, {}) fails("ParameterError", "project", m.create, "f", { type = "project" })
		end
		local tag = sdk.tags.search{ project = project, type = "project" }[1]
		assert(sdk.tags.delete(tag) == nil and #sdk.tags.search{ project = project } == 5)
		assert(sdk.comments.mark_as_read{ project = project } == nil and sdk.comments.mark_as_read{ project = project, type = "photo", target = image, flight = flight } == nil)`,

	"4.26 users": `
		local me = sdk.users.describe()
		assert(sdk.users.describe(me.id).id == me.id and sdk.users.describe{ user = me }.id == me.id and sdk.users.describe(nil).id == me.id)
		local page = sdk.users.search{ filter = { _id = { ["$eq"] = me.id } }, limit = 1, page = 1, sort = { _id = 1 }, return_total = true }
		assert(page.total == 1 and page.results[1].id == me.id) fails("ResponseError", "", sdk.users.describe, ("0"):rep(24))`,

	"4.27 datastream templates": `
		local t = sdk.datastreamtemplates
		for _, type in ipairs{ "pcl", "file", "image", "raster", "mesh", "vector" } do
			local made = t.create{ name = type, source = { type = "object-storage" }, import_dataset = { dataset_parameters = { type = type, categories = { "c" }, horizontal_srs_wkt = "h", ingestion = { parameters = {} } } },
				contextualisation = { type = "c" }, transform = { type = "t" }, aggregate = { type = "a" }, company = company, description = "d" }
			assert(made.import_dataset.dataset_parameters.type == type and made.import_dataset.dataset_parameters.categories[1] == "c" and made.contextualisation.type == "c" and made.transform.type == "t")
			assert(made.aggregate.type == "a" and made.company == company.id and made.description == "d" and made.source.type == "object-storage")
		end
		local all = t.search{ sort = { name = 1 } }
		assert(t.describe{ template = all[1] }.name == "file") fails("ParameterError", "", t.describe, all[1])
		local two = t.describes{ templates = { all[2].id, all[1] } }
		assert(two[1].id == all[2].id and #two == 2)
		local page = t.search{ filter = { name = { ["$eq"] = "pcl" } }, limit = 1, page = 0, exclude = { "source" }, return_total = true }
		assert(page.total == 1 and page.results[1].source == nil and page.results[1].name == "pcl")
		assert(t.delete(all[1]) == nil and #t.search{} == 5)`,
}

const season = `
		local field = sdk.fields.create{ company = company, project = project, name = "f" }
		local crop = sdk.crops.create{ company = company, name = "c" }
		local method = sdk.estimation_methods.create{ name = "e", companies = { company }, crops = { crop }, input_data_requirements = { sensor_type = "rgb" },
			analytic = { name = "rehearsal", version_range = "1.x", parameters = { duration = 0 } } }
		local trial = sdk.trials.create{ field = field, crop = crop, name = "t", missions = { { name = "m", start_date = "2026-05-20", end_date = "2026-06-05", estimation_methods = { method } } } }
`
