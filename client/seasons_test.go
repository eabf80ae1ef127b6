package client

import (
	"testing"

	"transect/client/schema"
)

const (
	seasonAssets = "POST /season-planner/asset-management/"
	trialRoutes  = "POST /season-planner/trial-management/"
)

var square = list{list{list{1.0, 45.0, 0.0}, list{1.1, 45.0, 0.0}, list{1.1, 45.1, 0.0}, list{1.0, 45.0, 0.0}}}

const squareJSON = `[[[1,45,0],[1.1,45,0],[1.1,45.1,0],[1,45,0]]]`

func TestSeasonAssetsOnTheWire(t *testing.T) {
	for _, test := range []struct{ manager, one, many, route, routes string }{
		{"crops", "crop", "crops", "crop", "crops"},
		{"growth_stages", "growth_stage", "growth_stages", "growth-stage", "growth-stages"},
		{"assessment_parameters_variables", "assessment_parameter_variable", "assessment_parameter_variables",
			"assessment-parameter-variable", "assessment-parameter-variables"},
	} {
		testWire(t, []wireCase{
			{call: test.manager + ".create", args: object{"company": "c1", "name": "n"},
				want: one(seasonAssets + "create-" + test.route + ` {"company":"c1","name":"n"}`)},
			{call: test.manager + ".delete", args: object{test.one: "x1"},
				want: one(seasonAssets + "delete-" + test.route + ` {"` + test.one + `":"x1"}`)},
			{call: test.manager + ".describe", args: object{test.one: "x1"},
				want: one(seasonAssets + "describe-" + test.route + ` {"` + test.one + `":"x1"}`)},
			{call: test.manager + ".describe", args: object{test.one: list{"x1", "x2"}}, answer: "[]",
				want: one(seasonAssets + "describe-" + test.routes + ` {"` + test.many + `":["x1","x2"]}`)},
			{call: test.manager + ".search", want: one(seasonAssets + "search-" + test.routes + ` {"filter":{}}`)},
			{call: test.manager + ".update", args: object{test.one: "x1", "name": "m"},
				want: one(seasonAssets + "update-" + test.route + ` {"` + test.one + `":"x1","name":"m"}`)},
			{call: test.manager + ".update", args: object{test.one: "x1", "name": "m", "company": "c2"},
				want: one(seasonAssets + "update-" + test.route + ` {"` + test.one + `":"x1","name":"m","company":"c2"}`)},
		})
		testGenerator(t, test.manager, seasonAssets+"search-"+test.routes)
	}
	testWire(t, []wireCase{{call: "assessment_parameters_variables.update",
		args: object{"assessment_parameter_variable": "v1", "name": "n", "custom_ids": "ext-1"},
		want: one(seasonAssets + `update-assessment-parameter-variable {"assessment_parameter_variable":"v1","name":"n","custom_ids":"ext-1"}`)}})
}

func TestFieldsOnTheWire(t *testing.T) {
	chosen := object{"include": list{"name"}}
	testWire(t, []wireCase{
		{call: "fields.create", args: object{"company": "c1", "project": "p1", "name": "n", "description": "d"},
			want: one(seasonAssets + `create-field {"company":"c1","project":"p1","name":"n","description":"d"}`)},
		{call: "fields.update", args: object{"field": "f1", "project": "p1", "name": "n"},
			want: one(seasonAssets + `update-field {"field":"f1","project":"p1","name":"n"}`)},
		{call: "fields.delete", args: object{"field": "f1"}, want: one(seasonAssets + `delete-field {"field":"f1"}`)},
		{call: "fields.describe", args: object{"field": "f1", "fields": chosen},
			want: one(seasonAssets + `describe-field {"field":"f1","fields":{"include":["name"]}}`)},
		{call: "fields.describe", args: object{"field": list{"f1", "f2"}}, answer: "[]",
			want: one(seasonAssets + `describe-fields {"fields":["f1","f2"]}`)},
		{call: "fields.describe", args: object{"field": list{"f1", "f2"}, "fields": schema.Empty{}}, answer: "[]",
			want: one(seasonAssets + `describe-fields {"fields":["f1","f2"]}`)},
		{call: "fields.describe", args: object{"field": list{"f1", "f2"}, "fields": chosen}, want: []string{
			seasonAssets + `describe-field {"field":"f1","fields":{"include":["name"]}}`,
			seasonAssets + `describe-field {"field":"f2","fields":{"include":["name"]}}`}},
		{call: "fields.describe", args: object{"field": list{"f1"}, "extra": object{"fields": chosen}},
			want: one(seasonAssets + `describe-field {"field":"f1","fields":{"include":["name"]}}`)},
		{call: "fields.describe", args: object{"field": schema.Empty{}, "fields": chosen}},
		{call: "fields.search", args: object{"fields": chosen}, want: one(seasonAssets + `search-fields {"filter":{},"fields":{"include":["name"]}}`)},
	})
	testGenerator(t, "fields", seasonAssets+"search-fields")

	c, _ := record(t, map[string]string{"": `{"_id":"f1","name":"a"}` + "\n" + `{"_id":"f2","name":"b"}`})
	got, err := c.Fields.Describe(t.Context(), FieldIDs{Field: IDs{"f1", "f2"}, Fields: Object(chosen)})
	if err != nil || len(got) != 2 || got[0].Name != "a" || got[1].ID != "f2" {
		t.Errorf("chosen properties of a list: %+v, %v", got, err)
	}
}

