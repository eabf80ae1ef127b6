package client

import (
	"testing"

	"transect/client/fault"
	"transect/client/schema"
)

const projectPath = "POST /project-manager/"

var (
	ring    = list{list{1, 2}, list{3, 2}, list{3, 4}, list{1, 2}}
	polygon = object{"type": "Polygon", "coordinates": list{ring}}
)

const polygonJSON = `{"type":"Polygon","coordinates":[[[1,2],[3,2],[3,4],[1,2]]]}`

func TestProjectsOnTheWire(t *testing.T) {
	made := `{"project":{"_id":"p1","companyId":"c1"}}`
	testWire(t, []wireCase{
		{call: "projects.create", args: object{"name": "Quarry", "company": "c1"}, answer: made,
			want: one(projectPath + `projects {"name":"Quarry","company":"c1","addProjectToUsers":true}`)},
		{call: "projects.create", answer: made,
			args: object{"name": "Quarry", "company": object{"_id": "c1"}, "geometry": polygon, "extra": object{"addProjectToUsers": false, "name": "other", "industry": nil}},
			want: one(projectPath + `projects {"name":"Quarry","company":"c1","geometry":` + polygonJSON + `,"addProjectToUsers":false,"industry":null}`)},
		{call: "projects.delete", args: object{"project": "p1"}, want: one("DELETE /project-manager/projects/p1")},
		{call: "projects.describe", args: object{"project": list{"p1"}, "extra": object{"fields": object{"include": list{"name"}}}}, answer: "[]",
			want: one(projectPath + `describe-projects {"projects":["p1"],"fields":{"include":["name"]}}`)},
		{call: "projects.describe", args: object{"project": schema.Empty{}}},
		{call: "projects.compute_bbox", args: object{"project": "p1", "extra": object{"project": "p2"}}, want: one(projectPath + `compute-project-bbox {"project":"p1"}`)},
		{call: "projects.update_bbox", args: object{"project": "p1", "real_bbox": polygon}, want: one(projectPath + `update-project-bbox {"project":"p1","real_bbox":` + polygonJSON + `}`)},
		{call: "projects.update_geometry", args: object{"project": "p1", "geometry": polygon}, want: one(projectPath + `update-project-geometry {"project":"p1","geometry":` + polygonJSON + `}`)},
		{call: "projects.update_geometry", args: object{"project": "p1", "geometry": object{"type": "GeometryCollection", "geometries": list{polygon}}},
			want: one(projectPath + `update-project-geometry {"project":"p1","geometry":{"type":"GeometryCollection","geometries":[` + polygonJSON + `]}}`)},
		{call: "projects.update_local_coordinates_dataset", args: object{"project": "p1", "dataset": "d1"},
			want: one(projectPath + `update-project-local-coords {"project":"p1","local_coords_dataset":"d1"}`)},
		{call: "projects.update_location", args: object{"project": "p1"}, want: one(projectPath + `update-project-location {"project":"p1"}`)},
		{call: "projects.update_location", args: object{"project": "p1", "location": list{1.5, 43}, "fixed": false},
			want: one(projectPath + `update-project-location {"project":"p1","location":[1.5,43],"fixed":false}`)},
		{call: "projects.update_name", args: object{"project": "p1", "name": ""}, want: one(projectPath + `update-project-name {"project":"p1","name":""}`)},
		{call: "projects.update_srs", args: object{"project": "p1", "vertical_srs_wkt": "egm96"},
			want: one(projectPath + `update-project-srs {"project":"p1","vertical_srs_wkt":"egm96"}`)},
		{call: "projects.update_srs", args: object{"project": "p1", "horizontal_srs_wkt": "PROJCS[…]"},
			want: one(projectPath + `update-project-srs {"project":"p1","horizontal_srs_wkt":"PROJCS[…]"}`)},
		{call: "projects.update_status", args: object{"project": "p1", "status": "maintenance"}, answer: made,
			want: one(projectPath + `projects/update/p1 {"project":"p1","status":"maintenance"}`)},
		{call: "projects.update_units", args: object{"project": "p1", "units": object{"distances": "meters"}},
			want: one(projectPath + `update-project-units {"project":"p1","units":{"distances":"meters"}}`)},
		{call: "projects.search", want: one(projectPath + `search-projects {"filter":{},"limit":100}`)},
		{call: "projects.search", args: object{"filter": object{"name": object{"$eq": "x"}}, "limit": 5, "page": 2, "sort": object{"name": -1}, "fields": object{"exclude": list{"geometry"}}, "return_total": true},
			want: one(projectPath + `search-projects {"filter":{"name":{"$eq":"x"}},"limit":5,"page":2,"sort":{"name":-1},"fields":{"exclude":["geometry"]}}`)},
		{call: "projects.search", args: object{"sort": list{object{"name": 1}, object{"created": -1}}},
			want: one(projectPath + `search-projects {"filter":{},"limit":100,"sort":{"name":1,"created":-1}}`)},
	})
}

