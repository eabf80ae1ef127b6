package platform

import "transect/platform/store"

// seasonRoot is where the assets of season planning are managed.
const seasonRoot = "season-planner/asset-management/"

var (
	crops        = kind{name: "crop", plural: "crops", limit: 1000}
	growthStages = kind{name: "growth_stage", plural: "growth_stages", limit: 1000}
	variables    = kind{name: "assessment_parameter_variable", plural: "assessment_parameter_variables", limit: 1000}
)

// seasonAsset is a resource that a company names.
func seasonAsset(k kind, uses ...use) resource {
	return resource{
		kind: k,
		properties: []property{
			{key: "company", rule: ref(companies), when: atFirst},
			{key: "name", rule: words, when: always},
		},
		unique: []string{"company", "name"},
		uses:   uses,
	}
}

func cropRoutes() []route {
	t := seasonAsset(crops, use{by: trials, key: "crop"}, use{by: estimationMethods, key: "crops"})
	return t.routes(seasonRoot, "crop", write(seasonRoot+"update-crop", t.update()))
}

func growthStageRoutes() []route {
	t := seasonAsset(growthStages,
		use{by: estimationMethods, key: "growth_stages"},
		use{by: plannedMissions, key: "growth_stages_range.from"},
		use{by: plannedMissions, key: "growth_stages_range.to"})
	return t.routes(seasonRoot, "growth-stage", write(seasonRoot+"update-growth-stage", t.update()))
}

func variableRoutes() []route {
	t := seasonAsset(variables)
	t.properties = append(t.properties, property{key: "custom_ids", rule: customIDs})
	return t.routes(seasonRoot, "assessment-parameter-variable",
		write(seasonRoot+"update-assessment-parameter-variable", t.update()))
}

// customIDs takes identifiers of the company's own: a text, a list of texts, or
// an object of texts by system.
func customIDs(f *form, key string) any {
	switch v := f.doc[key].(type) {
	case string:
	case []any:
		f.texts(key)
	case map[string]any:
		inner := within(v, f.at+key)
		for system := range v {
			inner.text(system)
		}
		f.fail(inner.err)
	default:
		f.wrong(key, "must be text, a list of texts or an object of texts")
	}
	return f.doc[key]
}

// parcels are the fields that trials are on.
var parcels = kind{name: "field", plural: "fields", limit: 1000}

func fieldRoutes() []route {
	t := resource{
		kind: parcels,
		properties: []property{
			{key: "company", rule: ref(companies), when: atFirst},
			{key: "project", rule: ref(projects), when: always},
			{key: "name", rule: words, when: always},
			{key: "description", rule: remark},
		},
		unique:   []string{"project", "name"},
		complete: keepTrialsCompany,
		uses:     []use{{by: trials, key: "field"}},
	}
	// The identifiers of a list come under the key of the wanted fields.
	return replaced(t.routes(seasonRoot, "field", write(seasonRoot+"update-field", t.update())),
		seasonRoot+"describe-fields", parcels.describeUnder("fields"))
}

// keepTrialsCompany refuses to give a field to another company than that of
// the trials on it.
func keepTrialsCompany(r *Request, a *args, doc store.Doc) error {
	if doc["_id"] == nil || !a.has("company") {
		return nil
	}
	others, err := r.tx.All(trials.plural, store.Doc{"field": doc["_id"], "company": store.Doc{"$ne": doc["company"]}})
	if err == nil && len(others) > 0 {
		err = conflict("field %s cannot leave its company: trial %s is on it", doc["_id"], others[0]["_id"])
	}
	return err
}
