package platform

import (
	"slices"

	"transect/platform/store"
)

// Trials, and the missions planned for them. The latter have nothing to do
// with the missions of projects but their name.
var (
	trials          = &resource{name: "trial", plural: "trials", limit: 5000, unique: []string{"field", "season", "name"}}
	plannedMissions = &resource{name: "mission", plural: "season_planner_missions", limit: 5000}
)

func serveTrials() {
	trials.refs = []ref{{"field", parcels, refuse}, {"crop", crops, refuse}, {"links", trials, unlink}, {"missions", plannedMissions, unlink}}
	trials.rules = map[string]rule{"season": day, "links": distinct, "custom_id": anyText,
		"location": trialLocation, "plots": object(fields{"location": geoJSON}, "location")}
	trials.derived = []string{"company", "missions", "dtm_dataset"}
	trials.defaults = store.Doc{"links": []any{}, "missions": []any{}}
	trials.complete = completeTrial

	plannedMissions.refs = []ref{{"trial", trials, cascade}, {"estimation_methods", estimationMethods, refuse},
		{"growth_stages_range.from", growthStages, refuse}, {"growth_stages_range.to", growthStages, refuse}}
	plannedMissions.rules = map[string]rule{"start_date": day, "end_date": day, "estimation_methods": distinct,
		"growth_stages_range": object(nil)}
	plannedMissions.fixed = []string{"trial"}
	plannedMissions.derived = []string{"company"}
	plannedMissions.defaults = store.Doc{"estimation_methods": []any{}}
	plannedMissions.complete = completePlannedMission

	serve("trials", trials, map[string]endpoint{
		"create-trial":             do(createTrial, "*"),
		"set-dtm-dataset-on-trial": do(trials.changing(setTerrain)),
	})
	serve("season_planner_missions", plannedMissions, map[string]endpoint{
		"add-mission-to-trial": do(addMissionToTrial, "*"),
		"update-mission": do(plannedMissions.changing(func(r *Request, mission store.Doc) error {
			if err := plannedMissions.fill(r, r.body, mission); err != nil {
				return err
			}
			return r.planEstimations(mission)
		}), "*"),
	})
}

// createTrial makes a trial and the missions that are planned for it.
func createTrial(r *Request) (any, error) {
	planned, _ := r.body["missions"].([]any)
	delete(r.body, "missions")
	trial, err := trials.build(r, r.body)
	if err != nil {
		return nil, err
	}
	if err := r.create(trials, trial); err != nil {
		return nil, err
	}
	for i, plan := range planned {
		if err := r.plan(trial, plan.(map[string]any)); err != nil {
			return nil, inElement(err, "missions", i)
		}
	}
	return trial, nil
}

// addMissionToTrial plans a mission and answers with its trial.
func addMissionToTrial(r *Request) (any, error) {
	trial, err := r.need(trials, r.text("trial"), "trial")
	if err != nil {
		return nil, err
	}
	return trial, r.plan(trial, r.body)
}

// plan makes a mission of a trial, and its estimations.
func (r *Request) plan(trial, plan store.Doc) error {
	plan["trial"] = trial["_id"]
	mission, err := plannedMissions.build(r, plan)
	if err != nil {
		return err
	}
	if err := r.create(plannedMissions, mission); err != nil {
		return err
	}
	if err := r.planEstimations(mission); err != nil {
		return err
	}
	list, _ := trial["missions"].([]any)
	trial["missions"] = append(slices.Clone(list), mission["_id"])
	return r.save(trials, trial)
}

// completePlannedMission gives a mission the company of its trial, and checks
// its dates and that its methods estimate for the crop of the trial.
func completePlannedMission(r *Request, given, mission store.Doc) error {
	trial, err := r.get(trials, store.Text(mission, "trial"))
	if err != nil {
		return err
	}
	mission["company"] = trial["company"]
	if err := checkPeriod("", mission); err != nil {
		return err
	}
	for _, id := range textsOf(given["estimation_methods"]) {
		method, err := r.get(estimationMethods, id)
		if err != nil {
			return err
		}
		if !slices.Contains(textsOf(method["crops"]), store.Text(trial, "crop")) {
			return wrong("estimation_methods", "method %s is not for the crop of trial %s", id, trial["_id"])
		}
	}
	return nil
}

// completeTrial gives a trial the company of its field, and refuses links
// between trials on different fields.
func completeTrial(r *Request, _, doc store.Doc) error {
	field, err := r.get(parcels, store.Text(doc, "field"))
	if err != nil {
		return err
	}
	if doc["company"] == nil {
		doc["company"] = field["company"]
	}
	for _, id := range textsOf(doc["links"]) {
		if any(id) == doc["_id"] {
			return wrong("links", "a trial cannot be linked to itself")
		}
		linked, err := r.get(trials, id)
		if err != nil {
			return err
		}
		if linked["field"] != doc["field"] {
			return wrong("links", "trial %s is on another field, %s", id, linked["field"])
		}
	}
	if doc["_id"] == nil {
		return nil
	}
	other, err := r.first(trials, store.Doc{"links": doc["_id"], "field": store.Doc{"$ne": doc["field"]}})
	if other != nil {
		return wrong("field", "trial %s is linked to this one and on another field", other["_id"])
	}
	return err
}

// setTerrain sets the raster that holds the heights of a trial's terrain.
func setTerrain(r *Request, trial store.Doc) error {
	id := r.text("dataset")
	dataset, err := r.need(datasets, id, "dataset")
	if err != nil {
		return err
	}
	field, err := r.get(parcels, store.Text(trial, "field"))
	switch {
	case err != nil:
		return err
	case dataset["type"] != "raster":
		return wrong("dataset", "%s is a %s dataset; terrain must be a raster", id, dataset["type"])
	case dataset["company"] != trial["company"]:
		return wrong("dataset", "%s is of another company", id)
	case dataset["project"] != nil && dataset["project"] != field["project"]:
		return wrong("dataset", "%s is of another project than the field of the trial", id)
	}
	trial["dtm_dataset"] = id
	return nil
}

// trialLocation accepts a GeoJSON Feature whose geometry is a Polygon, in the
// reference system of its crs.
func trialLocation(key string, v any) error {
	err := object(fields{"type": oneOf("Feature"), "crs": object(nil), "bbox": list(anyNumber), "geometry": geometry},
		"type", "geometry")(key, v)
	if kind := store.Lookup(store.Doc{"": v}, ".geometry.type"); err == nil && kind != "Polygon" {
		return wrong(key+".geometry", "must be a Polygon, not a %s", kind)
	}
	return err
}

// geoJSON accepts a geometry, a Feature or a FeatureCollection.
func geoJSON(key string, v any) error {
	feature := object(fields{"type": oneOf("Feature"), "geometry": geometry}, "type", "geometry")
	value, _ := v.(map[string]any)
	switch value["type"] {
	case "Feature":
		return feature(key, v)
	case "FeatureCollection":
		return object(fields{"features": list(feature)}, "features")(key, v)
	}
	return geometry(key, v)
}
