package platform

import (
	"maps"
	"slices"
	"strings"

	"transect/client/semrange"
	"transect/platform/store"
)

// Estimations are those of assessment parameters: one for each method of each
// mission of a trial. Report entries are the values they came to: one for each
// assessment parameter of each deliverable.
var (
	estimations   = &resource{name: "assessment_parameter_estimation", plural: "assessment_parameter_estimations", limit: 1000}
	reportEntries = &resource{name: "report_entry", plural: "report_entries"}
)

// The states of an estimation. Its analysis ends when its product does.
const (
	estimationPending   = "pending"
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
func (r *Request) planEstimations(mission store.Doc) error {
	planned, err := r.tx.All(estimations.plural, store.Doc{"mission": mission["_id"]})
	if err != nil {
		return err
	}
	methods, _ := mission["estimation_methods"].([]any)
	var existing []any
	for _, doc := range planned {
		existing = append(existing, doc["estimation_method"])
		if slices.Contains(methods, doc["estimation_method"]) || doc["status"] != estimationPending {
			continue
		}
		if err := r.softDelete(estimations, doc); err != nil {
			return err
		}
	}
	for _, method := range methods {
		if slices.Contains(existing, method) {
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
func startAnalysis(r *Request, estimation store.Doc) error {
	if err := r.checkAnalysable(estimation); err != nil {
		return err
	}
	if err := r.chooseSurvey(estimation); err != nil {
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
	product, err := r.order(order)
	if err != nil {
		return err
	}
	estimation["product"] = product["_id"]
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
func (r *Request) chooseSurvey(estimation store.Doc) error {
	chosen := &resource{refs: []ref{{"collection_task", tasks, leave}, {"survey", missions, leave}}}
	found, err := chosen.resolve(r, r.body)
	if err != nil {
		return err
	}
	for _, ref := range found {
		estimation[ref.key] = ref.doc["_id"]
		if survey := ref.doc["survey"]; ref.to == tasks && survey != nil {
			estimation["survey"] = survey
		}
	}
	return checkCompanies(estimation, found)
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

// startReporting makes the report entries of an estimation whose product is
// available.
func startReporting(r *Request, estimation store.Doc) error {
	switch estimation["status"] {
	case estimationPending:
		return conflict("estimation %s is not analysed yet; start its analysis first", estimation["_id"])
	case estimationReported:
		return conflict("estimation %s is reported already", estimation["_id"])
	}
	product, err := r.tx.Get(products.plural, store.Text(estimation, "product"))
	if err != nil {
		return err
	}
	if status := product["status"]; status != productAvailable {
		return conflict("the analysis of estimation %s is %s: there is nothing to report", estimation["_id"], status)
	}
	method, err := r.get(estimationMethods, store.Text(estimation, "estimation_method"))
	if err != nil {
		return err
	}
	mapping, _ := store.Lookup(method, "analytic.outputs_mapping").(map[string]any)
	for _, deliverable := range slices.Sorted(maps.Keys(mapping)) {
		properties, _ := mapping[deliverable].(map[string]any)
		if err := r.report(estimation, product, deliverable, properties); err != nil {
			return err
		}
	}
	estimation["status"] = estimationReported
	return nil
}

// report makes the entries of one deliverable. The properties say where in it
// the value of each assessment parameter is.
func (r *Request) report(estimation, product store.Doc, deliverable string, properties store.Doc) error {
	made, _ := product["deliverables"].(map[string]any)
	id, ok := made[deliverable].(string)
	if !ok {
		return invalid("outputs_mapping: product %s has no deliverable %s", product["_id"], deliverable)
	}
	dataset, err := r.tx.Get(datasets.plural, id)
	if err != nil {
		return err
	}
	found, _ := dataset["properties"].(map[string]any)
	for _, variable := range slices.Sorted(maps.Keys(properties)) {
		property, _ := properties[variable].(string)
		value, ok := found[property]
		if !ok {
			return invalid("outputs_mapping: deliverable %s has no property %s", deliverable, property)
		}
		quantity, err := r.tx.Get(variables.plural, variable)
		if err != nil {
			return err
		}
		err = r.create(reportEntries, store.Doc{
			"company": estimation["company"], "trial": estimation["trial"], "mission": estimation["mission"],
			"ap_estimation": estimation["_id"], "estimation_method": estimation["estimation_method"],
			"assessment_parameter_variable": variable, "name": quantity["name"],
			"deliverable": deliverable, "dataset": id, "value": value,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// exportReportEntries answers with all the entries that pass a filter.
func exportReportEntries(r *Request) (any, error) {
	page, err := r.tx.Search(reportEntries.plural, store.Query{Filter: r.object("filter"), Limit: -1, NoTotal: true})
	return store.Doc{"results": page.Results}, err
}
