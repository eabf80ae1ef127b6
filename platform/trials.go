package platform

import (
	"maps"

	"transect/platform/store"
)

// trialRoot is where trials and their missions are managed.
const trialRoot = "season-planner/trial-management/"

var trials = kind{name: "trial", plural: "trials", limit: 5000}

func trialRoutes() []route {
	t := resource{
		kind: trials,
		properties: []property{
			{key: "field", rule: ref(parcels), when: always},
			{key: "name", rule: words, when: atFirst},
			{key: "crop", rule: ref(crops), when: always},
			{key: "comment", rule: remark},
			{key: "season", rule: day},
			{key: "location", rule: trialLocation},
			{key: "links", rule: refs(trials), otherwise: []any{}},
			{key: "custom_id", rule: remark},
			{key: "plots", rule: objectOf(property{key: "location", rule: geoJSONObject, when: always})},
		},
		derived:  []string{"company", "missions", "dtm_dataset"},
		unique:   []string{"field", "season", "name"},
		complete: placeTrial,
		uses: []use{
			{plannedMissions, "trial", cascade}, {estimations, "trial", cascade}, {reportEntries, "trial", cascade},
			{trials, "links", letGo},
		},
	}
	return replaced(t.routes(trialRoot, "trial",
		write(trialRoot+"update-trial", t.update()),
		write(trialRoot+"set-plots-on-trial", t.set("plots")),
		write(trialRoot+"set-dtm-dataset-on-trial", trials.setter(setTerrain))),
		trialRoot+"create-trial", t.createTrial)
}

// createTrial makes a trial and the missions that are planned for it.
func (t resource) createTrial(r *Request) (any, error) {
	a := r.args()
	var planned []any
	if a.has("missions") {
		planned = a.list("missions")
	}
	if a.err != nil {
		return nil, a.err
	}
	body := maps.Clone(r.body)
	delete(body, "missions")
	trial, err := t.build(r, &args{doc: body})
	if err != nil {
		return nil, err
	}
	trial["missions"] = []any{}
	if err := r.create(trials, trial); err != nil {
		return nil, err
	}
	for i, v := range planned {
		at := "missions[" + itoa(i) + "]"
		plan, ok := v.(map[string]any)
		if !ok {
			return nil, invalid("%s: must be an object", at)
		}
		if err := r.plan(trial, plan, at); err != nil {
			return nil, err
		}
	}
	return trial, nil
}

// placeTrial gives a trial the company of its field, and sees to it that linked
// trials are on one field.
func placeTrial(r *Request, a *args, doc store.Doc) error {
	field, err := r.get(parcels, store.Text(doc, "field"))
	if err != nil {
		return err
	}
	if doc["company"] == nil {
		doc["company"] = field["company"]
	}
	links, _ := doc["links"].([]any)
	for _, id := range links {
		if id == doc["_id"] {
			a.wrong("links", "a trial cannot be linked to itself")
			return nil
		}
		linked, err := r.get(trials, id.(string))
		if err != nil {
			return err
		}
		if linked["field"] != doc["field"] {
			a.wrong("links", "trial %s is on another field, %s", id, linked["field"])
		}
	}
	if doc["_id"] == nil {
		return nil
	}
	others, err := r.tx.All(trials.plural, store.Doc{"links": doc["_id"], "field": store.Doc{"$ne": doc["field"]}})
	if err == nil && len(others) > 0 {
		a.wrong("field", "trial %s is linked to this one and on another field", others[0]["_id"])
	}
	return err
}

// setTerrain sets the raster that holds the heights of a trial's terrain.
func setTerrain(r *Request, a *args, trial store.Doc) error {
	id := a.id("dataset")
	if a.err != nil {
		return a.err
	}
	dataset, err := r.need(datasets, id, "dataset")
	if err != nil {
		return err
	}
	field, err := r.get(parcels, store.Text(trial, "field"))
	if err != nil {
		return err
	}
	switch {
	case dataset["type"] != "raster":
		a.wrong("dataset", "%s is a %s dataset; terrain is a raster", id, dataset["type"])
	case dataset["company"] != trial["company"]:
		a.wrong("dataset", "%s is of another company", id)
	case dataset["project"] != nil && dataset["project"] != field["project"]:
		a.wrong("dataset", "%s is of another project than the field of the trial", id)
	}
	trial["dtm_dataset"] = id
	return nil
}

// trialLocation takes a GeoJSON Feature whose geometry is a Polygon, in the
// reference system of its crs.
func trialLocation(f *form, key string) any {
	feature := objectOf(
		property{key: "type", rule: choice("Feature"), when: always},
		property{key: "crs", rule: object},
		property{key: "bbox", rule: numbers},
	)(f, key)
	if f.err != nil {
		return feature
	}
	inner := within(feature.(store.Doc), f.at+key)
	if geometry := inner.geometry("geometry"); inner.err == nil && geometry["type"] != "Polygon" {
		inner.wrong("geometry", "must be a Polygon, not a %s", geometry["type"])
	}
	f.fail(inner.err)
	return feature
}

// geoJSONObject takes a geometry, a Feature or a FeatureCollection.
func geoJSONObject(f *form, key string) any {
	value := f.object(key)
	inner := within(value, f.at+key)
	switch value["type"] {
	case "Feature":
		inner.geometry("geometry")
	case "FeatureCollection":
		for i, v := range inner.list("features") {
			feature, ok := v.(map[string]any)
			if !ok || feature["type"] != "Feature" {
				inner.wrong("features", "element %d must be a Feature", i)
				break
			}
			of := within(feature, inner.at+"features["+itoa(i)+"]")
			of.geometry("geometry")
			if inner.err == nil {
				inner.err = of.err
			}
		}
	default:
		f.geometry(key)
	}
	f.fail(inner.err)
	return value
}
