package client

import (
	"encoding/json"

	"github.com/tidwall/gjson"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/semrange"
)

// EstimationMethods describe how assessment parameters are estimated: from what
// data, for which crops, by which analytic.
type EstimationMethods struct {
	Create                      Op[CreateEstimationMethod, EstimationMethod] `create:"create-estimation-method" unknown:"key company,name" doc:"Create an estimation method."`
	Delete                      Op[Ref, None]                                `delete:"delete-estimation-method" doc:"Delete an estimation method."`
	Describe                    Op[Refs, Some[EstimationMethod]]             `read:"describe-estimation-method|describe-estimation-methods" chunk:"1000" doc:"Describe one estimation method or a list of estimation methods."`
	ListDeliverablesDefinitions Op[DeliverablesQuery, Listing]               `read:"list-deliverable-definitions" returns:"list of tables, the definitions" doc:"List what collection tasks can deliver with a type of sensor."`
	Search                      SearchOp[Query, EstimationMethod]            `read:"search-estimation-methods" page:"0" served:"1000" filters:"_id|company|creation_date|modification_date|deletion_date|name" doc:"Find estimation methods."`
	Update                      Op[UpdateEstimationMethod, EstimationMethod] `set:"update-estimation-method" doc:"Change an estimation method. What is not given stays."`
}

// Inputs of the estimation method operations.
type (
	CreateEstimationMethod struct {
		Name         string           `arg:"name,req" doc:"name of the method"`
		Companies    IDs              `arg:"companies,req" set:"yes" wrap:"yes" doc:"company, or a list of companies, that may use it"`
		Requirements DataRequirements `arg:"input_data_requirements,req" doc:"data it needs: {sensor_type, carrier_type, bands, gsd, overlap, speed, ppk_rtk, calibration, gcp}"`
		Crops        []ID             `arg:"crops,req" set:"yes" doc:"crops it is for"`
		EstimationDetails
	}
	UpdateEstimationMethod struct {
		EstimationMethod ID                `arg:"estimation_method,req" doc:"estimation method"`
		Crops            []ID              `arg:"crops,req" set:"yes" doc:"crops it is for"`
		Name             string            `arg:"name" doc:"new name"`
		Companies        IDs               `arg:"companies" set:"yes" wrap:"yes" doc:"company, or a list of companies, that may use it"`
		Requirements     *DataRequirements `arg:"input_data_requirements" doc:"data it needs: {sensor_type, carrier_type, bands, gsd, overlap, speed, ppk_rtk, calibration, gcp}"`
		EstimationDetails
	}
	EstimationDetails struct {
		Description  string          `arg:"description" doc:"what it does"`
		Status       string          `arg:"status" choices:"development|validated" doc:"how far it is"`
		Analytic     *MethodAnalytic `arg:"analytic" doc:"analytic it orders: {name, version_range, inputs_mapping, parameters, outputs_mapping}"`
		GrowthStages []ID            `arg:"growth_stages" set:"yes" doc:"growth stages it is for"`
		Extra
	}
	DeliverablesQuery struct {
		SensorType  string `arg:"sensor_type,req" choices:"hs|lidar|ms|rgb" doc:"type of the sensor"`
		TaskPurpose string `arg:"task_purpose" default:"mapping" choices:"mapping|3d-modeling|raw" doc:"what the data is collected for"`
		Extra
	}
	// DataRequirements are a method's requirements for its data.
	DataRequirements struct {
		SensorType  string    `arg:"sensor_type" choices:"hs|lidar|ms|rgb" doc:"type of the sensor"`
		CarrierType any       `arg:"carrier_type" doc:"type of the carrier"`
		Bands       []Band    `arg:"bands" doc:"bands, each {name, full_width_half_maximum, central_wavelength}, in nanometres"`
		GSD         *Quantity `arg:"gsd" doc:"ground sampling distance, {value, unit}"`
		Overlap     *Overlap  `arg:"overlap" doc:"overlap of images, {forward, lateral}"`
		Speed       *Quantity `arg:"speed" doc:"speed of the carrier, {value, unit}"`
		PPKRTK      *Usage    `arg:"ppk_rtk" doc:"precise positioning, {use}"`
		Calibration *Usage    `arg:"calibration" doc:"calibration of the sensor, {use}"`
		GCP         Object    `arg:"gcp" doc:"ground control points, {type}"`
	}
	// Usage is whether something is used.
	Usage struct {
		Use *bool `arg:"use" doc:"true when it is used"`
	}
	// MethodAnalytic is the analytic a method orders.
	MethodAnalytic struct {
		Name           string `arg:"name" doc:"name of the analytic"`
		InputsMapping  Object `arg:"inputs_mapping" doc:"input of the analytic to name of a collection task's deliverable"`
		Parameters     Object `arg:"parameters" doc:"parameters by name"`
		OutputsMapping Object `arg:"outputs_mapping" doc:"deliverable of the analytic to table of assessment parameter to property of the deliverable"`
		VersionRange   string `arg:"version_range" doc:"versions of the analytic, such as 1.x"`
	}
)

