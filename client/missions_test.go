package client

import (
	"testing"
	"time"
)

func TestMissionsOnTheWire(t *testing.T) {
	mission, survey := `{"mission":{"_id":"m1"}}`, `{"mission":{"_id":"m1"},"flight":{"_id":"f1"}}`
	const constants = `"orderAnalytic":{},"processSettings":{},"addProjectToUsers":true`
	const outline = `"geometry":{"type":"GeometryCollection","geometries":[` + polygonJSON + `]}`
	noon := time.Date(2026, 5, 31, 14, 0, 0, 0, time.FixedZone("", 2*3600))
	testWire(t, []wireCase{
		{call: "missions.create", args: object{"project": "p1", "survey_date": "2026-05-31", "number_of_images": 0}, answer: mission,
			want: one(projectPath + `missions {"project":"p1","survey_date":"2026-05-31"}`)},
		{call: "missions.create", args: object{"project": "p1", "survey_date": noon, "number_of_images": 0, "name": "", "geometry": polygon, "area": 7, "extra": object{"tags": list{"a"}}}, answer: mission,
			want: one(projectPath + `missions {"project":"p1","survey_date":"2026-05-31T12:00:00.000Z","geometry":` + polygonJSON + `,"area":7,"tags":["a"]}`)},
		{call: "missions.create", args: object{"project": "p1", "survey_date": "2026-05-31", "number_of_images": 12, "coordinates": ring}, answer: survey,
			want: one(projectPath + `projects/survey {"project_id":"p1","survey_date":"2026-05-31","number_of_photos":12,"name":"","area":0,` + outline + `,` + constants + `}`)},
		{call: "missions.create", args: object{"project": "p1", "survey_date": "2026-05-31", "number_of_images": 12, "name": "North", "geometry": polygon, "area": 1.5, "extra": object{"addProjectToUsers": false}}, answer: survey,
			want: one(projectPath + `projects/survey {"project_id":"p1","survey_date":"2026-05-31","number_of_photos":12,"name":"North","mission_name":"North","area":1.5,
				` + outline + `,"orderAnalytic":{},"processSettings":{},"addProjectToUsers":false}`)},
		{call: "missions.create_mission", args: object{"project": "p1", "survey_date": "2026-05-31", "name": "North", "extra": object{"name": "South"}}, answer: mission,
			want: one(projectPath + `missions {"project":"p1","survey_date":"2026-05-31","name":"South"}`)},
		{call: "missions.create_survey", args: object{"project": "p1", "survey_date": "2026-05-31", "number_of_images": 3, "coordinates": ring, "extra": object{"number_of_photos": 4, "orderAnalytic": object{"a": 1}}}, answer: survey,
			want: one(projectPath + `projects/survey {"project_id":"p1","survey_date":"2026-05-31","number_of_photos":4,"name":"","area":0,` + outline + `,
				"orderAnalytic":{"a":1},"processSettings":{},"addProjectToUsers":true}`)},
		{call: "missions.create_archive", args: object{"mission": "m1"}, want: one(projectPath + `create-mission-archive {"mission":"m1"}`)},
		{call: "missions.create_archive", args: object{"mission": "m1", "name": "all", "chunk_size": 500.0}, want: one(projectPath + `create-mission-archive {"mission":"m1","name":"all","chunk_size":500}`)},
		{call: "missions.complete_survey_upload", args: object{"flight": "f1"}, want: one(projectPath + `update-flight-status {"flight":"f1","status":"completed"}`)},
		{call: "missions.complete_survey_upload", args: object{"flight": "f1", "status": "failed"}, want: one(projectPath + `update-flight-status {"flight":"f1","status":"error"}`)},
		{call: "missions.compute_bbox", args: object{"mission": "m1"}, want: one(projectPath + `compute-mission-bbox {"mission":"m1"}`)},
		{call: "missions.update_bbox", args: object{"mission": "m1", "real_bbox": polygon}, want: one(projectPath + `update-mission-bbox {"mission":"m1","real_bbox":` + polygonJSON + `}`)},
		{call: "missions.update_geometry", args: object{"mission": "m1", "geometry": polygon}, want: one(projectPath + `update-mission-geometry {"mission":"m1","geometry":` + polygonJSON + `}`)},
		{call: "missions.update_name", args: object{"mission": "m1", "name": "x"}, want: one(projectPath + `update-mission-name {"mission":"m1","name":"x"}`)},
		{call: "missions.update_survey_date", args: object{"mission": "m1", "survey_date": noon}, want: one(projectPath + `update-mission-survey-date {"mission":"m1","survey_date":"2026-05-31T12:00:00.000Z"}`)},
		{call: "missions.delete", args: object{"mission": "m1"}, want: one(projectPath + `missions/delete-survey {"mission":"m1"}`)},
		{call: "missions.describe", args: object{"mission": "m1"}, want: one(projectPath + `describe-mission {"mission":"m1"}`)},
		{call: "missions.describe", args: object{"mission": list{"m1", object{"id": "m2"}}}, answer: "[]", want: one(projectPath + `describe-missions {"missions":["m1","m2"]}`)},
		{call: "missions.search", want: one(projectPath + `search-missions {"filter":{},"limit":100}`)},
	})
	testRefused(t, []refusedCase{
		{"missions.create_survey", object{"project": "p1", "survey_date": "2026-05-31", "number_of_images": 3, "coordinates": ring, "geometry": polygon}, "QueryError", "cannot be combined"},
		{"missions.create", object{"project": "p1", "survey_date": "2026-05-31", "number_of_images": 3, "coordinates": ring, "geometry": polygon}, "QueryError", "cannot be combined"},
		{"missions.create", object{"project": "p1", "survey_date": "31.5.2026", "number_of_images": 0}, "ParameterError", "must be a date"},
		{"missions.create", object{"project": "p1", "survey_date": "2026-02-30", "number_of_images": 0}, "ParameterError", "is not in the calendar"},
		{"missions.create", object{"project": "p1", "survey_date": "2026-05-31", "number_of_images": 1.5}, "ParameterError", "must be an integer"},
		{"missions.delete", object{"mission": "m1", "extra": object{"a": 1}}, "ParameterError", "takes no extra arguments"},
		{"missions.search", object{"missions": list{"m1"}}, "QueryError", "missions"},
		{"missions.search", object{"flights": list{"f1"}}, "QueryError", "flights"},
		{"missions.search", object{"project": "p1"}, "QueryError", "project"},
		{"missions.search", object{"deleted": true}, "QueryError", "deleted"},
	})
}

