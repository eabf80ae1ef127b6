package platform

import (
	"maps"
	"testing"

	"transect/platform/internal/store"
)

const (
	dataflowRoot = "dataflow/"
	featureRoot  = "map-service/features/"

	assetsAt = "season-planner/asset-management/"
	flyAt    = "dct-service/asset-management/"
	tasksAt  = "dct-service/task/"
	trialsAt = "season-planner/trial-management/"
)

// make creates something and returns its identifier.
func (s *site) make(route string, body store.Doc) string {
	s.t.Helper()
	id := store.Text(s.ok(route, body), "_id")
	if id == "" {
		s.t.Fatalf("%s: no _id", route)
	}
	return id
}

// with returns a copy of a body with one more key.
func with(body store.Doc, key string, value any) store.Doc {
	body = maps.Clone(body)
	body[key] = value
	return body
}

// ground is what field work and season planning build on.
type ground struct {
	project, mission                     string
	carrierModel, sensorModel            string
	team, pilot                          string
	crop, stage, variable, field, method string
}

func (s *site) ground() (g ground) {
	s.t.Helper()
	user := store.Text(s.ok("dxauth/describe-user", store.Doc{}), "_id")
	g.project = s.project("farm")
	g.mission, _ = s.survey(g.project, 1)
	g.carrierModel = s.make(flyAt+"create-carrier-model", store.Doc{"name": "Wing", "maker": "M", "type": "fixed-wind"})
	g.sensorModel = s.make(flyAt+"create-sensor-model", store.Doc{"name": "Cam", "maker": "M", "type": "ms"})
	g.team = s.make(flyAt+"create-team", store.Doc{"company": s.company, "name": "North"})
	g.pilot = s.make(flyAt+"create-pilot", store.Doc{"user": user, "teams": []any{g.team}})
	named := store.Doc{"company": s.company, "name": "first"}
	g.crop = s.make(assetsAt+"create-crop", named)
	g.stage = s.make(assetsAt+"create-growth-stage", named)
	g.variable = s.make(assetsAt+"create-assessment-parameter-variable", named)
	g.field = s.make(assetsAt+"create-field", with(named, "project", g.project))
	g.method = s.make(assetsAt+"create-estimation-method", store.Doc{"name": "height", "companies": []any{s.company},
		"crops": []any{g.crop}, "input_data_requirements": store.Doc{"sensor_type": "rgb"}})
	return g
}