func TestTrialsOnTheWire(t *testing.T) {
	place := object{"type": "Feature", "bbox": list{1, 45, 1.1, 45.1}, "geometry": object{"type": "Polygon", "coordinates": square}}
	metres := object{"type": "Feature", "crs": object{"type": "name"},
		"geometry": object{"type": "Polygon", "coordinates": list{list{list{5e5, 4e6, 0}, list{6e5, 4e6, 0}, list{6e5, 5e6, 0}, list{5e5, 4e6, 0}}}}}
	testWire(t, []wireCase{
		{call: "trials.create", args: object{"field": "f1", "name": "n", "crop": "w", "season": "2026-03-01", "location": place, "links": list{"t9"}, "custom_id": "7",
			"missions": list{object{"name": "m", "start_date": "2026-03-01", "estimation_methods": list{object{"_id": "e1"}}, "growth_stages_range": object{"from": "g1", "to": object{"_id": "g2"}}}}},
			want: one(trialRoutes + `create-trial {"field":"f1","name":"n","crop":"w","season":"2026-03-01","links":["t9"],"custom_id":"7",
				"location":{"type":"Feature","bbox":[1,45,1.1,45.1],"geometry":{"type":"Polygon","coordinates":` + squareJSON + `}},
				"missions":[{"name":"m","start_date":"2026-03-01","estimation_methods":["e1"],"growth_stages_range":{"from":"g1","to":"g2"}}]}`)},
		{call: "trials.create", args: object{"field": "f1", "name": "n", "crop": "w", "location": metres},
			want: one(trialRoutes + `create-trial {"field":"f1","name":"n","crop":"w","location":{"type":"Feature","crs":{"type":"name"},
				"geometry":{"type":"Polygon","coordinates":[[[5e5,4e6,0],[6e5,4e6,0],[6e5,5e6,0],[5e5,4e6,0]]]}}}`)},
		{call: "trials.update", args: object{"trial": "t1", "field": "f1", "crop": "w", "comment": "c"},
			want: one(trialRoutes + `update-trial {"trial":"t1","field":"f1","crop":"w","comment":"c"}`)},
		{call: "trials.delete", args: object{"trial": "t1"}, want: one(trialRoutes + `delete-trial {"trial":"t1"}`)},
		{call: "trials.describe", args: object{"trial": list{"t1"}}, answer: "[]", want: one(trialRoutes + `describe-trials {"trials":["t1"]}`)},
		{call: "trials.search", args: object{"filter": object{"season": object{"$eq": "2026-03-01"}}},
			want: one(trialRoutes + `search-trials {"filter":{"season":{"$eq":"2026-03-01"}}}`)},
		{call: "trials.set_dtm_dataset_on_trial", args: object{"trial": "t1", "dataset": "d1"},
			want: one(trialRoutes + `set-dtm-dataset-on-trial {"trial":"t1","dataset":"d1"}`)},
		{call: "trials.set_plots_on_trial", args: object{"trial": "t1", "plots": object{"location": object{"type": "FeatureCollection"}, "rows": 3}},
			want: one(trialRoutes + `set-plots-on-trial {"trial":"t1","plots":{"location":{"type":"FeatureCollection"},"rows":3}}`)},

		{call: "season_planner_missions.add_mission_to_trial", args: object{"trial": "t1", "name": "m", "start_date": "2026-03-01", "end_date": "2026-03-02",
			"estimation_methods": schema.Empty{}, "growth_stages_range": object{"from": "g1"}},
			want: one(trialRoutes + `add-mission-to-trial {"trial":"t1","name":"m","start_date":"2026-03-01","end_date":"2026-03-02","estimation_methods":[],"growth_stages_range":{"from":"g1"}}`)},
		{call: "season_planner_missions.update_mission", args: object{"mission": "m1", "name": "m", "description": "d"},
			want: one(trialRoutes + `update-mission {"mission":"m1","name":"m","description":"d"}`)},
		{call: "season_planner_missions.delete", args: object{"mission": "m1"}, want: one(trialRoutes + `delete-mission {"mission":"m1"}`)},
		{call: "season_planner_missions.describe", args: object{"mission": "m1"}, want: one(trialRoutes + `describe-mission {"mission":"m1"}`)},
		{call: "season_planner_missions.describe", args: object{"mission": list{"m1"}}, answer: "[]", want: one(trialRoutes + `describe-missions {"missions":["m1"]}`)},
		{call: "season_planner_missions.search", want: one(trialRoutes + `search-missions {"filter":{}}`)},
	})
	testGenerator(t, "trials", trialRoutes+"search-trials")
	testGenerator(t, "season_planner_missions", trialRoutes+"search-missions")
}