func TestMissionResults(t *testing.T) {
	c, _ := record(t, map[string]string{
		projectPath + "missions":               `{"mission":{"_id":"m1"}}`,
		projectPath + "projects/survey":        `{"mission":{"_id":"m2"},"flight":{"_id":"f2"}}`,
		projectPath + "create-mission-archive": "{\"request\":\"accepted\"}\n{\"request\":\"refused\"}\n{}",
	})
	in := CreateMissionOrSurvey{Project: "p1", SurveyDate: "2026-05-31", Coordinates: ring}
	if s, err := c.Missions.Create(t.Context(), in); err != nil || s.Flight != nil || s.Mission.ID != "m1" {
		t.Errorf("without images: %+v, %v", s, err)
	}
	in.NumberOfImages = 1
	if s, err := c.Missions.Create(t.Context(), in); err != nil || s.Flight == nil || s.Flight.ID != "f2" || s.Mission.ID != "m2" {
		t.Errorf("with images: %+v, %v", s, err)
	}
	for _, want := range []Accepted{true, false, false} {
		if got, err := c.Missions.CreateArchive(t.Context(), CreateArchive{Ref: Ref{ID: "m1"}}); err != nil || got != want {
			t.Errorf("the archive request is accepted: %t, %v; want %t", got, err, want)
		}
	}
}

func TestFlightsOnTheWire(t *testing.T) {
	testWire(t, []wireCase{
		{call: "flights.describe", args: object{"flight": "f1"}, want: one(projectPath + `describe-flight {"flight":"f1"}`)},
		{call: "flights.describe", args: object{"flight": list{"f1", "f2"}}, answer: "[]", want: one(projectPath + `describe-flights {"flights":["f1","f2"]}`)},
		{call: "flights.describe_uploads_status", args: object{"flights": "f1"}, want: one(projectPath + `describe-flight-uploads-status {"flights":["f1"]}`)},
		{call: "flights.describe_uploads_status", args: object{"missions": list{"m1", "m2"}, "projects": "p1", "limit": 5, "page": 1, "return_total": true},
			want: one(projectPath + `describe-flight-uploads-status {"missions":["m1","m2"],"projects":["p1"],"limit":5,"page":1}`)},
		{call: "flights.search", want: one(projectPath + `search-flights {"filter":{},"limit":100}`)},
		{call: "flights.update_bbox", args: object{"flight": "f1", "real_bbox": polygon}, want: one(projectPath + `update-flight-bbox {"flight":"f1","real_bbox":` + polygonJSON + `}`)},
		{call: "flights.update_geodata", args: object{"flight": "f1"}, want: one(projectPath + `update-flight-data {"flight":"f1","data":{}}`)},
		{call: "flights.update_geodata", args: object{"flight": "f1", "bbox": list{1, 2, 3, 4}, "geometry": polygon},
			want: one(projectPath + `update-flight-data {"flight":"f1","data":{"bbox":[1,2,3,4],"geometry":` + polygonJSON + `}}`)},
		{call: "flights.update_name", args: object{"flight": "f1", "name": "x"}, want: one(projectPath + `update-flight-name {"flight":"f1","name":"x"}`)},
		{call: "flights.update_status", args: object{"flight": "f1", "status": "temporary-blocked"}, want: one(projectPath + `update-flight-status {"flight":"f1","status":"temporary-blocked"}`)},
		{call: "flights.update_survey_date", args: object{"flight": "f1", "survey_date": "2026-05-31T08:30:00+02:00"},
			want: one(projectPath + `update-flight-survey-date {"flight":"f1","survey_date":"2026-05-31T08:30:00+02:00"}`)},
	})
	testRefused(t, []refusedCase{
		{"flights.create", nil, "UnsupportedOperationError", "flights cannot be created on their own"},
		{"flights.search", object{"project": "p1"}, "QueryError", "project"},
		{"flights.search", object{"mission": "m1"}, "QueryError", "mission"},
		{"flights.update_bbox", object{"flight": "f1", "real_bbox": object{"type": "Polygon"}}, "BoundingBoxError", "coordinates"},
		{"flights.update_geodata", object{"flight": "f1", "geometry": object{"type": "Polygon"}}, "QueryError", "coordinates"},
	})
	c, _ := record(t, map[string]string{"": `{"results":[{"flight":"f1","total":3}],"total":1}`})
	page, err := c.Flights.DescribeUploadsStatus(t.Context(), DescribeUploadsStatus{Flights: IDs{"f1"}})
	if err != nil || page.Total != 1 || page.Results[0].ID != "f1" {
		t.Errorf("the uploads' id is not the flight: %+v, %v", page, err)
	}
}
