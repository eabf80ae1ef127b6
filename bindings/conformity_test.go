package bindings_test

import (
	"testing"

	"transect/client"
	"transect/runtime/vm"
)

// conforms are statements of the interface documents, in Lua.
var conforms = map[string]string{
	"record attributes have their documented names": `
		local a = sdk.analytics.search{ name = "flight_report" }[1]
		assert(a.container_image == a.algorithm.docker_image and a.container_image:match("flight_report"))
		assert(a:totable().container_image == a.container_image)
		local d = sdk.datasets.create_file_dataset{ name = "n", project = project, dataset_format = "txt" }
		assert(d.dataset_format == "txt" and d.format == "txt" and d:totable().dataset_format == "txt")
		local t = sdk.datastreamtemplates.create{ name = "t", source = { type = "object-storage" }, import_dataset = { dataset_parameters = { type = "pcl" } }, description = "d" }
		assert(t.import_dataset.dataset_parameters.type == "pcl" and t.description == "d")
		local made = sdk.analytics.create{ name = "mine", version = "1.0.0", container_image = "r/i:1", container_credentials_name = key().name, company = company,
			instance_type = "large", volume_size = 20 }
		assert(made.instance_type == "large" and made.volume_size == 20 and made.container_credentials_name == key().name)
		local cloud = sdk.credentials.create{ name = "cloud", company = company, credentials = { type = "aws", cloud_access_key_id = "k", cloud_secret_access_key = "s", cloud_region = "eu-west-1" } }
		local found = sdk.credentials.search{ name = "cloud" }[1].credentials
		assert(found.cloud_region == found.aws_region)`,

	"searches take the documented names, too": `
		for _, name in ipairs{ "dataset_format", "format" } do
			sdk.datasets.create_file_dataset{ name = name, project = project, dataset_format = "f-" .. name }
			local found = sdk.datasets.search{ filter = { dataset_format = { ["$eq"] = "f-" .. name } }, sort = { dataset_format = 1 }, fields = { include = { "dataset_format" } } }
			assert(#found == 1 and found[1].dataset_format == "f-" .. name and found[1].name == nil)
		end
		local p = sdk.projects.search{ filter = { id = { ["$eq"] = project.id } } }
		assert(#p == 1 and p[1].id == project.id)
		assert(#sdk.analytics.search{ filter = { ["$or"] = { { container_image = { ["$match"] = "flight_report:1.1" } } } } } == 1)
		local ok, e = pcall(sdk.datasets.search, { filter = { dataset_format = "a", format = "b" } })
		assert(not ok and e.name == "SearchError" and e.message:match("same field"))`,

	"forms that the documents leave open are not checked, those they give are": `
		local function fails(name, text, f, ...)
			local ok, e = pcall(f, ...)
			assert(not ok and e.name == name and (e.message .. (e.hint or "")):match(text), tostring(e))
		end
		local m = sdk.carrier_models.create{ name = "m", maker = "k", type = "multirotor", flight_time = 40, speed = { cruise = "5 m/s" }, altitude = { 10, 120 } }
		assert(m.flight_time == 40 and m.speed.cruise == "5 m/s" and m.altitude[2] == 120)
		local survey = { project = project, survey_date = "2026-05-31", number_of_images = 2 }
		for _, wrong in ipairs{ { type = "Point", coordinates = { 4, 50 } }, { type = "GeometryCollection", geometries = { { type = "Point", coordinates = { 4, 50 } } } } } do
			survey.geometry = wrong
			fails("QueryError", "GeometryCollection with a Polygon", sdk.missions.create_survey, survey)
			fails("QueryError", "GeometryCollection with a Polygon", sdk.missions.create, survey)
		end
		fails("ParameterError", "geometry = {", sdk.features.create, { type = "Point", coordinates = { 4, 50 } })
		fails("BoundingBoxError", "empty", sdk.projects.update_bbox, project, { real_bbox = { type = "Polygon", coordinates = {} } })
		fails("BoundingBoxError", "ring", sdk.projects.update_bbox, project, { real_bbox = { type = "Polygon", coordinates = { {} } } })
		local a = sdk.annotations.create{ project = project, geometry = { type = "Point", coordinates = { 4, 50 } } }
		assert(a.icon == sdk.Icons.ANNOTATE)
		local secret = { type = "docker", login = "l", password = "p", registry = "r" }
		assert(next(sdk.credentials.set_credentials(company, key().name, secret)) == nil)
		assert(next(sdk.credentials.set_labels(company, key().name, { type = "docker" })) == nil)`,

	"names stand for projects and missions in the inputs of an order": `
		local m = sdk.missions.find_or_create{ project = project, name = "May" }
		assert(sdk.analytics.order{ name = "flight_report", inputs = { mission = "May" } }.inputs.mission == m.id)
		local ok, e = pcall(sdk.analytics.order, { name = "flight_report", inputs = { mission = "June" } })
		assert(not ok and e.name == "ParameterError" and e.message:match("no mission June"), tostring(e))`,

	"lists of descriptions may be iterators": `
		local at = sdk.collections.create{ name = "c", features = {} }
		local function descriptions()
			local n = 0
			return function() n = n + 1 if n <= 3 then return { collection = at.id, properties = { n = n } } end end
		end
		assert(#sdk.features.create_features(descriptions()) == 3)
		assert(#sdk.features.create_features{ descriptions = descriptions() } == 3)
		for i, make in ipairs{ function() error("mine") end, function() return 1 end } do
			local ok, e = pcall(sdk.features.create_features, make)
			assert(not ok and tostring(e):match(({ "mine", "table" })[i]), tostring(e))
		end
		assert(#sdk.features.search{ filter = { collection = { ["$eq"] = at.id } } } == 6)`,

	"a fixed wing is read back and searched as it was written": `
		for _, kind in ipairs{ "fixed-wing", "fixed-wind" } do
			local m = sdk.carrier_models.create{ name = kind, maker = "k", type = kind }
			assert(m.type == "fixed-wing" and m.name == kind and sdk.carrier_models.describe(m).type == "fixed-wing")
			for _, filter in ipairs{ { type = { ["$eq"] = kind } }, { type = kind }, { type = { ["$in"] = { kind } } } } do
				local found = sdk.carrier_models.search{ filter = filter }
				assert(found[1].type == "fixed-wing", json.encode(filter))
			end
		end
		assert(#sdk.carrier_models.search{ filter = { type = { ["$ne"] = "fixed-wing" } } } == 0)`,

	"the key search of projects finds tags": `
		local other = sdk.projects.create("Elsewhere", company)
		sdk.tags.create("Quarry North", { project = project, type = "project" })
		sdk.tags.create("quarry", { project = other, type = "dataset", target = sdk.datasets.create_file_dataset{ name = "d", project = other } })
		local found = sdk.projects.search{ filter = { search = { ["$match"] = "quarry" } } }
		assert(#found == 1 and found[1].id == project.id)`,

	"a generator finds what its loop creates": `
		for _, more in ipairs{ {}, { limit = 2 }, { keyset_pagination = true } } do
			local place = sdk.projects.create{ name = "growing", company = company }
			for _, name in ipairs{ "d1", "d2", "d3" } do sdk.datasets.create_file_dataset{ name = name, project = place } end
			local seen = {}
			more.filter = { project = { ["$eq"] = place.id } }
			for d in sdk.datasets.search_generator(more) do
				seen[#seen + 1] = d.name
				if #seen == 1 then sdk.datasets.create_file_dataset{ name = "new", project = place } end
			end
			assert(#seen == 4 and seen[4] == "new", table.concat(seen, " "))
		end`,

	"an image has its camera model": `
		for _, given in ipairs{ { model = "brown", f = 4000 }, { { model = "brown", f = 4000 } } } do
			local d = sdk.datasets.create_image_dataset{ name = "i", project = project, camera_parameters = given }
			assert(#d.camera_parameters == 1 and d.camera_parameters[1].model == "brown")
		end
		local ok, e = pcall(sdk.datasets.create_image_dataset, { name = "i", project = project, camera_parameters = "brown" })
		assert(not ok and e.name == "ParameterError")`,

	"an ingestion is complete or completed": `
		local collection = sdk.collections.create{ name = "c", company = company, features = {} }
		local d = sdk.datasets.create_vector_dataset{ name = "v", project = project, collection = collection }
		assert(d.ingestion.status == "completed")
		for _, status in ipairs{ "complete", "completed" } do
			assert(#sdk.datasets.search{ filter = { ["ingestion.status"] = { ["$eq"] = status } } } == 1)
			assert(#sdk.datasets.search{ filter = { ["ingestion.status"] = status } } == 1)
			assert(#sdk.datasets.search{ filter = { ["ingestion.status"] = { ["$ne"] = status } } } == 0)
			assert(#sdk.datasets.search{ filter = { ["ingestion.status"] = { ["$in"] = { status, "failed" } } } } == 1)
			local n = 0
			for _ in sdk.datasets.search_generator{ filter = { ["$and"] = { { ["ingestion.status"] = { ["$eq"] = status } } } } } do n = n + 1 end
			assert(n == 1)
		end`,

	"icons are an enumeration": `
		local a = sdk.annotations.create{ project = project, geometry = { type = "Point", coordinates = { 4, 50 } }, icon = sdk.Icons.CONVEYOR }
		assert(a.icon == sdk.Icons.CONVEYOR)
		sdk.annotations.set_icon(a, { icon = "STOP" })
		assert(sdk.annotations.describe(a).icon == sdk.Icons.STOP)
		sdk.annotations.set_icon(a)
		assert(sdk.annotations.describe(a).icon == sdk.Icons.ANNOTATE)
		local ok, e = pcall(function() return sdk.Icons.CONVEYER end)
		assert(not ok and e.name == "KeyError" and e.hint:match("CONVEYOR"))`,

	"a Resource is accepted wherever an id is": `
		local r = sdk.Resource(project.id, { name = "mine", gone = json.null })
		assert(r.id == project.id and r._id == project.id and r.name == "mine" and r.gone == nil)
		assert(#r:fields() == 3, json.encode(r:fields())) assert(#sdk.Resource{ id = "x", gone = json.null, _Resource__remove_undefined = true }:fields() == 1)
		local old = sdk.connect{ revision = 3 }
		assert(#old.Resource{ id = "x", gone = json.null }:fields() == 1 and #old.Resource("x", { gone = json.null }, false):fields() == 2)
		assert(#sdk.connect{ revision = 2 }.Resource("x", { gone = json.null }):fields() == 2 and #old.Resource{ id = "x", _Resource__remove_undefined = false, gone = json.null }:fields() == 2)
		assert(sdk.projects.describe(r).id == project.id and sdk.Resource{ _id = "y" }.id == "y" and sdk.Resource{ id = "z" }._id == "z")
		assert(tostring(r):match("^resource mine"))
		local ok, e = pcall(sdk.Resource, { name = "x" })
		assert(not ok and e.name == "KeyError")`,

	"an order gives a product": `
		local m = sdk.missions.find_or_create{ project = project, name = "m" }
		local p = sdk.analytics.order{ name = "flight_report", inputs = { mission = m } }
		assert(tostring(p):match("^product"))`,

	"unknown arguments travel, misspelt ones do not": `
		local made = sdk.projects.create{ name = "N", company = company, purpose = "survey" }
		assert(sdk.projects.describe(made).purpose == "survey")
		assert(#sdk.projects.search{ filter = {}, deep_inside = { a = 1 } } == 2)
		sdk.projects.update_name(project, { name = "Z", comment_of_mine = "x" })
		local ok, e = pcall(sdk.projects.create, { nmae = "N", company = company })
		assert(not ok and e.name == "ParameterError" and e.hint:match("did you mean name"))
		local twice = select(2, pcall(sdk.projects.create, { name = "N", company = company, purpose = 1, extra = { purpose = 2 } }))
		assert(twice.message:match("given twice"))
		local f = select(2, pcall(sdk.projects.create, { name = "N", company = company, purpose = print }))
		assert(f.message:match("function"))
		local with = sdk.projects.create("P", company, { geometry = { type = "Point", coordinates = { 4, 50 } }, purpose = "x" })
		assert(with.purpose == "x" and with.geometry.type == "Point")`,

	"a mission takes its outline as coordinates or as geometry": `
		local ring = { { 4, 50 }, { 5, 50 }, { 5, 51 }, { 4, 50 } }
		local polygon = { type = "Polygon", coordinates = { ring } }
		local collection = { type = "GeometryCollection", geometries = { polygon } }
		local base = function(more) local t = { project = project, survey_date = "2026-05-31" } for k, v in pairs(more) do t[k] = v end return t end
		for _, images in ipairs{ 0, 3 } do
			for i, outline in ipairs{ { coordinates = ring }, { geometry = collection }, { extra = { geometry = collection } }, { extra = { coordinates = ring } }, { geometry = polygon } } do
				local t = base(outline)
				t.number_of_images = images
				local flight, mission = sdk.missions.create(t)
				assert((flight ~= nil) == (images > 0))
				local g = sdk.missions.describe(mission).geometry
				assert(g and (g.geometries and g.geometries[1] or g).coordinates[1][2][1] == 5, images .. " images, outline " .. i)
			end
		end
		local both = base{ number_of_images = 0, coordinates = ring, geometry = collection }
		local ok, e = pcall(sdk.missions.create, both)
		assert(not ok and e.name == "QueryError")`,

	"the generator of share tokens takes fields and sort": `
		local d = sdk.datasets.create_file_dataset{ name = "n", project = project }
		sdk.share_tokens.create(d)
		for t in sdk.share_tokens.search_generator{ fields = { include = { "scope" } }, sort = { _id = -1 } } do
			assert(t.scope and t.token == nil)
		end`,

	"errors have their documented names": `
		local function fails(name, f, ...)
			local ok, e = pcall(f, ...)
			assert(not ok and e.name == name, name .. ": " .. tostring(e))
		end
		fails("SearchError", sdk.projects.search, { filter = { name = { ["$is"] = 1 } } })
		fails("SearchError", sdk.projects.search, { sort = { name = "up" } })
		fails("SearchError", sdk.projects.search, { fields = { include = { "a" }, exclude = { "b" } } })
		fails("BoundingBoxError", sdk.projects.update_bbox, project, { real_bbox = { type = "Polygon" } })
		fails("BoundingBoxError", sdk.projects.update_geometry, project, { geometry = { type = "Point", coordinates = { 4, 50 }, bbox = { 1, 2 } } })
		fails("KeyError", sdk.analytics.create, { name = "a", version = "1.0.0", container_image = "i", container_credentials_name = "c", company = company, inputs = { { display_name = "x" } } })
		fails("KeyError", sdk.analytics.create, { name = "a", version = "1.0.0", container_image = "i", container_credentials_name = "c", company = company, inputs = { { name = "x", shceme = {} } } })
		fails("RuntimeError", sdk.projects.update_status, project, "open")`,
}

