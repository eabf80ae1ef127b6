package platform

import (
	"testing"

	"transect/platform/internal/store"
)

func TestSeasonAssets(t *testing.T) {
	s := start(t, Options{})
	g := s.ground()
	for thing, id := range map[string]string{"crop": g.crop, "growth-stage": g.stage, "assessment-parameter-variable": g.variable} {
		key := map[string]string{"crop": "crop", "growth-stage": "growth_stage"}[thing]
		if key == "" {
			key = variables.name
		}
		update := assetsAt + "update-" + thing
		if doc := s.ok(update, store.Doc{key: id, "name": "other"}); doc["name"] != "other" || doc["company"] != s.company {
			t.Errorf("%s: %v", thing, doc)
		}
		s.make(assetsAt+"create-"+thing, store.Doc{"company": s.company, "name": "taken"})
		s.refused(409, "exists already", update, store.Doc{key: id, "name": "taken"})
		s.refused(400, "name: is required", update, store.Doc{key: id})
		s.refused(404, "company: ", update, store.Doc{key: id, "name": "other", "company": nothing})
		s.refused(404, nothing, update, store.Doc{key: nothing, "name": "other"})
		s.ok(assetsAt+"delete-"+thing, store.Doc{key: s.make(assetsAt+"create-"+thing, store.Doc{"company": s.company, "name": "third"})})
	}
	s.refused(400, "custom_ids", assetsAt+"update-assessment-parameter-variable", store.Doc{variables.name: g.variable, "name": "n", "custom_ids": []any{1}})
	s.ok(assetsAt+"update-assessment-parameter-variable", store.Doc{variables.name: g.variable, "name": "n", "custom_ids": "ext-1"})

	field := store.Doc{"field": g.field, "project": g.project, "name": "west"}
	if doc := s.ok(assetsAt+"update-field", field); doc["name"] != "west" {
		t.Errorf("field: %v", doc)
	}
	s.refused(404, "project: ", assetsAt+"update-field", with(field, "project", nothing))
	s.refused(400, "project: is required", assetsAt+"update-field", store.Doc{"field": g.field, "name": "west"})

	method := store.Doc{"estimation_method": g.method, "crops": []any{g.crop}, "growth_stages": []any{g.stage}}
	if doc := s.ok(assetsAt+"update-estimation-method", method); doc["name"] != "height" || doc["status"] != "development" || len(doc["growth_stages"].([]any)) != 1 {
		t.Errorf("method: %v", doc)
	}
	s.refused(400, "crops: is required", assetsAt+"update-estimation-method", store.Doc{"estimation_method": g.method})
	s.refused(404, "growth_stages: growth_stage "+nothing, assetsAt+"update-estimation-method", with(method, "growth_stages", []any{nothing}))
	s.refused(404, "analytic.outputs_mapping.table: ", assetsAt+"update-estimation-method",
		with(method, "analytic", store.Doc{"outputs_mapping": store.Doc{"table": store.Doc{nothing: "height"}}}))
	s.refused(400, "\"height\" is not the identifier", assetsAt+"update-estimation-method",
		with(method, "analytic", store.Doc{"outputs_mapping": store.Doc{"table": store.Doc{"height": "height"}}}))
	s.refused(409, "in use by estimation_method "+g.method, assetsAt+"delete-crop", store.Doc{"crop": g.crop})
	s.refused(409, "in use by estimation_method "+g.method, assetsAt+"delete-growth-stage", store.Doc{"growth_stage": g.stage})
}

