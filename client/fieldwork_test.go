package client

import (
	"testing"
	"time"

	"transect/client/fault"
	"transect/client/schema"
)

// object and list are the forms in which scripts give tables.
type (
	object = map[string]any
	list   = []any
)

const assets = "POST /dct-service/asset-management/"

func TestFieldworkOnTheWire(t *testing.T) {
	testWire(t, []wireCase{
		{call: "teams.create", args: object{"company": "c1", "name": "North", "leader": "p1"},
			want: one(assets + `create-team {"company":"c1","name":"North","leader":"p1"}`)},
		{call: "teams.create", args: object{"company": object{"_id": "c1"}, "name": "North", "extra": object{"color": "red"}},
			want: one(assets + `create-team {"company":"c1","name":"North","color":"red"}`)},
		{call: "teams.delete", args: object{"team": "t1"}, want: one(assets + `delete-team {"team":"t1"}`)},
		{call: "teams.rename", args: object{"team": "t1", "name": "South"}, want: one(assets + `set-team-name {"team":"t1","name":"South"}`)},
		{call: "teams.set_leader", args: object{"team": "t1", "leader": "p1"}, want: one(assets + `set-team-leader {"team":"t1","leader":"p1"}`)},
		{call: "teams.describe", args: object{"team": "t1"}, want: one(assets + `describe-team {"team":"t1"}`)},
		{call: "teams.describe", args: object{"team": list{"t1"}}, answer: "[]", want: one(assets + `describe-teams {"teams":["t1"]}`)},
		{call: "teams.describe", args: object{"team": schema.Empty{}}},

		{call: "pilots.create", args: object{"user": "u1", "teams": list{"t1", object{"_id": "t2"}}, "sensor_models": schema.Empty{}},
			want: one(assets + `create-pilot {"user":"u1","teams":["t1","t2"],"sensor_models":[]}`)},
		{call: "pilots.update", args: object{"pilot": "p1", "carrier_models": list{"m1"}},
			want: one(assets + `update-pilot {"pilot":"p1","carrier_models":["m1"]}`)},
		{call: "pilots.delete", args: object{"pilot": "p1"}, want: one(assets + `delete-pilot {"pilot":"p1"}`)},
		{call: "pilots.describe", args: object{"pilot": list{"p1", "p2"}}, answer: "[]", want: one(assets + `describe-pilots {"pilots":["p1","p2"]}`)},

		{call: "carriers.create", args: object{"carrier_model": "m1", "team": "t1", "serial_number": "7", "status": "in-maintenance", "comment": ""},
			want: one(assets + `create-carrier {"carrier_model":"m1","team":"t1","serial_number":"7","status":"in-maintenance","comment":""}`)},
		{call: "carriers.delete", args: object{"carrier": "a1"}, want: one(assets + `delete-carrier {"carrier":"a1"}`)},
		{call: "carriers.describe", args: object{"carrier": "a1"}, want: one(assets + `describe-carrier {"carrier":"a1"}`)},
		{call: "carriers.describe", args: object{"carrier": list{"a1"}}, answer: "[]", want: one(assets + `describe-carriers {"carriers":["a1"]}`)},

		{call: "carrier_models.create", args: object{"name": "Wing", "maker": "M", "type": "fixed-wing",
			"unloaded_weight": object{"value": 3, "unit": "kg"}, "flight_time": object{"value": 40.5, "unit": "min"},
			"speed": object{"min": object{"value": 5, "unit": "m/s"}, "max": object{"value": 20, "unit": "m/s"}}, "compatible_sensor_models": list{"s1"}},
			want: one(assets + `create-carrier-model {"name":"Wing","maker":"M","type":"fixed-wind",
				"unloaded_weight":{"value":3,"unit":"kg"},"flight_time":{"value":40.5,"unit":"min"},
				"speed":{"min":{"value":5,"unit":"m/s"},"max":{"value":20,"unit":"m/s"}},"compatible_sensor_models":["s1"]}`)},
		{call: "carrier_models.create", args: object{"name": "Wing", "maker": "M", "type": "fixed-wind"},
			want: one(assets + `create-carrier-model {"name":"Wing","maker":"M","type":"fixed-wind"}`)},
		{call: "carrier_models.delete", args: object{"carrier_model": "m1"}, want: one(assets + `delete-carrier-model {"carrier_model":"m1"}`)},
		{call: "carrier_models.describe", args: object{"carrier_models": "m1"}, want: one(assets + `describe-carrier-model {"carrier_model":"m1"}`)},
		{call: "carrier_models.describe", args: object{"carrier_models": list{"m1"}}, answer: "[]",
			want: one(assets + `describe-carrier-models {"carrier_models":["m1"]}`)},

		{call: "sensors.create", args: object{"sensor_model": "s1", "team": "t1", "serial_number": "7", "firmware": "1.2"},
			want: one(assets + `create-sensor {"sensor_model":"s1","team":"t1","serial_number":"7","firmware":"1.2"}`)},
		{call: "sensors.delete", args: object{"sensor": "e1"}, want: one(assets + `delete-sensor {"sensor":"e1"}`)},
		{call: "sensors.describe", args: object{"sensor": list{"e1"}}, answer: "[]", want: one(assets + `describe-sensors {"sensors":["e1"]}`)},

		{call: "sensor_models.create", args: object{"name": "Cam", "maker": "M", "type": "ms", "weight": object{"value": 90, "unit": "g"},
			"lens_type": "fisheye", "width": 4000, "height": "3000", "focal_length": 0, "principal_point": list{1, 2.5}, "distortion": object{"k1": 0.1},
			"bands": list{object{"name": "red", "central_wavelength": 650, "full_width_half_maximum": 16.5, "gain": 2}}},
			want: one(assets + `create-sensor-model {"name":"Cam","maker":"M","type":"ms","weight":{"value":90,"unit":"g"},
				"lens_type":"fisheye","width":4000,"height":"3000","focal_length":0,"principal_point":[1,2.5],"distortion":{"k1":0.1},
				"bands":[{"name":"red","central_wavelength":650,"full_width_half_maximum":16.5,"gain":2}]}`)},
		{call: "sensors_models.delete", args: object{"sensor_model": "s1"}, want: one(assets + `delete-sensor-model {"sensor_model":"s1"}`)},
		{call: "sensors_models.describe", args: object{"sensor_models": "s1"}, want: one(assets + `describe-sensor-model {"sensor_model":"s1"}`)},
		{call: "sensors_models.describe", args: object{"sensor_models": list{"s1"}}, answer: "[]",
			want: one(assets + `describe-sensor-models {"sensor_models":["s1"]}`)},
	})
}

