package platform

import (
	"encoding/json"
	"testing"

	"transect/platform/internal/store"
)

const (
	searchEstimations = "season-planner/search-assessment-parameter-estimations"
	startAnalyses     = "season-planner/start-analysis-on-ape"
	startReports      = "season-planner/start-reporting-on-ape"
	exportEntries     = "season-planner/export-report-entries"
)

// method makes an estimation method that orders an analytic.
func (s *site) method(g ground, name string, analytic store.Doc) string {
	s.t.Helper()
	return s.make(assetsAt+"create-estimation-method", store.Doc{"name": name, "companies": []any{s.company},
		"crops": []any{g.crop}, "input_data_requirements": store.Doc{}, "analytic": analytic})
}

// estimation plans a mission of a new trial and returns what is to be estimated.
func (s *site) estimation(g ground, method string) (estimation, trial, mission string) {
	s.t.Helper()
	doc := s.ok(trialsAt+"create-trial", store.Doc{"field": g.field, "name": "of " + method, "crop": g.crop,
		"missions": []any{store.Doc{"name": "m", "estimation_methods": []any{method}}}})
	trial = store.Text(doc, "_id")
	estimation = s.found(searchEstimations, store.Doc{"filter": store.Doc{"trial": store.Doc{"$eq": trial}}}, "_id")
	return estimation, trial, doc["missions"].([]any)[0].(string)
}

func TestEstimationsFollowTheMethodsOfMissions(t *testing.T) {
	s := start(t, Options{})
	g := s.ground()
	more := s.method(g, "more", store.Doc{"name": "rehearsal", "parameters": store.Doc{"duration": 0}})
	id, trial, mission := s.estimation(g, g.method)
	pending := store.Doc{"filter": store.Doc{"status": store.Doc{"$in": []any{"pending"}}, "mission": store.Doc{"$eq": mission}}}
	methods := func() string { return s.found(searchEstimations, pending, "estimation_method") }
	if got := methods(); got != g.method {
		t.Fatalf("estimations of %q", got)
	}
	update := func(list ...any) {
		t.Helper()
		s.ok(trialsAt+"update-mission", store.Doc{"mission": mission, "name": "m", "estimation_methods": list})
	}
	update(g.method, more)
	update(g.method, more)
	if got := methods(); got != g.method+" "+more {
		t.Errorf("with one more method: %q", got)
	}
	update(more)
	if got := methods(); got != more {
		t.Errorf("with one less: %q", got)
	}
	s.refused(404, id, startAnalyses, store.Doc{estimations.name: id}) // it went with its method

	begun := s.found(searchEstimations, pending, "_id")
	s.ok(startAnalyses, store.Doc{estimations.name: begun})
	update()
	if got := s.found(searchEstimations, store.Doc{"filter": store.Doc{"mission": mission}}, "_id"); got != begun {
		t.Errorf("what was begun stays: %q", got)
	}
	if got := s.found(searchEstimations, store.Doc{"filter": store.Doc{}, "limit": 1, "page": 1}, "_id"); got != "" {
		t.Errorf("second page: %q", got)
	}
	s.ok(trialsAt+"delete-trial", store.Doc{"trial": trial})
	if got := s.found(searchEstimations, store.Doc{"filter": store.Doc{}}, "_id"); got != "" {
		t.Errorf("without its trial: %q", got)
	}
}

func TestAnalysisAndReporting(t *testing.T) {
	s := start(t, Options{})
	g := s.ground()
	// What is estimated is how many images of the survey there are.
	method := s.method(g, "count", store.Doc{"name": "flight_report", "version_range": "1.x",
		"inputs_mapping":  store.Doc{"mission": "images"},
		"outputs_mapping": store.Doc{"inventory": store.Doc{g.variable: "images"}}})
	id, trial, mission := s.estimation(g, method)
	survey, flight := s.survey(g.project, 1)
	image := s.dataset("image", store.Doc{"project": g.project, "mission": survey, "flight": flight}, "image")
	s.upload(image, "image", "a.jpg", photo(t, asJPEG))
	s.until("data-manager/describe-dataset", store.Doc{"dataset": image}, "ingestion.status", "completed")
	task := s.make(tasksAt+"create-task", store.Doc{"name": "n", "company": s.company, "survey": survey})
	estimation := store.Doc{estimations.name: id}

	s.refused(400, "survey: is required", startAnalyses, estimation)
	s.refused(404, "survey: mission", startAnalyses, with(estimation, "survey", nothing))
	s.refused(404, "collection_task: task", startAnalyses, with(estimation, "collection_task", survey))
	s.refused(404, nothing, startAnalyses, store.Doc{estimations.name: nothing})
	s.refused(400, estimations.name, startAnalyses, store.Doc{estimations.name: 1})
	s.refused(404, nothing, startReports, store.Doc{estimations.name: nothing})
	s.refused(409, "is not analysed yet", startReports, estimation)

	doc := s.ok(startAnalyses, with(estimation, "collection_task", task))
	product := store.Text(doc, "product")
	if doc["status"] != "analysing" || doc["survey"] != survey || doc["collection_task"] != task || product == "" {
		t.Fatalf("analysed: %v", doc)
	}
	if ended := s.ended(product); ended["status"] != "available" || ended["analytic_version"] != "1.1.0" || ended["mission"] != survey {
		t.Fatalf("product %v", ended)
	}
	s.refused(409, "is analysed already", startAnalyses, estimation)
	entries := store.Doc{"filter": store.Doc{"ap_estimation": store.Doc{"$eq": id}}}
	if list := s.ok(exportEntries, entries)["results"].([]any); len(list) != 0 {
		t.Errorf("entries before the report: %v", list)
	}
	if doc := s.ok(startReports, estimation); doc["status"] != "reported" {
		t.Errorf("reported: %v", doc)
	}
	s.refused(409, "is reported already", startReports, estimation)
	s.refused(409, "is reported already", startAnalyses, estimation)
	for key, value := range map[string]string{"ap_estimation": id, "trial": trial, "mission": mission} {
		list := s.ok(exportEntries, store.Doc{"filter": store.Doc{key: store.Doc{"$eq": value}}})["results"].([]any)
		if len(list) != 1 {
			t.Fatalf("entries by %s: %v", key, list)
		}
		if entry := list[0].(store.Doc); entry["value"] != json.Number("1") || entry["name"] != "first" || entry["_id"] == nil || entry["creation_date"] == nil {
			t.Errorf("entry %v", entry)
		}
	}
	s.refused(400, "filter: is required", exportEntries, store.Doc{})
	s.refused(400, "filter: must be an object", exportEntries, store.Doc{"filter": []any{}})
	s.ok(trialsAt+"delete-mission", store.Doc{"mission": mission})
	if list := s.ok(exportEntries, store.Doc{"filter": store.Doc{}})["results"].([]any); len(list) != 0 {
		t.Errorf("entries of a mission that is gone: %v", list)
	}
}