func TestProjectsRefused(t *testing.T) {
	testRefused(t, []refusedCase{
		{"projects.create", object{"name": "Quarry"}, "ParameterError", "company is missing"},
		{"projects.create", object{"name": "Quarry", "company": ""}, "ParameterError", "must be an id, got an empty string"},
		{"projects.delete", object{"project": list{"p1"}}, "ParameterError", "must be an id, got a list"},
		{"projects.delete", object{"project": ".."}, "ParameterError", "cannot be part of an address"},
		{"projects.describe", object{"project": list{"p1", 2}}, "ParameterError", ""},
		{"projects.update_bbox", object{"project": "p1", "real_bbox": object{"type": "Polygon"}}, "BoundingBoxError", "real_bbox"},
		{"projects.update_geometry", object{"project": "p1", "geometry": object{"coordinates": ring}}, "QueryError", "geometry"},
		{"projects.update_geometry", object{"project": "p1", "geometry": schema.Empty{}}, "QueryError", "geometry"},
		{"projects.update_status", object{"project": "p1", "status": "open"}, "RuntimeError", "pending, available, failed, maintenance"},
		{"projects.search", object{"name": "x"}, "QueryError", "name is no longer an argument of searches"},
		{"projects.search", object{"deleted": true}, "QueryError", "deleted"},
		{"projects.search_generator", object{"name": "x"}, "QueryError", "name"},
		{"projects.search", object{"fields": object{"include": list{"a"}, "exclude": list{"b"}}}, "SearchError", "cannot be combined"},
		{"projects.search_generator", object{"fields": object{"include": list{"a"}, "exclude": list{"b"}}}, "SearchError", "cannot be combined"},
		{"projects.search", object{"fields": object{"only": list{"a"}}}, "SearchError", "unknown key only"},
		{"projects.search", object{"sort": object{"name": 2}}, "SearchError", "1 (ascending) or -1 (descending)"},
		{"projects.search", object{"filter": object{"name": object{"$is": "x"}}}, "SearchError", "no operator $is"},
	})
}

// The company is called companyId in what creating and updating answer, and
// left alone in descriptions.
func TestCompanyOfProjects(t *testing.T) {
	for _, test := range []struct {
		call         string
		args         object
		answer, want string
	}{
		{"projects.create", object{"name": "x", "company": "c1"}, `{"project":{"_id":"p1","companyId":"c1"},"more":1}`, `{"_id":"p1","company":"c1"}`},
		{"projects.update_status", object{"project": "p1", "status": "failed"}, `{"project":{"_id":"p1","companyId":"c1"}}`, `{"_id":"p1","company":"c1"}`},
		{"projects.update_name", object{"project": "p1", "name": "x"}, `{"_id":"p1","companyId":"c1"}`, `{"_id":"p1","company":"c1"}`},
		{"projects.describe", object{"project": "p1"}, `{"_id":"p1","companyId":"c1"}`, `{"_id":"p1","companyId":"c1"}`},
	} {
		c, _ := record(t, map[string]string{"": test.answer})
		if v, err := invoke(t, c, test.call, test.args); err != nil || string(v.JSON) != test.want {
			t.Errorf("%s gave %s, %v; want %s", test.call, v.JSON, err, test.want)
		}
	}
}

func TestAnswersWithoutWhatWasPromised(t *testing.T) {
	for _, test := range []struct {
		call         string
		args         object
		answer, name string
	}{
		{"projects.create", object{"name": "x", "company": "c1"}, `{}`, "QueryError"},
		{"projects.update_status", object{"project": "p1", "status": "failed"}, `{"project":{"_id":"p2"}}`, "ResponseError"},
		{"projects.update_status", object{"project": "p1", "status": "failed"}, `{"id":"p1"}`, "ResponseError"},
		{"projects.search", nil, `{"total":0}`, "QueryError"},
		{"missions.create_mission", object{"project": "p1", "survey_date": "2026-05-31"}, `{"_id":"m1"}`, "QueryError"},
		{"missions.create_survey", object{"project": "p1", "survey_date": "2026-05-31", "number_of_images": 1, "coordinates": ring}, `{"mission":{"_id":"m1"}}`, "QueryError"},
		{"missions.create_survey", object{"project": "p1", "survey_date": "2026-05-31", "number_of_images": 1, "coordinates": ring}, `{"flight":{"_id":"f1"}}`, "QueryError"},
		{"projects.describe", object{"project": "p1"}, `401 {}`, "ResponseError"},
	} {
		c, _ := record(t, map[string]string{"": test.answer})
		_, err := invoke(t, c, test.call, test.args)
		if f := fault.Find(err); f == nil || f.Name() != test.name || f.Facts().Operation != test.call {
			t.Errorf("%s on %s: %v, want %s", test.call, test.answer, err, test.name)
		}
	}
}
