package platform

import (
	"slices"
	"strings"

	"transect/client/semrange"
	"transect/platform/store"
)

// estimations are those of assessment parameters: one for each method of each
// mission of a trial.
var estimations = kind{name: "assessment_parameter_estimation", plural: "assessment_parameter_estimations", limit: 1000}

// The states of an estimation. Its analysis ends when its product does.
const (
	estimationPending   = "pending"
	estimationAnalysing = "analysing"
	estimationReported  = "reported"
)

func estimationRoutes() []route {
	const root = "season-planner/"
	return []route{
		read(root+"search-assessment-parameter-estimations", estimations.search),
		write(root+"start-analysis-on-ape", estimations.setter(startAnalysis)),
		write(root+"start-reporting-on-ape", estimations.setter(startReporting)),
		read(root+"export-report-entries", exportReportEntries),
	}
}

// planEstimations makes the estimations that a mission is missing, and takes
// away those of methods it has no more, unless they were begun.
func (r *Request) planEstimations(mission store.Doc) error {
	planned, err := r.tx.All(estimations.plural, store.Doc{"mission": mission["_id"]})
	if err != nil {
		return err
	}
	methods, _ := mission["estimation_methods"].([]any)
	var there []any
	for _, doc := range planned {
		there = append(there, doc["estimation_method"])
		if slices.Contains(methods, doc["estimation_method"]) || doc["status"] != estimationPending {
			continue
		}
		if err := r.softDelete(estimations, doc); err != nil {
			return err
		}
	}
	for _, method := range methods {
		if slices.Contains(there, method) {
			continue
		}
		err := r.create(estimations, store.Doc{
			"company": mission["company"], "trial": mission["trial"], "mission": mission["_id"],
			"estimation_method": method, "status": estimationPending,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// startAnalysis orders the analytic of an estimation's method. It can be done
// again after the product failed.
func startAnalysis(r *Request, a *args, estimation store.Doc) error {
	if err := r.checkAnalysable(estimation); err != nil {
		return err
	}
	if err := r.chooseSurvey(a, estimation); err != nil {
		return err
	}
	method, err := r.get(estimationMethods, store.Text(estimation, "estimation_method"))
	if err != nil {
		return err
	}
	order, err := r.orderFor(method, estimation)
	if err != nil {
		return err
	}
	ordering := *r
	ordering.body = order
	product, err := orderAnalytic(&ordering)
	if err != nil {
		return err
	}
	r.after = ordering.after
	estimation["product"] = product.(store.Doc)["_id"]
	estimation["status"] = estimationAnalysing
	return nil
}

func (r *Request) checkAnalysable(estimation store.Doc) error {
	switch estimation["status"] {
	case estimationPending:
		return nil
	case estimationReported:
		return conflict("estimation %s is reported already", estimation["_id"])
	}
	product, err := r.tx.Get(products.plural, store.Text(estimation, "product"))
	if err != nil {
		return err
	}
	switch status := store.Text(product, "status"); status {
	case productPending, productRunning:
		return conflict("estimation %s is being analysed by product %s", estimation["_id"], product["_id"])
	case productAvailable:
		return conflict("estimation %s is analysed already; start its reporting", estimation["_id"])
	}
	return nil
}

// chooseSurvey sets the survey whose data is analysed: the one given, or that
// of the collection task given.
func (r *Request) chooseSurvey(a *args, estimation store.Doc) error {
	given := store.Doc{}
	f := &form{args: a, r: r, referred: new([]reference)}
	f.read([]property{{key: "collection_task", rule: ref(tasks)}, {key: "survey", rule: ref(missions)}}, given, creating)
	if a.err != nil {
		return a.err
	}
	for _, ref := range *f.referred {
		estimation[ref.key] = ref.doc["_id"]
		if survey := ref.doc["survey"]; ref.key == "collection_task" && survey != nil && given["survey"] == nil {
			estimation["survey"] = survey
		}
	}
	return f.checkCompanies(estimation)
}

// orderFor makes the order of a method's analytic: its highest version in the
// method's range, with the inputs that the survey has for it.
func (r *Request) orderFor(method, estimation store.Doc) (store.Doc, error) {
	name, versions := store.Text(method, "analytic.name"), store.Text(method, "analytic.version_range")
	if name == "" {
		return nil, invalid("estimation method %s has no analytic to order", method["_id"])
	}
	found, err := r.tx.All(analytics.plural, store.Doc{"name": name})
	if err != nil {
		return nil, err
	}
	ids, known := store.Doc{}, []string{}
	for _, doc := range found {
		version := store.Text(doc, "version")
		ids[version] = doc["_id"]
		known = append(known, version)
	}
	highest, ok := semrange.Highest(known, versions)
	if !ok {
		return nil, notFound(analytics.name, strings.TrimSpace(name+" "+versions))
	}
	inputs, err := r.inputsOf(method, estimation)
	if err != nil {
		return nil, err
	}
	order := store.Doc{"analytic": ids[highest], "inputs": inputs, "estimation": estimation["_id"]}
	if parameters := store.Lookup(method, "analytic.parameters"); parameters != nil {
		order["parameters"] = parameters
	}
	if survey := estimation["survey"]; survey != nil {
		order["mission"] = survey
	}
	return order, nil
}

// inputsOf finds for each input of an analytic the deliverable of the survey
// that the method's mapping names.
func (r *Request) inputsOf(method, estimation store.Doc) (store.Doc, error) {
	inputs := store.Doc{}
	mapping, _ := store.Lookup(method, "analytic.inputs_mapping").(map[string]any)
	for input, v := range mapping {
		deliverable, _ := v.(string)
		survey := estimation["survey"]
		if survey == nil {
			return nil, invalid("survey: is required, or a collection task that has one: the analytic takes %s of it", deliverable)
		}
		if deliverable == surveyImages {
			inputs[input] = survey
			continue
		}
		found, err := r.tx.All(datasets.plural, store.Doc{"mission": survey, "ingestion.status": ingestionCompleted,
			"$or": []any{store.Doc{"name": deliverable}, store.Doc{"categories": deliverable}}})
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, invalid("survey: %s has no dataset named %s, nor one of that category", survey, deliverable)
		}
		inputs[input] = found[len(found)-1]["_id"]
	}
	return inputs, nil
}
