package client

import (
	"encoding/json"

	"github.com/tidwall/gjson"

	"transect/client/declare"
	"transect/client/fault"
)

// AssessmentParametersEstimations are the estimations of assessment parameters
// over the missions of trials.
type AssessmentParametersEstimations struct {
	ExportReportEntries Op[ReportFilter, Listing]                      `read:"export-report-entries" returns:"list of tables, the entries" doc:"Return the report entries of estimations. Filter keys: _id, trial, mission, ap_estimation, creation_date."`
	Search              SearchOp[Query, AssessmentParameterEstimation] `read:"search-assessment-parameter-estimations" page:"0" doc:"Find estimations."`
	StartAnalysisOnAPE  Op[Ref, AssessmentParameterEstimation]         `create:"start-analysis-on-ape" doc:"Start the analysis of an estimation."`
	StartReportingOnAPE Op[Ref, AssessmentParameterEstimation]         `create:"start-reporting-on-ape" doc:"Start the reporting of an estimation."`
}

// Inputs of the operations on assessment parameter estimations.
type (
	ReportFilter struct {
		Filter Filter `arg:"filter,req,pos" doc:"which entries: property to operator object, such as {trial = {[\"$eq\"] = id}}"`
		Extra
	}
)

// Listing is a list of objects that are no resources: they have no id.
type Listing []map[string]any

// Decode reads a list, or the results of an answer that is an object.
func (l *Listing) Decode(v declare.Value) error {
	list := gjson.ParseBytes(v.JSON)
	if list.IsObject() {
		list = list.Get("results")
	}
	if !list.IsArray() || json.Unmarshal([]byte(list.Raw), l) != nil {
		return fault.Of(&fault.QueryError{}, "the answer holds no list of objects")
	}
	return nil
}

// AssessmentParameterEstimation is the estimation of assessment parameters
// over a mission.
type AssessmentParameterEstimation struct {
	Record
	Company          string `json:"company"`
	Trial            string `json:"trial"`
	Mission          string `json:"mission"`
	EstimationMethod string `json:"estimation_method"`
	CollectionTask   string `json:"collection_task"`
	Survey           string `json:"survey"`
	Product          string `json:"product"`
	Status           string `json:"status"` // such as pending
	History
}
