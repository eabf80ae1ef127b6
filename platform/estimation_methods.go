package platform

import (
	"transect/client/semrange"
	"transect/platform/store"
)

var estimationMethods = kind{name: "estimation_method", plural: "estimation_methods", limit: 1000}

func estimationMethodRoutes() []route {
	t := resource{
		kind: estimationMethods,
		properties: []property{
			{key: "name", rule: words, when: atFirst},
			{key: "companies", rule: oneOrMore(companies), when: atFirst},
			{key: "input_data_requirements", rule: dataRequirements, when: atFirst},
			{key: "crops", rule: refs(crops), when: always},
			{key: "description", rule: remark},
			{key: "status", rule: choice("development", "validated"), otherwise: "development"},
			{key: "analytic", rule: methodAnalytic},
			{key: "growth_stages", rule: refs(growthStages), otherwise: []any{}},
		},
		derived:  []string{"company"},
		unique:   []string{"company", "name"},
		complete: setFirstCompany,
		uses:     []use{{by: plannedMissions, key: "estimation_methods"}},
	}
	return t.routes(seasonRoot, "estimation-method",
		write(seasonRoot+"update-estimation-method", t.update()),
		read(seasonRoot+"list-deliverable-definitions", listDeliverables))
}

// oneOrMore takes an identifier or a list of some, and keeps a list.
func oneOrMore(k kind) rule {
	return func(f *form, key string) any {
		if _, one := f.doc[key].(string); one {
			return []any{ref(k)(f, key)}
		}
		list := refs(k)(f, key).([]any)
		if len(list) == 0 {
			f.wrong(key, "must name at least one")
		}
		return list
	}
}

// setFirstCompany makes the first of the companies the one a method is found by.
func setFirstCompany(_ *Request, _ *args, doc store.Doc) error {
	doc["company"] = doc["companies"].([]any)[0]
	return nil
}

// captureTypes are the types of sensors that estimations take data of.
var captureTypes = []string{"hs", "lidar", "ms", "rgb"}

// dataRequirements takes what a method wants of its data.
var dataRequirements = objectOf(
	property{key: "sensor_type", rule: choice(captureTypes...)},
	property{key: "carrier_type", rule: anything},
	property{key: "bands", rule: bands},
	property{key: "gsd", rule: quantity()},
	property{key: "overlap", rule: overlap},
	property{key: "speed", rule: quantity()},
	property{key: "ppk_rtk", rule: objectOf(property{key: "use", rule: flag})},
	property{key: "calibration", rule: objectOf(property{key: "use", rule: flag})},
	property{key: "gcp", rule: objectOf(property{key: "type", rule: remark})},
)

// methodAnalytic takes the analytic a method orders, and how its inputs and
// deliverables are to be understood.
var methodAnalytic = objectOf(
	property{key: "name", rule: words},
	property{key: "version_range", rule: versionRange},
	property{key: "parameters", rule: object},
	property{key: "inputs_mapping", rule: textsByKey},
	property{key: "outputs_mapping", rule: outputsMapping},
)

func versionRange(f *form, key string) any {
	text := f.optText(key)
	if _, err := semrange.Parse(text); err != nil {
		f.wrong(key, "%q is no range of versions", text)
	}
	return text
}

// textsByKey takes an object of texts.
func textsByKey(f *form, key string) any {
	texts := f.optObject(key)
	inner := within(texts, f.at+key)
	for name := range texts {
		inner.text(name)
	}
	f.fail(inner.err)
	return texts
}

// outputsMapping takes by deliverable an object that says for each assessment
// parameter in which property of the deliverable its value is.
func outputsMapping(f *form, key string) any {
	mapping := f.optObject(key)
	inner := &form{args: within(mapping, f.at+key), r: f.r, referred: f.referred}
	for deliverable := range mapping {
		for id := range inner.optObject(deliverable) {
			if !store.IsID(id) {
				inner.wrong(deliverable, "%q is not an identifier of an assessment parameter variable", id)
			}
			if inner.err == nil {
				inner.refer(variables, deliverable, []string{id})
			}
		}
		textsByKey(inner, deliverable)
	}
	f.fail(inner.err)
	return mapping
}
