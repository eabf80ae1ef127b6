package platform

import (
	"slices"

	"transect/client/schema"
	"transect/platform/store"
)

// Trials, and the missions planned for them. The latter have nothing to do
// with the missions of projects but their name.
var (
	trials          = &resource{name: "trial", plural: "trials", limit: 5000, unique: []string{"field", "season", "name"}}
	plannedMissions = &resource{name: "mission", plural: "season_planner_missions", limit: 5000}
)

func serveTrials() {
	trials.refs = []ref{{"field", parcels, refuse}, {"crop", crops, refuse}, {"links", trials, unlink},
		{"missions", plannedMissions, unlink}}
	trials.rules = append(distinct("links"), schema.Param{Name: "custom_id", Type: "string"},
		schema.Param{Name: "plots", Type: "object", Fields: fields{{Name: "location", Type: "features"}}})
	trials.derived = []string{"company", "missions", "dtm_dataset"}
	trials.defaults = store.Doc{"links": []any{}, "missions": []any{}}
	trials.complete, trials.make = completeTrial, makeTrial

	plannedMissions.refs = []ref{{"trial", trials, cascade}, {"estimation_methods", estimationMethods, refuse},
		{"growth_stages_range.from", growthStages, refuse}, {"growth_stages_range.to", growthStages, refuse}}
	plannedMissions.rules = distinct("estimation_methods")
	plannedMissions.fixed = []string{"trial"}
	plannedMissions.derived = []string{"company"}
	plannedMissions.defaults = store.Doc{"estimation_methods": []any{}}
	plannedMissions.complete = completePlannedMission

	serve("trials", trials, map[string]endpoint{
		"set-dtm-dataset-on-trial": do(trials.changing(setTerrain)),
	})
	serve("season_planner_missions", plannedMissions, map[string]endpoint{
		"add-mission-to-trial": do(addMissionToTrial, "*"),
		"update-mission": do(plannedMissions.changing(func(r *Request, mission store.Doc) {
			plannedMissions.fill(r, r.body, mission)
			r.planEstimations(mission)
		}), "*"),
	})
}

// makeTrial makes a trial and the missions that are planned for it.
func makeTrial(r *Request, given store.Doc) store.Doc {
	planned := listOf(given, "missions")
	delete(given, "missions")
	trial := trials.build(r, given)
	r.create(trials, trial)
	for i, plan := range planned {
		inElement("missions", i, func() { r.plan(trial, plan.(map[string]any)) })
	}
	return trial
}

// addMissionToTrial plans a mission and answers with its trial.
func addMissionToTrial(r *Request) any {
	trial := r.need(trials, r.text("trial"), "trial")
	r.plan(trial, r.body)
	return trial
}

// plan makes a mission of a trial, and its estimations.
func (r *Request) plan(trial, plan store.Doc) {
	plan["trial"] = trial["_id"]
	mission := plannedMissions.build(r, plan)
	r.create(plannedMissions, mission)
	r.planEstimations(mission)
	trial["missions"] = append(listOf(trial, "missions"), mission["_id"])
	r.save(trials, trial)
}

// completePlannedMission gives a mission the company of its trial, and checks
// its dates and that its methods estimate for the crop of the trial.
func completePlannedMission(r *Request, given, mission store.Doc) {
	trial := r.get(trials, store.Text(mission, "trial"))
	mission["company"] = trial["company"]
	checkPeriod(mission)
	for _, id := range textsOf(given["estimation_methods"]) {
		method := r.get(estimationMethods, id)
		if !slices.Contains(textsOf(method["crops"]), store.Text(trial, "crop")) {
			panic(wrong("estimation_methods", "method %s is not for the crop of trial %s", id, trial["_id"]))
		}
	}
}

// completeTrial gives a trial the company of its field, and refuses links
// between trials on different fields.
func completeTrial(r *Request, _, doc store.Doc) {
	field := r.get(parcels, store.Text(doc, "field"))
	if doc["company"] == nil {
		doc["company"] = field["company"]
	}
	for _, id := range textsOf(doc["links"]) {
		if any(id) == doc["_id"] {
			panic(wrong("links", "a trial cannot be linked to itself"))
		}
		linked := r.get(trials, id)
		if linked["field"] != doc["field"] {
			panic(wrong("links", "trial %s is on another field, %s", id, linked["field"]))
		}
	}
	if doc["_id"] == nil {
		return
	}
	if other := r.first(trials, store.Doc{"links": doc["_id"], "field": store.Doc{"$ne": doc["field"]}}); other != nil {
		panic(wrong("field", "trial %s is linked to this one and on another field", other["_id"]))
	}
}

// setTerrain sets the raster that holds the heights of a trial's terrain.
func setTerrain(r *Request, trial store.Doc) {
	id := r.text("dataset")
	dataset := r.need(datasets, id, "dataset")
	field := r.get(parcels, store.Text(trial, "field"))
	switch {
	case dataset["type"] != "raster":
		panic(wrong("dataset", "%s is a %s dataset; terrain must be a raster", id, dataset["type"]))
	case dataset["company"] != trial["company"]:
		panic(wrong("dataset", "%s is of another company", id))
	case dataset["project"] != nil && dataset["project"] != field["project"]:
		panic(wrong("dataset", "%s is of another project than the field of the trial", id))
	}
	trial["dtm_dataset"] = id
}