// Validate rejects an invalid range of versions.
func (in MethodAnalytic) Validate() error {
	if _, err := semrange.Parse(in.VersionRange); err != nil {
		return fault.Of(&fault.ParameterError{}, "version_range: %w", err)
	}
	return nil
}

// EstimationMethod describes how assessment parameters are estimated.
type EstimationMethod struct {
	Record                `doc:"Way to estimate assessment parameters."`
	Name                  string          `json:"name" doc:"name of the method"`
	Company               string          `json:"company" type:"id" doc:"company that owns it"`
	Companies             []string        `json:"companies" type:"[]id" doc:"companies that may use it"`
	InputDataRequirements json.RawMessage `json:"input_data_requirements" type:"table" doc:"data it needs: {sensor_type, carrier_type, bands, gsd, overlap, speed, ppk_rtk, calibration, gcp}"`
	Crops                 []string        `json:"crops" type:"[]id" doc:"crops it is for"`
	Description           string          `json:"description" doc:"what it does"`
	Status                string          `json:"status" choices:"development|validated" doc:"how far it is"`
	Analytic              json.RawMessage `json:"analytic" type:"table" doc:"analytic it orders: {name, version_range, inputs_mapping, parameters, outputs_mapping}"`
	GrowthStages          []string        `json:"growth_stages" type:"[]id" doc:"growth stages it is for"`
	History
}

// AssessmentParametersEstimations are the estimations of assessment parameters
// over the missions of trials.
type AssessmentParametersEstimations struct {
	ExportReportEntries Op[ReportFilter, Listing]                      `read:"export-report-entries" returns:"list of tables, the entries" doc:"Return the report entries of estimations. Filter keys: _id, trial, mission, ap_estimation, creation_date."`
	Search              SearchOp[Query, AssessmentParameterEstimation] `read:"search-assessment-parameter-estimations" page:"0" served:"1000" filters:"_id|company|creation_date|modification_date|deletion_date|trial|mission|estimation_method|collection_task|survey|product|status" doc:"Find estimations."`
	StartAnalysisOnAPE  Op[Ref, AssessmentParameterEstimation]         `create:"start-analysis-on-ape" unknown:"probe product=new" does:"change|products.create" doc:"Start the analysis of an estimation."`
	StartReportingOnAPE Op[Ref, AssessmentParameterEstimation]         `create:"start-reporting-on-ape" unknown:"probe status=reported" does:"change" doc:"Start the reporting of an estimation."`
}

// Inputs of the operations on assessment parameter estimations.
type (
	ReportFilter struct {
		Filter Filter `arg:"filter,req,pos" doc:"conditions on the entries: property to operator object, such as {trial = {[\"$eq\"] = id}}"`
		Extra
	}
)

// Listing is a list of objects without an id, which are not resources.
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
	Record           `doc:"Estimation of assessment parameters over a mission."`
	Company          string `json:"company" type:"id" doc:"company it belongs to"`
	Trial            string `json:"trial" type:"id" doc:"trial"`
	Mission          string `json:"mission" type:"id" doc:"planned mission"`
	EstimationMethod string `json:"estimation_method" type:"id" doc:"estimation method"`
	CollectionTask   string `json:"collection_task" type:"id" doc:"collection task"`
	Survey           string `json:"survey" type:"id" doc:"survey"`
	Product          string `json:"product" type:"id" doc:"product that was ordered"`
	Status           string `json:"status" doc:"state, such as pending"`
	History
}
