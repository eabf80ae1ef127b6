package bindings_test

import (
	"fmt"
	"strings"
	"testing"

	"transect/client"
)

// differences are the lines of the interface documents that say how its revisions differ, each with what holds in
// those where it does, against the local platform.
var differences = []struct {
	line  string
	holds map[string]string // Lua, by the revisions it is true in
}{
	{"entry point", map[string]string{
		"12": `ok(pcall(sdk.connect, { user = "x", password = "y", service = { "mine/1" } }))
			ok(pcall(sdk.connect, { client_id = "i", client_secret = "s", force_prompt = false }))`,
		"3": `ok(pcall(sdk.connect, { client_id = "i", secret = "s", scope = "all" }))
			lacks("service", sdk.connect, { service = "mine/1" })
			lacks("force_prompt", sdk.connect, { force_prompt = true })`,
		"13": `ok(pcall(sdk.connect, { access_token = "t" }))`,
		"2":  `lacks("access_token", sdk.connect, { access_token = "t" })`,
	}},
	{"Resource.__remove_undefined", map[string]string{
		"12": `assert(#sdk.Resource{ id = "x", gone = json.null }:fields() == 2)`,
		"3":  `assert(#sdk.Resource{ id = "x", gone = json.null }:fields() == 1)`,
	}},
	// A script of an older revision does not ask for what its errors did not have.
	{"ResponseError", map[string]string{
		"123": `local e = fails("ResponseError", "404", sdk.projects.describe, ("0"):rep(24))
			assert(e.status == 404 and e.data, json.encode(e.data))`,
	}},
	{"analytics", map[string]string{
		"1": `local key = sdk.credentials.create{ name = "key", company = company, credentials = docker }
			image.container_credentials_name = "key"
			assert(sdk.analytics.create(image).container_credentials_name == "key")
			sdk.analytics.set_container_credentials("mine", "1.0.0", company, "key")
			sdk.analytics.assign_credentials("mine", "1.x", company, { store = "key" })
			sdk.analytics.unassign_credentials("mine", "1.x", company, { "store" })`,
		"23": `assert(sdk.analytics.create(image).name == "mine")
			image.container_credentials_name = "key"
			lacks("container_credentials_name", sdk.analytics.create, image)
			image.container_credentials_name, image.credentials = nil, { { name = "store" } }
			lacks("credentials", sdk.analytics.create, image)
			none("analytics", "assign_credentials", "unassign_credentials", "set_container_credentials")`,
	}},
	{"credentials", map[string]string{
		"1": `local made = sdk.credentials.create{ name = "r", company = company, credentials = docker, labels = { type = "docker" } }
			assert(made.company == company.id, json.encode(made))
			sdk.credentials.set_credentials(company, "r", docker)
			sdk.credentials.set_labels(company, "r", { type = "docker" })
			lacks("credentials_type", sdk.credentials.create, { name = "s", company = company, credentials = docker, credentials_type = "docker" })`,
		"2": `docker.type = nil
			local made = sdk.credentials.create{ name = "r", credentials = docker, credentials_type = "docker" }
			assert(made.company == company.id and made.type == "docker" and made.credentials.login == "l")
			for _, kind in ipairs{ "object-storage", "stac-catalog" } do
				assert(sdk.credentials.create{ name = kind, credentials = { aws_access_key_id = "k", aws_secret_access_key = "s" }, credentials_type = kind }.type == kind)
			end
			fails("ParameterError", "object%-storage", sdk.credentials.create, { name = "s", credentials = docker, credentials_type = "ftp" })
			lacks("company", sdk.credentials.create, { name = "s", company = company, credentials = docker, credentials_type = "docker" })`,
		"3": `docker.type = nil
			local made = sdk.credentials.create{ name = "r", company = company, credentials = docker }
			assert(made.company == company.id and made.type == "docker" and made.credentials.login == "l")
			lacks("credentials_type", sdk.credentials.create, { name = "s", credentials = docker, credentials_type = "docker" })`,
		"23": `none("credentials", "set_credentials", "set_labels")
			assert(#sdk.credentials.search() == 0)`,
	}},
	{"datasets: creation", map[string]string{
		"12": `local d = sdk.datasets.create_image_dataset{ name = "i", company = company, parse_metadata = true }
			assert(d.company == company.id and d.ingestion.parameters.parse_metadata)
			fails("ParameterError", "company or project is missing", sdk.datasets.create_pcl_dataset, { name = "p" })`,
		"3": `for _, kind in ipairs{ "file", "image", "raster", "pcl" } do
				local create = sdk.datasets["create_" .. kind .. "_dataset"]
				local d = create{ name = kind, project = project }
				assert(d.company == company.id and d.project == project.id)
				lacks("company", create, { name = kind, project = project, company = company })
				fails("ParameterError", "project is missing", create, { name = kind })
			end
			lacks("parse_metadata", sdk.datasets.create_image_dataset, { name = "i", project = project, parse_metadata = true })`,
	}},
	{"datasets: share_tiles", map[string]string{
		"12": `assert(sdk.datasets.share_tiles{ dataset = { raster(), raster() } } and sdk.datasets.share_tiles{ dataset = vector() })
			lacks("company", sdk.datasets.share_tiles, { dataset = vector(), company = company })`,
		"3": `assert(sdk.datasets.share_tiles{ dataset = vector(), company = company, duration = 60 })
			fails("ParameterError", "one dataset at a time", sdk.datasets.share_tiles, { dataset = { vector(), vector() } })`,
	}},
	{"datasets: download_preview", map[string]string{
		"12": `fails("ResponseError", "", sdk.datasets.download_preview, vector(), { kind = "small" })`,
		"3":  `lacks("kind", sdk.datasets.download_preview, vector(), { kind = "small" })`,
	}},
	{"annotations: first page", map[string]string{
		"123": `for i = 1, 3 do sdk.annotations.create{ project = project, name = "a" .. i } end
			local first = tonumber(page)
			for i = 0, 2 do
				local found = sdk.annotations.search{ project = project, limit = 1, page = first + i, sort = { name = 1 } }
				assert(#found == 1 and found[1].name == "a" .. i + 1, first .. " " .. tostring(found[1]))
			end
			fails("ResponseError", "page", sdk.annotations.search, { project = project, page = first - 1 })
			assert(#sdk.annotations.search{ project = project, sort = { name = 1 } } == 3)
			local seen = {}
			for a in sdk.annotations.search_generator{ filter = { project = { ["$eq"] = project.id } }, limit = 2 } do seen[#seen + 1] = a.name end
			assert(table.concat(seen, " ") == "a1 a2 a3", table.concat(seen, " "))`,
	}},
	// The newest has them, too, as the wire shows.
	{"comments, complete_survey_upload", map[string]string{
		"13": `sdk.comments.create("seen", { project = project, type = "project" })
			assert(sdk.missions.complete_survey_upload)`,
		"2": `none("comments", "create", "search")
			none("missions", "complete_survey_upload")`,
	}},
	{"carriers, carrier models", map[string]string{
		"12": `local m = sdk.carrier_models.create{ name = "m", maker = "k", type = "multirotor" }
			assert(sdk.carrier_models.search{ filter = { name = { ["$eq"] = "m" } } }[1].id == m.id)`,
		"3": `none("carriers", "search", "create")
			none("carrier_models", "search")`,
	}},
}