const setting = `
	local sdk, json = require("sdk"), require("json")
	local company = sdk.companies.search{ limit = 1 }[1]
	local project = sdk.projects.create("Conformity", company)
	local point = { type = "Point", coordinates = { 4, 50 } }
	local photo, ortho = arg[1], arg[2]
	local credential
	local function key()
		credential = credential or sdk.credentials.create{ name = "registry", company = company, credentials = { type = "docker", login = "l", password = "p", registry = "r" } }
		return credential
	end
	local function fails(names, text, f, ...)
		local ok, e = pcall(f, ...)
		assert(not ok, "no " .. names)
		assert((" " .. names .. " "):find(" " .. tostring(e.name) .. " ", 1, true) and (e.message .. (e.hint or "")):find(text, 1, true), tostring(e))
		return e
	end
`

func TestAsTheInterfaceDocumentsSay(t *testing.T) {
	files := argumentFiles(t)
	for _, statements := range []map[string]string{conforms, conformsData, conformsField, conformsRecords} {
		for name, code := range statements {
			t.Run(name, func(t *testing.T) {
				newWorldIn(t, t.TempDir(), files).lua(t, setting+code)
			})
		}
	}
}

// Operations that an older revision lacks are absent under it, and the error
// says so.
func TestOperationsOfRevisions(t *testing.T) {
	for _, c := range []struct {
		revision int
		lacks    []string
	}{
		{2, []string{"analytics.assign_credentials", "analytics.unassign_credentials", "analytics.set_container_credentials",
			"analytics.set_docker_credentials", "credentials.set_credentials", "credentials.set_labels"}},
		{3, []string{"analytics.assign_credentials", "credentials.set_labels", "carriers.search", "carrier_models.create"}},
	} {
		w := newWorldOf(t, client.Settings{Revision: c.revision})
		for _, operation := range c.lacks {
			_, err := w.in.RunString("test", `local _ = require("sdk").`+operation)
			if err == nil || vm.Failure(err).Err.Error() != "this revision of the interface has no operation "+operation {
				t.Errorf("revision %d, %s: %v", c.revision, operation, err)
			}
		}
		w.lua(t, `local sdk = require("sdk"); assert(sdk.analytics.order)`)
	}
}
