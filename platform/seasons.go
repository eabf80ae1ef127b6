package platform

import (
	"cmp"
	"slices"

	"transect/client/schema"
	"transect/platform/store"
)

// What seasons are planned with. Fields are those that trials are on.
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

// checkTrialsCompany refuses to give a field to another company than that of
// the trials on it.
func checkTrialsCompany(r *Request, given, doc store.Doc) {
	if doc["_id"] == nil || given["company"] == nil {
		return
	}
	if trial := r.first(trials, store.Doc{"field": doc["_id"],
		"company": store.Doc{"$ne": doc["company"]}}); trial != nil {
		panic(conflict("field %s cannot change its company: trial %s is on it", doc["_id"], trial["_id"]))
	}
}

// completeMethod makes the first company of a method the one it is found by,
// and checks the variables that its outputs are for.
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

// surveyImages is the deliverable that is the survey itself, as it was flown.
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

// listDeliverables answers with what a task can deliver with a type of sensor.
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