func TestDeliverableDefinitions(t *testing.T) {
	s := start(t, Options{})
	list := func(body store.Doc) (names string) {
		for _, d := range s.list(assetsAt+"list-deliverable-definitions", body) {
			names += store.Text(d, "name") + " "
		}
		return names
	}
	for want, body := range map[string]store.Doc{
		"orthomosaic digital_surface_model digital_terrain_model ": {"sensor_type": "rgb"},
		"reflectance_map ":  {"sensor_type": "hs", "task_purpose": "mapping"},
		"raw_point_cloud ":  {"sensor_type": "lidar", "task_purpose": "raw"},
		"point_cloud mesh ": {"sensor_type": "rgb", "task_purpose": "3d-modeling"},
		"":                  {"sensor_type": "hs", "task_purpose": "3d-modeling"},
	} {
		if got := list(body); got != want {
			t.Errorf("%v: %q", body, got)
		}
	}
	s.refused(400, "sensor_type", assetsAt+"list-deliverable-definitions", store.Doc{"sensor_type": "thermal"})
	s.refused(400, "task_purpose", assetsAt+"list-deliverable-definitions", store.Doc{"sensor_type": "ms", "task_purpose": "fun"})
}

func TestDefaultLimitsOfSeasonPlanning(t *testing.T) {
	s := start(t, Options{})
	for _, c := range []struct {
		k     *resource
		route string
		limit int
	}{
		{crops, assetsAt + "search-crops", 1000},
		{estimationMethods, assetsAt + "search-estimation-methods", 1000},
		{estimations, "season-planner/search-assessment-parameter-estimations", 1000},
		{trials, trialsAt + "search-trials", 5000},
		{plannedMissions, trialsAt + "search-missions", 5000},
	} {
		docs := make([]store.Doc, c.limit+2)
		for i := range docs {
			docs[i] = store.Doc{"company": s.company}
		}
		s.insert(c.k.plural, docs...)
		none := store.Doc{"filter": store.Doc{}, "fields": store.Doc{"include": []any{"_id"}}}
		first, second := s.ok(c.route, none), s.ok(c.route, with(none, "page", 1))
		if n, m := len(first["results"].([]any)), len(second["results"].([]any)); n != c.limit || m != 2 {
			t.Errorf("%s: pages of %d and %d", c.route, n, m)
		}
		if total := first["total"]; total != second["total"] || total == nil {
			t.Errorf("%s: totals %v and %v", c.route, total, second["total"])
		}
	}
}