func TestEstimationsOnTheWire(t *testing.T) {
	needs := object{"sensor_type": "ms", "gsd": object{"value": 2, "unit": "cm"}, "ppk_rtk": object{"use": true}, "bands": list{object{"name": "nir"}}, "gcp": object{"type": "any"}}
	const needsJSON = `{"sensor_type":"ms","gsd":{"value":2,"unit":"cm"},"ppk_rtk":{"use":true},"bands":[{"name":"nir"}],"gcp":{"type":"any"}}`
	testWire(t, []wireCase{
		{call: "estimation_methods.create", args: object{"name": "n", "companies": "c1", "crops": list{"w"}, "input_data_requirements": needs, "status": "validated",
			"analytic": object{"name": "a", "version_range": "1.x", "parameters": object{"p": 1}}, "growth_stages": list{"g1"}},
			want: one(seasonAssets + `create-estimation-method {"name":"n","companies":["c1"],"crops":["w"],"input_data_requirements":` + needsJSON + `,
				"status":"validated","analytic":{"name":"a","version_range":"1.x","parameters":{"p":1}},"growth_stages":["g1"]}`)},
		{call: "estimation_methods.update", args: object{"estimation_method": "e1", "crops": list{"w"}, "companies": list{"c1", "c2"}},
			want: one(seasonAssets + `update-estimation-method {"estimation_method":"e1","crops":["w"],"companies":["c1","c2"]}`)},
		{call: "estimation_methods.delete", args: object{"estimation_method": "e1"}, want: one(seasonAssets + `delete-estimation-method {"estimation_method":"e1"}`)},
		{call: "estimation_methods.describe", args: object{"estimation_method": list{"e1"}}, answer: "[]",
			want: one(seasonAssets + `describe-estimation-methods {"estimation_methods":["e1"]}`)},
		{call: "estimation_methods.search", want: one(seasonAssets + `search-estimation-methods {"filter":{}}`)},
		{call: "estimation_methods.list_deliverables_definitions", args: object{"sensor_type": "rgb"}, answer: "[]",
			want: one(seasonAssets + `list-deliverable-definitions {"sensor_type":"rgb","task_purpose":"mapping"}`)},
		{call: "assessment_parameters_estimations.search", args: object{"filter": object{"status": object{"$in": list{"pending"}}}},
			want: one(`POST /season-planner/search-assessment-parameter-estimations {"filter":{"status":{"$in":["pending"]}}}`)},
		{call: "assessment_parameters_estimations.export_report_entries", args: object{"filter": object{"trial": object{"$eq": "t1"}}},
			want: one(`POST /season-planner/export-report-entries {"filter":{"trial":{"$eq":"t1"}}}`)},
		{call: "assessment_parameters_estimations.start_analysis_on_ape", args: object{"assessment_parameter_estimation": "x1"},
			want: one(`POST /season-planner/start-analysis-on-ape {"assessment_parameter_estimation":"x1"}`)},
		{call: "assessment_parameters_estimations.start_reporting_on_ape", args: object{"assessment_parameter_estimation": "x1"},
			want: one(`POST /season-planner/start-reporting-on-ape {"assessment_parameter_estimation":"x1"}`)},
	})
	testGenerator(t, "estimation_methods", seasonAssets+"search-estimation-methods")
	testGenerator(t, "assessment_parameters_estimations", "POST /season-planner/search-assessment-parameter-estimations")
}

