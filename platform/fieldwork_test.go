package platform

import (
	"context"
	"testing"

	"transect/platform/internal/store"
)

// insert puts documents in place that no route makes.
func (s *site) insert(collection string, docs ...store.Doc) {
	s.t.Helper()
	err := s.p.store.Write(context.Background(), func(tx *store.Tx) error {
		for _, doc := range docs {
			if doc["_id"] == nil {
				doc["_id"] = s.p.ids.Next(s.p.options.Now())
			}
			if err := tx.Insert(collection, doc); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

func TestTeamsAndPilots(t *testing.T) {
	s := start(t, Options{})
	g := s.ground()
	south := s.make(flyAt+"create-team", store.Doc{"company": s.company, "name": "South", "leader": g.pilot})
	if doc := s.ok(flyAt+"set-team-name", store.Doc{"team": south, "name": "East"}); doc["name"] != "East" || doc["leader"] != g.pilot || doc["modification_date"] == nil {
		t.Errorf("renamed: %v", doc)
	}
	if doc := s.ok(flyAt+"set-team-leader", store.Doc{"team": g.team, "leader": g.pilot}); doc["leader"] != g.pilot || doc["name"] != "North" {
		t.Errorf("led: %v", doc)
	}
	s.refused(409, "exists already", flyAt+"set-team-name", store.Doc{"team": south, "name": "North"})
	s.ok(flyAt+"set-team-name", store.Doc{"team": south, "name": "East"}) // its own name is free for it
	s.refused(400, "name", flyAt+"set-team-name", store.Doc{"team": south})
	if doc := s.ok(flyAt+"set-team-name", store.Doc{"team": south, "name": "East", "company": s.otherCompany()}); doc["company"] != s.company {
		t.Errorf("an argument of no concern to renaming was set: %v", doc)
	}
	s.refused(404, nothing, flyAt+"set-team-name", store.Doc{"team": nothing, "name": "x"})
	s.refused(404, "leader: pilot "+nothing, flyAt+"set-team-leader", store.Doc{"team": south, "leader": nothing})
	s.refused(404, "leader: pilot "+south, flyAt+"set-team-leader", store.Doc{"team": south, "leader": south})

	pilot := store.Doc{"pilot": g.pilot}
	if doc := s.ok(flyAt+"describe-pilot", pilot); len(doc["companies"].([]any)) != 1 || len(doc["sensor_models"].([]any)) != 0 {
		t.Errorf("pilot: %v", doc)
	}
	user := s.ok(flyAt+"describe-pilot", pilot)["user"]
	s.refused(409, "a pilot with user", flyAt+"create-pilot", store.Doc{"user": user, "teams": []any{south}})
	s.refused(404, "user: ", flyAt+"create-pilot", store.Doc{"user": nothing, "teams": []any{}})
	s.refused(404, "teams: team "+nothing, flyAt+"update-pilot", with(pilot, "teams", []any{south, nothing}))
	s.refused(400, "is listed twice", flyAt+"update-pilot", with(pilot, "teams", []any{south, south}))
	s.refused(400, "must be a list", flyAt+"update-pilot", with(pilot, "teams", south))
	s.refused(404, "carrier_models: ", flyAt+"update-pilot", with(pilot, "carrier_models", []any{g.sensorModel}))
	doc := s.ok(flyAt+"update-pilot", store.Doc{"pilot": g.pilot, "teams": []any{g.team, south},
		"carrier_models": []any{g.carrierModel}, "sensor_models": []any{g.sensorModel}})
	if len(doc["teams"].([]any)) != 2 || len(doc["carrier_models"].([]any)) != 1 {
		t.Errorf("updated: %v", doc)
	}
	if found := s.found(flyAt+"search-pilots", store.Doc{"filter": store.Doc{"teams": store.Doc{"$eq": south}}}, "_id"); found != g.pilot {
		t.Errorf("pilots of a team: %q", found)
	}

	// Who refers to what is deleted lets go of it.
	s.ok(flyAt+"delete-team", store.Doc{"team": south})
	s.ok(flyAt+"delete-carrier-model", store.Doc{"carrier_model": g.carrierModel})
	s.ok(flyAt+"delete-sensor-model", store.Doc{"sensor_model": g.sensorModel})
	doc = s.ok(flyAt+"describe-pilot", pilot)
	if len(doc["teams"].([]any)) != 1 || len(doc["carrier_models"].([]any)) != 0 || len(doc["sensor_models"].([]any)) != 0 {
		t.Errorf("after deletions: %v", doc)
	}
	s.ok(flyAt+"delete-pilot", pilot)
	if doc := s.ok(flyAt+"describe-team", store.Doc{"team": g.team}); doc["leader"] != nil {
		t.Errorf("led by a pilot who is gone: %v", doc)
	}
	s.ok("dxauth/describe-user", store.Doc{"user": user})
}

// otherCompany is one that the platform's user has nothing to do with.
func (s *site) otherCompany() string {
	s.t.Helper()
	doc := store.Doc{"name": "Other company"}
	s.insert(companies.plural, doc)
	return store.Text(doc, "_id")
}

func TestWhatOtherCompaniesHaveDoesNotFit(t *testing.T) {
	s := start(t, Options{})
	g := s.ground()
	other := s.otherCompany()
	team := s.make(flyAt+"create-team", store.Doc{"company": other, "name": "North"})
	crop := s.make(assetsAt+"create-crop", store.Doc{"company": other, "name": "first"})
	model := s.make(flyAt+"create-sensor-model", store.Doc{"name": "Cam", "maker": "M", "type": "ms", "company": other})
	s.refused(400, "leader: pilot", flyAt+"set-team-leader", store.Doc{"team": team, "leader": g.pilot})
	s.refused(400, "team: team", tasksAt+"create-task", store.Doc{"name": "n", "company": s.company, "team": team})
	s.refused(400, "project: project", assetsAt+"create-field", store.Doc{"name": "n", "company": other, "project": g.project})
	s.refused(400, "crop: crop", trialsAt+"create-trial", store.Doc{"name": "n", "field": g.field, "crop": crop})
	s.refused(400, "sensor_model: ", flyAt+"create-sensor", store.Doc{"sensor_model": model, "team": g.team, "serial_number": "1"})
	s.refused(400, "crops: crop", assetsAt+"update-estimation-method", store.Doc{"estimation_method": g.method, "crops": []any{crop}})
	s.ok(assetsAt+"create-estimation-method", store.Doc{"name": "both", "companies": []any{s.company, other}, "crops": []any{g.crop, crop},
		"input_data_requirements": store.Doc{}})
	s.make(flyAt+"create-carrier", store.Doc{"carrier_model": g.carrierModel, "team": team, "serial_number": "1"}) // a model of nobody is for all
}

func TestEquipmentInUse(t *testing.T) {
	s := start(t, Options{})
	g := s.ground()
	carrier := s.make(flyAt+"create-carrier", store.Doc{"carrier_model": g.carrierModel, "team": g.team, "serial_number": "1"})
	sensor := s.make(flyAt+"create-sensor", store.Doc{"sensor_model": g.sensorModel, "team": g.team, "serial_number": "1"})
	if doc := s.ok(flyAt+"describe-carrier", store.Doc{"carrier": carrier}); doc["status"] != "ready" || doc["company"] != s.company {
		t.Errorf("carrier: %v", doc)
	}
	s.refused(409, "in use by carrier "+carrier, flyAt+"delete-carrier-model", store.Doc{"carrier_model": g.carrierModel})
	s.refused(409, "in use by sensor "+sensor, flyAt+"delete-sensor-model", store.Doc{"sensor_model": g.sensorModel})
	s.refused(409, "in use by carrier "+carrier, flyAt+"delete-team", store.Doc{"team": g.team})
	s.ok(flyAt+"delete-carrier", store.Doc{"carrier": carrier})
	s.refused(409, "in use by sensor "+sensor, flyAt+"delete-team", store.Doc{"team": g.team})
	s.ok(flyAt+"delete-sensor", store.Doc{"sensor": sensor})
	s.ok(flyAt+"delete-team", store.Doc{"team": g.team})
	s.ok(flyAt+"delete-sensor-model", store.Doc{"sensor_model": g.sensorModel})
}

func TestCollectionTasks(t *testing.T) {
	s := start(t, Options{})
	g := s.ground()
	id := s.make(tasksAt+"create-task", store.Doc{"name": "spring", "company": s.company})
	task := store.Doc{"task": id}
	if doc := s.ok(tasksAt+"describe-task", task); doc["status"] != "pending" {
		t.Errorf("new task: %v", doc)
	}
	for _, status := range []string{"completed", "ready", "assigned", "scheduled", "data-captured", "data-submitted", "pending"} {
		if doc := s.ok(tasksAt+"set-task-status", with(task, "status", status)); doc["status"] != status {
			t.Errorf("%s: %v", status, doc)
		}
	}
	s.refused(400, "status: must be one of", tasksAt+"set-task-status", with(task, "status", "done"))
	s.refused(400, "status: is required", tasksAt+"set-task-status", task)
	s.refused(404, nothing, tasksAt+"set-task-status", store.Doc{"task": nothing, "status": "ready"})
	s.refused(400, "name: ", tasksAt+"set-task-name", with(task, "name", 3))
	if doc := s.ok(tasksAt+"set-task-name", with(task, "name", "summer")); doc["name"] != "summer" {
		t.Errorf("renamed: %v", doc)
	}

	doc := s.ok(tasksAt+"update-task", store.Doc{"task": id, "team": g.team, "pic": g.pilot, "site": g.project, "survey": g.mission, "comment": "wet",
		"requirement": store.Doc{"gsd": 2}, "custom_props": store.Doc{"a": 1}, "scheduled_date_range": store.Doc{"start_date": "2026-06-01T08:00:00Z"}})
	if doc["name"] != "summer" || doc["comment"] != "wet" || store.Text(doc, "scheduled_date_range.start_date") != "2026-06-01T08:00:00Z" {
		t.Errorf("updated: %v", doc)
	}
	if doc := s.ok(tasksAt+"update-task", with(task, "comment", nil)); doc["comment"] != nil || doc["team"] != g.team {
		t.Errorf("null takes away: %v", doc)
	}
	s.refused(400, "name: cannot be removed", tasksAt+"update-task", with(task, "name", nil))
	s.refused(400, "scheduled_date_range: end_date 2026-05-01", tasksAt+"update-task",
		with(task, "scheduled_date_range", store.Doc{"start_date": "2026-06-01T08:00+02:00", "end_date": "2026-05-01"}))
	idle := s.make(flyAt+"create-team", store.Doc{"company": s.company, "name": "Idle"})
	s.refused(400, "is not of team "+idle, tasksAt+"update-task", with(task, "team", idle))
	s.refused(400, "is not of project", tasksAt+"update-task", with(task, "site", s.project("elsewhere")))

	carrier := s.make(flyAt+"create-carrier", store.Doc{"carrier_model": g.carrierModel, "team": g.team, "serial_number": "1"})
	report := store.Doc{"capture_date": "2026-05-31", "team": g.team, "pic": g.pilot, "carrier": carrier,
		"weather": store.Doc{"dew": false, "wind_speed": store.Doc{"value": 3, "unit": "m/s"}}, "overlap": store.Doc{"forward": 80, "lateral": 70}}
	reported := func(key string, value any) store.Doc { return with(task, "field_report", with(report, key, value)) }
	if doc := s.ok(tasksAt+"set-fieldreport-in-task", with(task, "field_report", report)); store.Text(doc, "field_report.carrier") != carrier {
		t.Errorf("reported: %v", doc)
	}
	s.refused(404, "field_report.carrier: ", tasksAt+"set-fieldreport-in-task", reported("carrier", g.carrierModel))
	s.refused(404, "field_report.sensor: ", tasksAt+"set-fieldreport-in-task", reported("sensor", nothing))
	s.refused(400, "field_report.weather.dew: must be true or false", tasksAt+"set-fieldreport-in-task", reported("weather", store.Doc{"dew": "much"}))
	s.refused(400, "field_report.duration.unit: is required", tasksAt+"set-fieldreport-in-task", reported("duration", store.Doc{"value": 3}))
	s.refused(400, "field_report.capture_date: must be a date", tasksAt+"set-fieldreport-in-task", reported("capture_date", "today"))
	s.refused(400, "field_report: must be an object", tasksAt+"set-fieldreport-in-task", with(task, "field_report", "fine"))

	log := "dct-service/task-management/create-or-update-task-flight-log"
	for _, pilot := range []string{"first", "second"} {
		s.ok(log, store.Doc{"task": id, "flights": []any{store.Doc{"by": pilot}}, pilot: true})
	}
	written, _ := s.ok(tasksAt+"describe-task", task)["flight_log"].(store.Doc)
	if len(written) != 2 || written["second"] != true {
		t.Errorf("flight log: %v", written)
	}
	s.refused(404, nothing, log, store.Doc{"task": nothing})
	found := s.found(tasksAt+"search-tasks", store.Doc{"filter": store.Doc{"status": store.Doc{"$in": []any{"pending"}}, "team": store.Doc{"$eq": g.team}}}, "name")
	if found != "summer" {
		t.Errorf("found %q", found)
	}
}