const revisionSetting = `
	local sdk, json = require("sdk"), require("json")
	local company = sdk.companies.search{ limit = 1 }[1]
	local project = sdk.projects.create("Revisions", company)
	local docker = { type = "docker", login = "l", password = "p", registry = "r" }
	local image = { name = "mine", version = "1.0.0", container_image = "r/i:1", company = company }
	local function vector()
		local collection = sdk.collections.create{ name = "c", company = company, features = {} }
		return sdk.datasets.create_vector_dataset{ name = "v", project = project, collection = collection }
	end
	local function raster()
		local d = sdk.datasets.create_raster_dataset{ name = "r", project = project }
		sdk.datasets.upload_file(d, { component = "raster", file_path = "../testdata/ortho.tif" })
		sdk.datasets.wait(d)
		return d
	end
	local function fails(name, text, f, ...)
		local ok, e = pcall(f, ...)
		assert(not ok and e.name == name and tostring(e):match(text), tostring(e))
		return e
	end
	local function lacks(argument, f, ...) fails("ParameterError", "argument " .. argument .. " does not exist in this revision", f, ...) end
	local function none(manager, ...)
		for _, name in ipairs{ ... } do
			fails("UnsupportedOperationError", "has no operation " .. manager .. "." .. name, function() return sdk[manager][name] end)
		end
	end
	-- Arguments are accepted when no more than the login is wrong.
	local function ok(done, e) assert(done or e.name == "TokenRenewalError" or e.name == "ResponseError", tostring(e)) end
`

func TestRevisionsOfTheLocalPlatform(t *testing.T) {
	for _, d := range differences {
		for revisions, code := range d.holds {
			for revision := 1; revision <= 3; revision++ {
				if !strings.Contains(revisions, fmt.Sprint(revision)) {
					continue
				}
				t.Run(fmt.Sprintf("%s in %d", d.line, revision), func(t *testing.T) {
					first := 1
					if revision == 3 {
						first = 0
					}
					w := newWorldWith(t, ".", nil, client.Settings{Revision: revision})
					w.lua(t, fmt.Sprintf("local page = %d\n%s%s", first, revisionSetting, code))
				})
			}
		}
	}
}