func TestTrials(t *testing.T) {
	s := start(t, Options{})
	g := s.ground()
	body := store.Doc{"field": g.field, "name": "density", "crop": g.crop, "season": "2026-03-01"}
	first := s.make(trialsAt+"create-trial", body)
	second := s.make(trialsAt+"create-trial", store.Doc{"field": g.field, "name": "sowing", "crop": g.crop, "links": []any{first}})
	s.make(trialsAt+"create-trial", with(body, "season", "2027-03-01")) // each season has names of its own
	field := s.make(assetsAt+"create-field", store.Doc{"company": s.company, "project": g.project, "name": "far"})
	s.refused(400, "links: trial "+first+" is on another field", trialsAt+"create-trial", store.Doc{"field": field, "name": "n", "crop": g.crop, "links": []any{first}})
	s.refused(404, "links: ", trialsAt+"create-trial", with(with(body, "name", "n"), "links", []any{nothing}))
	found := s.found(trialsAt+"search-trials", store.Doc{"filter": store.Doc{"season": store.Doc{"$eq": "2026-03-01"}, "field": store.Doc{"$eq": g.field}}}, "_id")
	if found != first {
		t.Errorf("found %q", found)
	}

	change := store.Doc{"trial": first, "field": g.field, "crop": g.crop}
	if doc := s.ok(trialsAt+"update-trial", with(change, "comment", "late")); doc["comment"] != "late" || doc["name"] != "density" || doc["company"] != s.company {
		t.Errorf("updated: %v", doc)
	}
	s.refused(400, "crop: is required", trialsAt+"update-trial", store.Doc{"trial": first, "field": g.field})
	s.refused(400, "missions: follows from", trialsAt+"update-trial", with(change, "missions", []any{}))
	s.refused(400, "links: a trial cannot be linked to itself", trialsAt+"update-trial", with(change, "links", []any{first}))
	s.refused(400, "field: trial "+second+" is linked", trialsAt+"update-trial", with(change, "field", field))
	s.refused(409, "exists already", trialsAt+"update-trial", with(change, "season", "2027-03-01"))
	s.refused(409, "in use by trial", assetsAt+"delete-field", store.Doc{"field": g.field})
	s.refused(409, "cannot change its company", assetsAt+"update-field",
		store.Doc{"field": g.field, "project": s.otherProject(), "name": "first", "company": s.otherCompany()})

	point := store.Doc{"type": "Feature", "geometry": store.Doc{"type": "Point", "coordinates": []any{1, 45}}}
	plots := func(location any) store.Doc {
		return store.Doc{"trial": first, "plots": store.Doc{"location": location, "rows": 3}}
	}
	for _, location := range []any{point, point["geometry"], store.Doc{"type": "FeatureCollection", "features": []any{point}}} {
		if doc := s.ok(trialsAt+"set-plots-on-trial", plots(location)); store.Lookup(doc, "plots.rows") == nil || store.Text(doc, "plots.location.type") == "" {
			t.Errorf("plots: %v", doc)
		}
	}
	s.refused(400, "plots.location: \"Square\" is not a GeoJSON", trialsAt+"set-plots-on-trial", plots(store.Doc{"type": "Square"}))
	s.refused(400, "plots.location.features[0]", trialsAt+"set-plots-on-trial", plots(store.Doc{"type": "FeatureCollection", "features": []any{1}}))
	s.refused(400, "plots.location.features[0].geometry: is required", trialsAt+"set-plots-on-trial",
		plots(store.Doc{"type": "FeatureCollection", "features": []any{store.Doc{"type": "Feature"}}}))
	s.refused(400, "plots.location: is required", trialsAt+"set-plots-on-trial", store.Doc{"trial": first, "plots": store.Doc{"rows": 2}})
	s.refused(404, nothing, trialsAt+"set-plots-on-trial", with(plots(point), "trial", nothing))

	raster := s.dataset("raster", store.Doc{"project": g.project}, "raster")
	if doc := s.ok(trialsAt+"set-dtm-dataset-on-trial", store.Doc{"trial": first, "dataset": raster}); doc["dtm_dataset"] != raster {
		t.Errorf("terrain: %v", doc)
	}
	s.refused(400, "terrain must be a raster", trialsAt+"set-dtm-dataset-on-trial", store.Doc{"trial": first, "dataset": s.dataset("file", store.Doc{"project": g.project}, "file")})
	s.refused(400, "of another project", trialsAt+"set-dtm-dataset-on-trial",
		store.Doc{"trial": first, "dataset": s.dataset("raster", store.Doc{"project": s.project("elsewhere")}, "raster")})
	s.refused(404, "dataset: ", trialsAt+"set-dtm-dataset-on-trial", store.Doc{"trial": first, "dataset": nothing})

	s.ok(trialsAt+"delete-trial", store.Doc{"trial": first})
	if doc := s.ok(trialsAt+"describe-trial", store.Doc{"trial": second}); len(doc["links"].([]any)) != 0 {
		t.Errorf("linked to a trial that is gone: %v", doc)
	}
}

// otherProject is a project of a company of its own.
func (s *site) otherProject() string {
	s.t.Helper()
	doc := store.Doc{"name": "theirs"}
	s.insert(projects.plural, doc)
	return store.Text(doc, "_id")
}

