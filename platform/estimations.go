package platform

import (
	"maps"
	"slices"
	"strings"

	"transect/client/semrange"
	"transect/platform/internal/store"
)

// Estimations of assessment parameters exist for each method of each mission of a trial. Report entries hold
// the resulting values: one for each assessment parameter of each deliverable.
var (
	estimations = &resource{name: "assessment_parameter_estimation", plural: "assessment_parameter_estimations",
		limit: 1000}
	reportEntries = &resource{name: "report_entry", plural: "report_entries"}
)

// The states of an estimation. Its analysis ends when its product does.
const (
	estimationAnalysing = "analysing"
	estimationReported  = "reported"
)

func serveEstimations() {
	for _, t := range []*resource{estimations, reportEntries} {
		t.refs = []ref{{"mission", plannedMissions, cascade}, {"trial", trials, cascade}}
	}
	resources = append(resources, reportEntries)
	serve("assessment_parameters_estimations", estimations, map[string]endpoint{
		"start-analysis-on-ape":  do(estimations.changing(startAnalysis), "collection_task", "survey"),
		"start-reporting-on-ape": do(estimations.changing(startReporting)),
		"export-report-entries":  do(exportReportEntries),
	})
}

// planEstimations creates the missing estimations of a mission, and deletes
// pending ones of methods that the mission no longer has.
func (r *Request) planEstimations(mission store.Doc) {
	methods := listOf(mission, "estimation_methods")
	var existing []any
	for _, doc := range r.all(estimations, store.Doc{"mission": mission["_id"]}) {
		existing = append(existing, doc["estimation_method"])
		if slices.Contains(methods, doc["estimation_method"]) || doc["status"] != statusPending {
			continue
		}
		r.softDelete(estimations, doc)
	}
	for _, method := range methods {
		if slices.Contains(existing, method) {
			continue
		}
		r.create(estimations, store.Doc{
			"company": mission["company"], "trial": mission["trial"], "mission": mission["_id"],
			"estimation_method": method, "status": statusPending,
		})
	}
}

// startAnalysis orders the analytic of an estimation's method. It can be repeated after the product failed.
func startAnalysis(r *Request, estimation store.Doc) {
	r.checkAnalysable(estimation)
	r.chooseSurvey(estimation)
	method := r.get(estimationMethods, store.Text(estimation, "estimation_method"))
	estimation["product"] = r.order(r.orderFor(method, estimation))["_id"]
	estimation["status"] = estimationAnalysing
}

func (r *Request) checkAnalysable(estimation store.Doc) {
	switch estimation["status"] {
	case statusPending:
		return
	case estimationReported:
		panic(conflict("estimation %s is reported already", estimation["_id"]))
	}
	product := r.load(products, store.Text(estimation, "product"))
	switch status := store.Text(product, "status"); status {
	case statusPending, statusRunning:
		panic(conflict("estimation %s is being analysed by product %s", estimation["_id"], product["_id"]))
	case statusAvailable:
		panic(conflict("estimation %s is analysed already; start its reporting", estimation["_id"]))
	}
}

// chooseSurvey sets the survey to analyse: the given one, or the given collection task's.
func (r *Request) chooseSurvey(estimation store.Doc) {
	found := r.resolve([]ref{{"collection_task", tasks, leave}, {"survey", missions, leave}}, r.body)
	for _, ref := range found {
		estimation[ref.key] = ref.doc["_id"]
		if survey := ref.doc["survey"]; ref.to == tasks && survey != nil {
			estimation["survey"] = survey
		}
	}
	checkCompanies(estimation, found)
}

