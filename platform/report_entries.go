package platform

import (
	"maps"
	"slices"

	"transect/platform/store"
)

// reportEntries are the values that estimations came to: one for each
// assessment parameter of each deliverable.
var reportEntries = kind{name: "report_entry", plural: "report_entries"}

// startReporting makes the report entries of an estimation whose product is
// available.
func startReporting(r *Request, _ *args, estimation store.Doc) error {
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
	a := r.args()
	filter := a.object("filter")
	if a.err != nil {
		return nil, a.err
	}
	page, err := r.tx.Search(reportEntries.plural, store.Query{Filter: filter, Limit: -1, NoTotal: true})
	return store.Doc{"results": page.Results}, err
}