func TestFieldworkSearches(t *testing.T) {
	routes := map[string]string{"teams": "teams", "pilots": "pilots", "carriers": "carriers", "carrier_models": "carrier-models",
		"sensors": "sensors", "sensors_models": "sensor-models"}
	for manager, things := range routes {
		testWire(t, []wireCase{
			{call: manager + ".search", want: one(assets + "search-" + things + ` {"filter":{}}`)},
			{call: manager + ".search", args: object{"filter": object{"name": object{"$eq": "a"}}, "limit": 0, "page": 0,
				"sort": object{"name": -1}, "fields": object{"include": list{"name"}}, "return_total": true},
				want: one(assets + "search-" + things + ` {"filter":{"name":{"$eq":"a"}},"limit":0,"page":0,"sort":{"name":-1},"fields":{"include":["name"]}}`)},
		})
		testGenerator(t, manager, assets+"search-"+things)
	}
}

// testGenerator goes through two pages by number and by identifier.
func testGenerator(t *testing.T, manager, route string) {
	t.Helper()
	page := `{"results":[{"_id":"r2"},{"_id":"r1"}]}` + "\n" + `{"results":[]}`
	for _, test := range []struct {
		args object
		want []string
	}{
		{nil, []string{route + ` {"filter":{},"limit":50,"page":0,"sort":{"_id":1}}`, route + ` {"filter":{},"limit":50,"page":1,"sort":{"_id":1}}`}},
		{object{"keyset_pagination": true, "limit": 2}, []string{route + ` {"filter":{},"limit":2,"sort":{"_id":-1}}`,
			route + ` {"filter":{"_id":{"$lt":"r1"}},"limit":2,"sort":{"_id":-1}}`}},
	} {
		c, r := record(t, map[string]string{"": page})
		v, err := invoke(t, c, manager+".search_generator", test.args)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for {
			record, ok, err := v.Stream.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			ids = append(ids, string(record))
		}
		v.Stream.Close()
		got := r.all()
		if len(ids) != 2 || len(got) != len(test.want) {
			t.Fatalf("%s: records %v, requests %v", manager, ids, got)
		}
		for i, want := range test.want {
			if !sameRequest(t, got[i].String(), want) {
				t.Errorf("request %d:\n got %s\nwant %s", i+1, got[i], want)
			}
		}
	}
}