// orderFor returns the order of a method's analytic: its highest version in the method's range, with the
// survey's deliverables as inputs.
func (r *Request) orderFor(method, estimation store.Doc) store.Doc {
	name, versions := store.Text(method, "analytic.name"), store.Text(method, "analytic.version_range")
	if name == "" {
		panic(invalid("estimation method %s has no analytic to order", method["_id"]))
	}
	ids, available := store.Doc{}, []string{}
	for _, doc := range r.all(analytics, store.Doc{"name": name}) {
		version := store.Text(doc, "version")
		ids[version] = doc["_id"]
		available = append(available, version)
	}
	highest, ok := semrange.Highest(available, versions)
	if !ok {
		panic(notFound(analytics.name, strings.TrimSpace(name+" "+versions)))
	}
	order := store.Doc{"analytic": ids[highest], "inputs": r.inputsOf(method, estimation), "estimation": estimation["_id"]}
	if parameters := store.Lookup(method, "analytic.parameters"); parameters != nil {
		order["parameters"] = parameters
	}
	if survey := estimation["survey"]; survey != nil {
		order["mission"] = survey
	}
	return order
}

// inputsOf returns, for each input of an analytic, the survey's deliverable that the method's mapping names.
func (r *Request) inputsOf(method, estimation store.Doc) store.Doc {
	inputs := store.Doc{}
	for input, v := range objectOf(method, "analytic.inputs_mapping") {
		deliverable, _ := v.(string)
		survey := estimation["survey"]
		if survey == nil {
			panic(invalid("survey: is required, or a collection task that has one: the analytic takes %s of it", deliverable))
		}
		if deliverable == surveyImages {
			inputs[input] = survey
			continue
		}
		found := r.all(datasets, store.Doc{"mission": survey, "ingestion.status": statusCompleted,
			"$or": []any{store.Doc{"name": deliverable}, store.Doc{"categories": deliverable}}})
		if len(found) == 0 {
			panic(invalid("survey: %s has no dataset named %s, nor one of that category", survey, deliverable))
		}
		inputs[input] = found[len(found)-1]["_id"]
	}
	return inputs
}

// startReporting creates the report entries of an estimation whose product is available.
func startReporting(r *Request, estimation store.Doc) {
	switch estimation["status"] {
	case statusPending:
		panic(conflict("estimation %s is not analysed yet; start its analysis first", estimation["_id"]))
	case estimationReported:
		panic(conflict("estimation %s is reported already", estimation["_id"]))
	}
	product := r.load(products, store.Text(estimation, "product"))
	if status := product["status"]; status != statusAvailable {
		panic(conflict("the analysis of estimation %s is %s: there is nothing to report", estimation["_id"], status))
	}
	method := r.get(estimationMethods, store.Text(estimation, "estimation_method"))
	mapping := objectOf(method, "analytic.outputs_mapping")
	for _, deliverable := range slices.Sorted(maps.Keys(mapping)) {
		r.report(estimation, product, deliverable, mapping[deliverable].(map[string]any))
	}
	estimation["status"] = estimationReported
}

// report creates the entries of one deliverable. The properties locate the value of each assessment parameter
// in it.
func (r *Request) report(estimation, product store.Doc, deliverable string, properties store.Doc) {
	id, ok := objectOf(product, "deliverables")[deliverable].(string)
	if !ok {
		panic(invalid("outputs_mapping: product %s has no deliverable %s", product["_id"], deliverable))
	}
	found := objectOf(r.load(datasets, id), "properties")
	for _, variable := range slices.Sorted(maps.Keys(properties)) {
		property, _ := properties[variable].(string)
		value, ok := found[property]
		if !ok {
			panic(invalid("outputs_mapping: deliverable %s has no property %s", deliverable, property))
		}
		quantity := r.load(variables, variable)
		r.create(reportEntries, store.Doc{
			"company": estimation["company"], "trial": estimation["trial"], "mission": estimation["mission"],
			"ap_estimation": estimation["_id"], "estimation_method": estimation["estimation_method"],
			"assessment_parameter_variable": variable, "name": quantity["name"],
			"deliverable": deliverable, "dataset": id, "value": value,
		})
	}
}

// exportReportEntries returns all entries that match a filter.
func exportReportEntries(r *Request) any {
	page := must(r.Search(reportEntries.plural, store.Query{Filter: r.object("filter")}))
	return store.Doc{"results": page.Results}
}