func TestPlannedMissions(t *testing.T) {
	s := start(t, Options{})
	g := s.ground()
	plan := store.Doc{"name": "early", "start_date": "2026-03-01", "end_date": "2026-03-02", "estimation_methods": []any{g.method},
		"growth_stages_range": store.Doc{"from": g.stage}}
	body := store.Doc{"field": g.field, "name": "density", "crop": g.crop, "missions": []any{plan, store.Doc{"name": "late"}}}
	created := s.ok(trialsAt+"create-trial", body)
	trial := store.Text(created, "_id")
	missionIDs := created["missions"].([]any)
	if len(missionIDs) != 2 {
		t.Fatalf("missions %v", missionIDs)
	}
	for i, doc := range s.list(trialsAt+"describe-missions", store.Doc{"missions": missionIDs}) {
		if doc["trial"] != trial || doc["company"] != s.company || doc["name"] != []string{"early", "late"}[i] {
			t.Errorf("mission %v", doc)
		}
	}
	// A trial is kept with all its missions, or not at all.
	s.refused(404, "missions[1].estimation_methods: ", trialsAt+"create-trial",
		with(with(body, "name", "n"), "missions", []any{plan, store.Doc{"name": "late", "estimation_methods": []any{nothing}}}))
	if found := s.found(trialsAt+"search-missions", store.Doc{"filter": store.Doc{}}, "name"); found != "early late" {
		t.Errorf("missions: %q", found)
	}

	add := with(plan, "trial", trial)
	if doc := s.ok(trialsAt+"add-mission-to-trial", add); doc["_id"] != trial || len(doc["missions"].([]any)) != 3 {
		t.Errorf("trial: %v", doc)
	}
	for _, c := range []struct {
		status int
		want   string
		key    string
		value  any
	}{
		{404, "trial", "trial", nothing},
		{400, "trial: must be an identifier", "trial", "t1"},
		{400, "name: is required", "name", nil},
		{400, "end_date: 2026-02-28T00:00:00.000Z is before start_date", "end_date", "2026-02-28"},
		{400, "start_date", "start_date", "spring"},
		{404, "growth_stages_range.to: growth_stage", "growth_stages_range", store.Doc{"to": g.crop}},
		{400, "company: follows from", "company", s.company},
	} {
		s.refused(c.status, c.want, trialsAt+"add-mission-to-trial", with(add, c.key, c.value))
	}
	rye := s.make(assetsAt+"create-crop", store.Doc{"company": s.company, "name": "rye"})
	forRye := s.make(assetsAt+"create-estimation-method", store.Doc{"name": "rye height", "companies": []any{s.company}, "crops": []any{rye}, "input_data_requirements": store.Doc{}})
	s.refused(400, "is not for the crop", trialsAt+"add-mission-to-trial", with(add, "estimation_methods", []any{forRye}))

	early := missionIDs[0]
	mission := store.Doc{"mission": early, "name": "earlier"}
	if doc := s.ok(trialsAt+"update-mission", with(mission, "description", "d")); doc["name"] != "earlier" || doc["start_date"] != "2026-03-01T00:00:00.000Z" {
		t.Errorf("updated: %v", doc)
	}
	s.refused(400, "name: is required", trialsAt+"update-mission", store.Doc{"mission": early})
	s.refused(400, "end_date", trialsAt+"update-mission", with(mission, "start_date", "2026-03-03"))
	s.refused(404, nothing, trialsAt+"update-mission", with(mission, "mission", nothing))
	s.refused(409, "in use by mission", assetsAt+"delete-growth-stage", store.Doc{"growth_stage": g.stage})
	s.refused(409, "in use by mission", assetsAt+"delete-estimation-method", store.Doc{"estimation_method": g.method})

	s.ok(trialsAt+"delete-mission", store.Doc{"mission": missionIDs[1]})
	s.refused(404, "", trialsAt+"delete-mission", store.Doc{"mission": missionIDs[1]})
	if doc := s.ok(trialsAt+"describe-trial", store.Doc{"trial": trial}); len(doc["missions"].([]any)) != 2 || doc["missions"].([]any)[0] != early {
		t.Errorf("trial without a mission: %v", doc)
	}
	s.ok(trialsAt+"delete-trial", store.Doc{"trial": trial})
	s.refused(404, "", trialsAt+"describe-mission", store.Doc{"mission": early})
	// The missions of projects are others.
	s.ok("project-manager/describe-mission", store.Doc{"mission": g.mission})
}