func TestCollectionTasksOnTheWire(t *testing.T) {
	const tasks = "POST /dct-service/task/"
	day := time.Date(2026, 5, 31, 10, 0, 0, 0, time.FixedZone("", 7200))
	testWire(t, []wireCase{
		{call: "collection_tasks.create", args: object{"name": "Spring", "company": "c1", "site": "s1", "team": "t1", "pic": "p1", "comment": "",
			"location":             object{"address": object{"city": "Toulouse"}, "task_area": schema.Empty{}},
			"forecast_date_range":  object{"start_date": day, "end_date": "2026-06-01"},
			"scheduled_date_range": object{"start_date": "2026-06-01T08:00:00Z"}, "custom_props": object{"a": 1}, "purpose": "mapping"},
			want: one(tasks + `create-task {"name":"Spring","company":"c1","site":"s1","team":"t1","pic":"p1","comment":"",
				"location":{"adress":{"city":"Toulouse"},"task_area":{}},
				"forecast_date_range":{"start_date":"2026-05-31T08:00:00.000Z","end_date":"2026-06-01"},
				"scheduled_date_range":{"start_date":"2026-06-01T08:00:00Z"},"custom_props":{"a":1},"purpose":"mapping"}`)},
		{call: "collection_tasks.create_flight_log", args: object{"task": "k1", "extra": object{"flights": list{}}},
			want: one(`POST /dct-service/task-management/create-or-update-task-flight-log {"task":"k1","flights":[]}`)},
		{call: "collection_tasks.delete", args: object{"task": "k1"}, want: one(tasks + `delete-task {"task":"k1"}`)},
		{call: "collection_tasks.rename", args: object{"task": "k1", "name": "n"}, want: one(tasks + `set-task-name {"task":"k1","name":"n"}`)},
		{call: "collection_tasks.set_task_status", args: object{"task": "k1", "status": "data-captured"},
			want: one(tasks + `set-task-status {"task":"k1","status":"data-captured"}`)},
		{call: "collection_tasks.update", args: object{"task": "k1", "requirement": object{"gsd": 2}},
			want: one(tasks + `update-task {"task":"k1","requirement":{"gsd":2}}`)},
		{call: "collection_tasks.describe", args: object{"task": "k1", "fields": schema.Empty{}}, want: one(tasks + `describe-task {"task":"k1"}`)},
		{call: "collection_tasks.describe", args: object{"task": list{"k1", "k2"}, "fields": object{"exclude": list{"location"}}}, answer: "[]",
			want: one(tasks + `describe-tasks {"tasks":["k1","k2"],"fields":{"exclude":["location"]}}`)},
		{call: "collection_tasks.search", args: object{"limit": 5}, want: one(tasks + `search-tasks {"filter":{},"limit":5}`)},
		{call: "collection_tasks.set_fieldreport_in_task", args: object{"task": "k1", "field_report": object{
			"capture_date": "2026-05-31", "team": object{"_id": "t1"}, "weather": object{"dew": false, "wind_speed": object{"value": 3, "unit": "m/s"}},
			"altitude": object{"value": 80, "unit": "m"}, "overlap": object{"forward": 80, "lateral": 70}, "custom_props": object{"x": list{1}}}},
			want: one(tasks + `set-fieldreport-in-task {"task":"k1","field_report":{"capture_date":"2026-05-31","team":"t1",
				"weather":{"dew":false,"wind_speed":{"value":3,"unit":"m/s"}},"altitude":{"value":80,"unit":"m"},
				"overlap":{"forward":80,"lateral":70},"custom_props":{"x":[1]}}}`)},
	})
	testGenerator(t, "collection_tasks", tasks+"search-tasks")
}