func TestAnalysesThatCannotBe(t *testing.T) {
	s := start(t, Options{})
	g := s.ground()
	for want, c := range map[string]struct {
		status   int
		analytic any
	}{
		"has no analytic":              {400, nil},
		"analytic nobody":              {404, store.Doc{"name": "nobody"}},
		"analytic rehearsal 7.x":       {404, store.Doc{"name": "rehearsal", "version_range": "7.x"}},
		"inputs.mission: is required":  {400, store.Doc{"name": "flight_report"}},
		"parameters.speed":             {400, store.Doc{"name": "rehearsal", "parameters": store.Doc{"speed": 1}}},
		"no dataset named orthomosaic": {400, store.Doc{"name": "rehearsal", "inputs_mapping": store.Doc{"ortho": "orthomosaic"}}},
	} {
		id, _, _ := s.estimation(g, s.make(assetsAt+"create-estimation-method", store.Doc{"name": want, "companies": []any{s.company},
			"crops": []any{g.crop}, "input_data_requirements": store.Doc{}, "analytic": c.analytic}))
		s.refused(c.status, want, startAnalyses, store.Doc{estimations.name: id, "survey": g.mission})
	}

	parameters := store.Doc{"duration": 60, "outcome": "failed"}
	method := s.method(g, "slow", store.Doc{"name": "rehearsal", "parameters": parameters})
	id, _, _ := s.estimation(g, method)
	estimation := store.Doc{estimations.name: id}
	product := store.Text(s.ok(startAnalyses, estimation), "product")
	s.refused(409, "is being analysed by product "+product, startAnalyses, estimation)
	s.refused(409, "there is nothing to report", startReports, estimation)
	s.ok("analytics-service/cancel-product", store.Doc{"product": product})
	s.refused(409, "is cancelled: there is nothing to report", startReports, estimation)

	// After a failure it can be tried again, here with another mapping.
	parameters["duration"], parameters["outcome"] = 0, "available"
	s.ok(assetsAt+"update-estimation-method", store.Doc{"estimation_method": method, "crops": []any{g.crop}, "analytic": store.Doc{
		"name": "rehearsal", "parameters": parameters, "outputs_mapping": store.Doc{"table": store.Doc{g.variable: "height"}}}})
	again := store.Text(s.ok(startAnalyses, estimation), "product")
	if again == product || s.ended(again)["status"] != "available" {
		t.Errorf("second product %s", again)
	}
	s.refused(400, "has no deliverable table", startReports, estimation)
}

func TestInputsAreTheNewestDatasetsOfTheSurvey(t *testing.T) {
	s := start(t, Options{})
	g := s.ground()
	s.credentials("c")
	s.ok("analytics-service/create-analytic", store.Doc{"name": "mine", "version": "1.0.0", "company": s.company,
		"algorithm": store.Doc{"docker_image": "r/i:1", "docker_credentials_name": "c"},
		"inputs":    []any{store.Doc{"name": "ortho", "required": true}}})
	names := []any{"mine"}
	s.ok("analytics-service/expose-analytics", store.Doc{"expose": []any{store.Doc{"root_company": s.company, "analytics_names": names}}})
	s.ok("analytics-service/enable-analytics", store.Doc{"enable": []any{store.Doc{"company": s.company, "analytics_names": names}}})
	at := store.Doc{"project": g.project, "mission": g.mission}
	s.dataset("file", with(at, "name", "orthomosaic"))
	newest := s.dataset("file", with(at, "categories", []any{"orthomosaic"}))
	s.dataset("file", store.Doc{"project": g.project, "name": "orthomosaic"}) // of no survey
	s.dataset("file", with(at, "name", "orthomosaic"), "file")                // not uploaded yet

	id, _, _ := s.estimation(g, s.method(g, "m", store.Doc{"name": "mine", "inputs_mapping": store.Doc{"ortho": "orthomosaic"}}))
	product := store.Text(s.ok(startAnalyses, store.Doc{estimations.name: id, "survey": g.mission}), "product")
	if doc := s.ended(product); store.Text(doc, "inputs.ortho") != newest {
		t.Errorf("inputs %v, want %s", doc["inputs"], newest)
	}
}
