package platform

import (
	"cmp"
	"slices"

	"transect/client/schema"
	"transect/platform/internal/store"
)

// The inputs of season planning. Fields are the sites of trials.
var (
	crops        = &resource{name: "crop", plural: "crops", limit: 1000}
	growthStages = &resource{name: "growth_stage", plural: "growth_stages", limit: 1000}
	variables    = &resource{name: "assessment_parameter_variable", plural: "assessment_parameter_variables",
		limit: 1000}
	parcels           = &resource{name: "field", plural: "fields", limit: 1000}
	estimationMethods = &resource{name: "estimation_method", plural: "estimation_methods", limit: 1000}
)

func serveSeasons() {
	for _, asset := range []*resource{crops, growthStages, variables} {
		asset.refs = []ref{{"company", companies, leave}}
		asset.unique = []string{"company", "name"}
	}
	// identifiers of the company's own: a text, a list of texts, or texts by system
	variables.rules = fields{{Name: "custom_ids", Type: "string|[]word|{}word"}}

	parcels.refs = []ref{{"company", companies, leave}, {"project", projects, leave}}
	parcels.unique = []string{"project", "name"}
	parcels.complete = checkTrialsCompany

	estimationMethods.refs = []ref{{"companies", companies, leave}, {"crops", crops, refuse},
		{"growth_stages", growthStages, refuse}}
	estimationMethods.derived = []string{"company"}
	estimationMethods.unique = []string{"company", "name"}
	estimationMethods.defaults = store.Doc{"status": "development", "growth_stages": []any{}}
	estimationMethods.complete = completeMethod
	estimationMethods.rules = append(distinct("companies", "crops", "growth_stages"),
		schema.Param{Name: "analytic", Type: "object", Fields: optional(fields{
			{Name: "name", Type: "word"}, {Name: "version_range", Type: "range"}, {Name: "parameters", Type: "object"},
			{Name: "inputs_mapping", Type: "{}word"},
			// by deliverable: the property that holds each assessment parameter's value
			{Name: "outputs_mapping", Type: "{}{}word"},
		})})

	serve("crops", crops, nil)
	serve("growth_stages", growthStages, nil)
	serve("assessment_parameters_variables", variables, nil)
	serve("fields", parcels, nil)
	serve("estimation_methods", estimationMethods,
		map[string]endpoint{"list-deliverable-definitions": do(listDeliverables)})
}

// checkTrialsCompany refuses to move a field to a company other than its trials'.
func checkTrialsCompany(r *Request, given, doc store.Doc) {
	if doc["_id"] == nil || given["company"] == nil {
		return
	}
	if trial := r.first(trials, store.Doc{"field": doc["_id"],
		"company": store.Doc{"$ne": doc["company"]}}); trial != nil {
		panic(conflict("field %s cannot change its company: trial %s is on it", doc["_id"], trial["_id"]))
	}
}

// completeMethod sets a method's company, which searches match, to the first of its companies, and checks the
// variables that its outputs are for.
func completeMethod(r *Request, _, doc store.Doc) {
	list := listOf(doc, "companies")
	if len(list) == 0 {
		panic(wrong("companies", "must name at least one"))
	}
	doc["company"] = list[0]
	if kind := store.Lookup(doc, "input_data_requirements.gcp.type"); kind != nil {
		checkAs("word", "input_data_requirements.gcp.type", kind)
	}
	for deliverable, properties := range objectOf(doc, "analytic.outputs_mapping") {
		key := "analytic.outputs_mapping." + deliverable
		for id := range properties.(map[string]any) {
			if !schema.IsID(id) {
				panic(wrong(key, "%q is not the identifier of an assessment parameter variable", id))
			}
			r.need(variables, id, key)
		}
	}
}

// deliverableDefinition is something that a collection task can deliver.
type deliverableDefinition struct {
	name, title, kind string   // kind is the type of its dataset
	purpose           string   // of the task
	sensors           []string // types of sensor it can be made with
}

// surveyImages is the deliverable that consists of the survey's own images.
const surveyImages = "images"

var deliverableDefinitions = []deliverableDefinition{
	{"orthomosaic", "Orthomosaic", "raster", "mapping", []string{"rgb"}},
	{"reflectance_map", "Reflectance map", "raster", "mapping", []string{"ms", "hs"}},
	{"digital_surface_model", "Digital surface model", "raster", "mapping", []string{"rgb", "ms", "lidar"}},
	{"digital_terrain_model", "Digital terrain model", "raster", "mapping", []string{"rgb", "lidar"}},
	{"point_cloud", "Point cloud", "pcl", "3d-modeling", []string{"rgb", "lidar"}},
	{"mesh", "Textured mesh", "mesh", "3d-modeling", []string{"rgb"}},
	{surveyImages, "Images", "image", "raw", []string{"rgb", "ms", "hs"}},
	{"raw_point_cloud", "Raw point cloud", "pcl", "raw", []string{"lidar"}},
}

// listDeliverables returns what a task can deliver with a type of sensor.
func listDeliverables(r *Request) any {
	sensor, purpose := r.text("sensor_type"), cmp.Or(r.text("task_purpose"), "mapping")
	list := []store.Doc{}
	for _, d := range deliverableDefinitions {
		if d.purpose == purpose && slices.Contains(d.sensors, sensor) {
			list = append(list, store.Doc{"name": d.name, "display_name": d.title, "type": d.kind,
				"task_purpose": purpose, "sensor_type": sensor})
		}
	}
	return list
}

// Trials, and the missions planned for them. Planned missions share only the name with the missions of
// projects.
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

// makeTrial creates a trial and its planned missions.
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

// addMissionToTrial plans a mission and returns its trial.
func addMissionToTrial(r *Request) any {
	trial := r.need(trials, r.text("trial"), "trial")
	r.plan(trial, r.body)
	return trial
}

// plan creates a mission of a trial, and its estimations.
func (r *Request) plan(trial, plan store.Doc) {
	plan["trial"] = trial["_id"]
	mission := plannedMissions.build(r, plan)
	r.create(plannedMissions, mission)
	r.planEstimations(mission)
	trial["missions"] = append(listOf(trial, "missions"), mission["_id"])
	r.save(trials, trial)
}

// completePlannedMission sets a mission's company to its trial's, and checks its dates and that its methods
// apply to the trial's crop.
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

// completeTrial sets a trial's company to its field's, and refuses links between trials on different fields.
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

// setTerrain sets the elevation raster of a trial's terrain.
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