func TestFieldworkRefusals(t *testing.T) {
	model := func(key string, value any) object {
		return object{"name": "n", "maker": "m", "type": "rgb", key: value}
	}
	testRefused(t, []refusedCase{
		{"teams.create", object{"name": "North"}, "ParameterError", "company is missing"},
		{"teams.rename", object{"team": "t1", "name": 3}, "ParameterError", "name must be a string"},
		{"teams.rename", object{"team": "t1", "nmae": "x"}, "ParameterError", "unknown argument nmae"},
		{"pilots.create", object{"user": "u1", "teams": "t1"}, "ParameterError", "teams must be a list of ids"},
		{"carriers.create", object{"carrier_model": "m1", "team": "t1", "serial_number": "7", "status": "broken"}, "ParameterError", `must be one of ready`},
		{"carriers.search", object{"fields": object{"include": list{"a"}, "exclude": list{"b"}}}, "SearchError", "cannot be combined"},
		{"carrier_models.create", object{"name": "n", "maker": "m", "type": "zeppelin"}, "ParameterError", "multirotor"},
		{"carrier_models.create", object{"name": "n", "maker": "m", "type": "pedestrian", "unloaded_weight": object{"value": 3}}, "ParameterError", "unloaded_weight: unit is missing"},
		{"sensors_models.create", model("lens_type", "round"), "ParameterError", "perspective, fisheye"},
		{"sensors_models.create", model("weight", object{"value": 3, "unit": "lb"}), "ParameterError", `weight: unit must be one of g, kg, got "lb"`},
		{"sensors_models.create", model("width", true), "ParameterError", "width: must be a number of pixels"},
		{"sensors_models.create", model("bands", list{object{}, object{"central_wavelength": "red"}}), "ParameterError", "bands[2]: central_wavelength"},
		{"collection_tasks.set_task_status", object{"task": "k1", "status": "done"}, "ParameterError", `must be one of pending`},
		{"collection_tasks.update", object{"task": "k1", "forecast_date_range": object{"start_date": "2026-06-02", "end_date": "2026-06-01T23:00:00Z"}},
			"ParameterError", "forecast_date_range: end_date 2026-06-01T23:00:00Z is before start_date 2026-06-02"},
		{"collection_tasks.update", object{"task": "k1", "scheduled_date_range": object{"start_date": "soon"}}, "ParameterError", `must be a date`},
		{"collection_tasks.update", object{"task": "k1", "scheduled_date_range": object{"strat_date": "2026-06-01"}}, "ParameterError", "unknown key strat_date"},
		{"collection_tasks.describe", object{"task": "k1", "fields": object{"only": list{"a"}}}, "ParameterError", "unknown key only"},
		{"collection_tasks.set_fieldreport_in_task", object{"task": "k1", "field_report": object{"weather": object{"dew": "much"}}},
			"ParameterError", "field_report: weather: dew must be true or false"},
		{"collection_tasks.create_flight_log", object{}, "ParameterError", "task is missing"},
	})
}

func TestDatesOfEveryFormAreCompared(t *testing.T) {
	for _, text := range []string{"2026-05-31", "2026-05-31T08:30", "2026-05-31T08:30:00", "2026-05-31T08:30:00.5", "2026-05-31T08:30:00Z",
		"2026-05-31T08:30:00.123+02:00", "2026-05-31T08:30:00+0200", "2026-05-31T08:30Z", "2026-05-31T08:30+02:00", "2026-05-31T08:30-0200"} {
		if Date(text).Time().IsZero() {
			t.Errorf("%s is not read", text)
		}
	}
	if err := (DateRange{StartDate: "2026-06-01T00:30:00+02:00", EndDate: "2026-05-31T23:00:00Z"}).Validate(); err != nil {
		t.Errorf("zones are not heeded: %v", err)
	}
}

func TestChunksOfTeamsTellWhatIsDone(t *testing.T) {
	ids := make(list, 1500)
	for i := range ids {
		ids[i] = "t"
	}
	c, r := record(t, map[string]string{"": "[{\"_id\":\"t\"}]\n404 {\"code\":\"NotFound\",\"message\":\"no such team\"}"})
	_, err := invoke(t, c, "teams.describe", object{"team": ids})
	if err == nil || len(r.all()) != 2 {
		t.Fatalf("error %v after %d requests", err, len(r.all()))
	}
	if f := failure(t, err); len(f.Done) != 1000 || len(f.Pending) != 500 {
		t.Errorf("%d done and %d pending", len(f.Done), len(f.Pending))
	}
}

func TestSearchesKeepTheTotal(t *testing.T) {
	c, _ := record(t, map[string]string{"": `{"results":[{"_id":"t1","name":"North","leader":"p1"}],"total":12}`})
	page, err := c.Teams.Search.Page(t.Context(), Query{ReturnTotal: true})
	if err != nil || page.Total != 12 || len(page.Results) != 1 || page.Results[0].Leader != "p1" {
		t.Errorf("%+v, %v", page, err)
	}
}

func one(request string) []string { return []string{request} }

func failure(t *testing.T, err error) *fault.Info {
	t.Helper()
	f := fault.Find(err)
	if f == nil {
		t.Fatalf("%v is no fault", err)
	}
	return f.Facts()
}