func TestListingsOfPlainObjects(t *testing.T) {
	c, _ := record(t, map[string]string{"/season-planner/export-report-entries": `{"results":[{"plot":1},{"plot":2}]}` + "\n" + `{"message":"later"}`,
		"/season-planner/asset-management/list-deliverable-definitions": `[{"name":"ortho"}]`})
	entries, err := c.AssessmentParametersEstimations.ExportReportEntries(t.Context(), ReportFilter{Filter: Filter{"trial": object{"$eq": "t1"}}})
	if err != nil || len(entries) != 2 || entries[1]["plot"] != 2.0 {
		t.Errorf("entries %v, %v", entries, err)
	}
	if _, err := c.AssessmentParametersEstimations.ExportReportEntries(t.Context(), ReportFilter{Filter: Filter{}}); err == nil {
		t.Error("an answer without results is accepted")
	}
	definitions, err := c.EstimationMethods.ListDeliverablesDefinitions(t.Context(), DeliverablesQuery{SensorType: "ms"})
	if err != nil || len(definitions) != 1 || definitions[0]["name"] != "ortho" {
		t.Errorf("definitions %v, %v", definitions, err)
	}
}

func TestSeasonRefusals(t *testing.T) {
	trial := func(key string, value any) object {
		return object{"field": "f1", "name": "n", "crop": "w", key: value}
	}
	place := func(kind string, coordinates any) object {
		return object{"type": "Feature", "geometry": object{"type": kind, "coordinates": coordinates}}
	}
	testRefused(t, []refusedCase{
		{"crops.create", object{"company": "c1"}, "ParameterError", "name is missing"},
		{"crops.update", object{"crop": "x1"}, "ParameterError", "name is missing"},
		{"fields.describe", object{"field": list{"f1"}, "fields": object{"include": list{"a"}, "exclude": list{"b"}}}, "ParameterError", "cannot be combined"},
		{"trials.create", trial("season", "spring"), "ParameterError", `season must be a date`},
		{"trials.create", trial("location", place("Point", list{1, 45})), "QueryError", "location: geometry is a Point, must be a Polygon"},
		{"trials.create", trial("location", place("Polygon", list{list{list{1, 45}, list{1, 46}, list{2, 46}, list{2, 45}}})), "QueryError", "not closed"},
		{"trials.create", trial("location", place("Polygon", list{list{list{1, 95}, list{1, 46}, list{2, 46}, list{1, 95}}})), "QueryError", "coordinates[1][1][2] is 95"},
		{"trials.create", trial("location", object{"type": "Polygon", "coordinates": square}), "ParameterError", `location: type must be one of Feature`},
		{"trials.create", trial("missions", list{object{"start_date": "2026-03-01"}}), "ParameterError", "missions[1]: name is missing"},
		{"trials.create", trial("missions", list{object{"name": "m", "start_date": "2026-03-02", "end_date": "2026-03-01"}}), "ParameterError", "missions[1]: end_date 2026-03-01 is before"},
		{"trials.set_plots_on_trial", object{"trial": "t1", "plots": object{"rows": 2}}, "ParameterError", "plots: location is missing"},
		{"season_planner_missions.update_mission", object{"mission": "m1", "name": "m", "growth_stages_range": object{"from": 3}}, "ParameterError", "growth_stages_range: from"},
		{"season_planner_missions.add_mission_to_trial", object{"trial": "t1", "name": "m", "start_date": "2026-03-02", "end_date": "2026-03-01"}, "ParameterError", "is before start_date"},
		{"estimation_methods.create", object{"name": "n", "companies": "c1", "crops": list{"w"}, "input_data_requirements": object{"sensor_type": "xray"}},
			"ParameterError", `input_data_requirements: sensor_type must be one of hs`},
		{"estimation_methods.update", object{"estimation_method": "e1", "crops": list{"w"}, "analytic": object{"version_range": "one or so"}}, "ParameterError", "analytic: version_range"},
		{"estimation_methods.update", object{"estimation_method": "e1", "crops": list{"w"}, "status": "ready"}, "ParameterError", "development, validated"},
		{"estimation_methods.list_deliverables_definitions", object{"sensor_type": "thermal"}, "ParameterError", "hs, lidar, ms, rgb"},
		{"assessment_parameters_estimations.export_report_entries", object{}, "ParameterError", "filter is missing"},
		{"assessment_parameters_estimations.export_report_entries", object{"filter": object{"trial": object{"$is": "t1"}}}, "SearchError", "no operator $is"},
	})
}