func TestResources(t *testing.T) {
	s := start(t, Options{})
	g := s.ground()
	polygon := store.Doc{"type": "Feature", "geometry": store.Doc{"type": "Polygon",
		"coordinates": []any{[]any{[]any{1, 45, 0}, []any{1.1, 45, 0}, []any{1.1, 45.1, 0}, []any{1, 45, 0}}}}}
	for _, c := range []struct {
		root, thing, key string
		body             store.Doc
		needed           []string       // arguments that must be given
		refs             []string       // arguments that must exist
		bad              map[string]any // a value of each that is wrong
		free             bool           // two of the same are allowed
	}{
		{root: assetsAt, thing: "crop", key: "crop", body: store.Doc{"company": s.company, "name": "wheat"},
			needed: []string{"company", "name"}, refs: []string{"company"}, bad: map[string]any{"name": 3, "company": "c1", "_id": nothing}},
		{root: assetsAt, thing: "growth-stage", key: "growth_stage", body: store.Doc{"company": s.company, "name": "bloom"},
			needed: []string{"company", "name"}, refs: []string{"company"}, bad: map[string]any{"name": ""}},
		{root: assetsAt, thing: "assessment-parameter-variable", key: "assessment_parameter_variable",
			body:   store.Doc{"company": s.company, "name": "height", "custom_ids": store.Doc{"lab": "7"}},
			needed: []string{"company", "name"}, refs: []string{"company"}, bad: map[string]any{"custom_ids": 7}},
		{root: assetsAt, thing: "field", key: "field", body: store.Doc{"company": s.company, "project": g.project, "name": "south", "description": ""},
			needed: []string{"company", "project", "name"}, refs: []string{"company", "project"}, bad: map[string]any{"description": 1}},
		{root: assetsAt, thing: "estimation-method", key: "estimation_method",
			body: store.Doc{"name": "yield", "companies": []any{s.company}, "crops": []any{g.crop}, "growth_stages": []any{g.stage}, "status": "validated",
				"input_data_requirements": store.Doc{"sensor_type": "ms", "gsd": store.Doc{"value": 2, "unit": "cm"}, "ppk_rtk": store.Doc{"use": true},
					"bands": []any{store.Doc{"name": "nir", "central_wavelength": 840}}, "overlap": store.Doc{"forward": 80}},
				"analytic": store.Doc{"name": "a", "version_range": "1.x", "inputs_mapping": store.Doc{"ortho": "orthomosaic"},
					"outputs_mapping": store.Doc{"table": store.Doc{g.variable: "height"}}}},
			needed: []string{"name", "companies", "crops", "input_data_requirements"},
			bad: map[string]any{"companies": []any{}, "crops": g.crop, "status": "done", "company": s.company,
				"input_data_requirements": store.Doc{"gsd": store.Doc{"value": "2", "unit": "cm"}},
				"analytic":                store.Doc{"version_range": "one or so"}, "growth_stages": []any{g.stage, g.stage}}},
		{root: flyAt, thing: "team", key: "team", body: store.Doc{"company": s.company, "name": "South", "leader": g.pilot},
			needed: []string{"company", "name"}, refs: []string{"company", "leader"}, bad: map[string]any{"leader": 1}},
		{root: flyAt, thing: "carrier-model", key: "carrier_model",
			body: store.Doc{"name": "Quad", "maker": "M", "type": "multirotor", "unloaded_weight": store.Doc{"value": 3, "unit": "kg"},
				"speed": store.Doc{"min": store.Doc{"value": 1, "unit": "m/s"}}, "compatible_sensor_models": []any{g.sensorModel}, "company": s.company},
			needed: []string{"name", "maker", "type"}, refs: []string{"company"},
			bad: map[string]any{"type": "zeppelin", "unloaded_weight": 40, "compatible_sensor_models": g.sensorModel}},
		{root: flyAt, thing: "sensor-model", key: "sensor_model",
			body: store.Doc{"name": "Eye", "maker": "M", "type": "rgb", "weight": store.Doc{"value": 90, "unit": "g"}, "lens_type": "fisheye",
				"width": 4000, "height": "3000", "focal_length": 0, "principal_point": []any{1, 2.5}, "distortion": store.Doc{"k1": 0.1},
				"bands": []any{store.Doc{"name": "red"}}},
			needed: []string{"name", "maker", "type"}, refs: []string{"company"},
			bad: map[string]any{"type": "sonar", "weight": store.Doc{"value": 1, "unit": "lb"}, "lens_type": "round", "width": "wide", "height": 0,
				"focal_length": "long", "principal_point": []any{"x"}, "bands": []any{1}, "distortion": []any{}}},
		{root: flyAt, thing: "carrier", key: "carrier", body: store.Doc{"carrier_model": g.carrierModel, "team": g.team, "serial_number": "7", "comment": ""},
			needed: []string{"carrier_model", "team", "serial_number"}, refs: []string{"carrier_model", "team"}, bad: map[string]any{"status": "broken", "serial_number": 7}},
		{root: flyAt, thing: "sensor", key: "sensor", body: store.Doc{"sensor_model": g.sensorModel, "team": g.team, "serial_number": "7", "firmware": "1.2"},
			needed: []string{"sensor_model", "team", "serial_number"}, refs: []string{"sensor_model", "team"}, bad: map[string]any{"firmware": 1.2}},
		{root: tasksAt, thing: "task", key: "task", free: true,
			body: store.Doc{"name": "spring", "company": s.company, "site": g.project, "survey": g.mission, "team": g.team, "pic": g.pilot, "purpose": "mapping",
				"location":            store.Doc{"adress": store.Doc{"city": "Toulouse"}, "task_area": store.Doc{}},
				"forecast_date_range": store.Doc{"start_date": "2026-05-31T08:00:00.000Z", "end_date": "2026-06-01"}},
			needed: []string{"name", "company"}, refs: []string{"company", "site", "survey", "team", "pic"},
			bad: map[string]any{"location": "here", "forecast_date_range": store.Doc{"start_date": "2026-06-02", "end_date": "2026-06-01"},
				"scheduled_date_range": store.Doc{"start_date": "soon"}, "status": "done", "flight_log": store.Doc{}}},
		{root: trialsAt, thing: "trial", key: "trial",
			body: store.Doc{"field": g.field, "name": "density", "crop": g.crop, "season": "2026-03-01", "location": polygon, "custom_id": "7",
				"missions": []any{store.Doc{"name": "early", "start_date": "2026-03-01", "estimation_methods": []any{g.method},
					"growth_stages_range": store.Doc{"from": g.stage, "to": g.stage}}}},
			needed: []string{"field", "name", "crop"}, refs: []string{"field", "crop"},
			bad: map[string]any{"season": "spring", "location": store.Doc{"type": "Feature", "geometry": store.Doc{"type": "Point", "coordinates": []any{1, 2}}},
				"missions": []any{store.Doc{"start_date": "2026-03-01"}}, "links": "t1", "company": s.company, "dtm_dataset": nothing}},
	} {
		t.Run(c.thing, func(t *testing.T) {
			s := *s
			s.t = t
			create, describe, search := c.root+"create-"+c.thing, c.root+"describe-"+c.thing, c.root+"search-"+c.thing+"s"
			for _, key := range c.needed {
				s.refused(400, key+": is required", create, with(c.body, key, nil))
			}
			for _, key := range c.refs {
				s.refused(404, key+": ", create, with(c.body, key, nothing))
			}
			for key, value := range c.bad {
				s.refused(400, key, create, with(c.body, key, value))
			}
			id := s.make(create, with(c.body, "colour", "red"))
			doc := s.ok(describe, store.Doc{c.key: id})
			if doc["colour"] != "red" || doc["company"] != s.company && c.thing != "sensor-model" || doc["creation_date"] == nil {
				t.Errorf("described as %v", doc)
			}
			if c.thing != "field" {
				if doc := s.ok(describe, store.Doc{c.key: id, "fields": store.Doc{"include": []any{"colour"}}}); len(doc) > 2 {
					t.Errorf("chosen fields: %v", doc)
				}
			}
			if !c.free {
				s.refused(409, "exists already: "+id, create, c.body)
			}
			list := s.list(describe+"s", store.Doc{c.key + "s": []any{id}})
			if len(list) != 1 || list[0]["_id"] != id {
				t.Errorf("list: %v", list)
			}
			s.refused(404, nothing, describe, store.Doc{c.key: nothing})
			s.refused(404, nothing, describe+"s", store.Doc{c.key + "s": []any{id, nothing}})
			s.refused(400, c.key, describe, store.Doc{c.key: 7})
			s.refused(400, c.key+"s", describe+"s", store.Doc{c.key + "s": id})

			filter := store.Doc{"_id": store.Doc{"$eq": id}, "colour": store.Doc{"$in": []any{"red", "green"}}}
			if found := s.found(search, store.Doc{"filter": filter}, "_id"); found != id {
				t.Errorf("found %q", found)
			}
			newest := store.Doc{"filter": store.Doc{}, "limit": 1, "page": 0, "sort": store.Doc{"_id": -1}}
			if first, beyond := s.found(search, newest, "_id"), s.found(search, with(newest, "page", 50), "_id"); first != id || beyond != "" {
				t.Errorf("pages %q and %q", first, beyond)
			}
			s.refused(400, "unknown operator", search, store.Doc{"filter": store.Doc{"name": store.Doc{"$equals": 1}}})

			s.refused(404, nothing, c.root+"delete-"+c.thing, store.Doc{c.key: nothing})
			s.refused(400, c.key, c.root+"delete-"+c.thing, store.Doc{})
			s.ok(c.root+"delete-"+c.thing, store.Doc{c.key: id})
			s.refused(404, id, describe, store.Doc{c.key: id})
			s.refused(404, id, c.root+"delete-"+c.thing, store.Doc{c.key: id})
			if found := s.found(search, store.Doc{"filter": filter}, "_id"); found != "" {
				t.Errorf("deleted, and found %q", found)
			}
			gone := with(filter, "deletion_date", store.Doc{"$exists": true})
			if found := s.found(search, store.Doc{"filter": gone}, "_id"); found != id {
				t.Errorf("among the deleted there is %q", found)
			}
			s.make(create, c.body) // what is deleted is in nobody's way
		})
	}
}
