package client

import (
	"encoding/json"

	"transect/client/fault"
)

// Crops are the plants that trials grow.
type Crops struct {
	Create   Op[CreateSeasonAsset, Crop] `create:"create-crop" unknown:"key company,name" doc:"Create a crop."`
	Delete   Op[Ref, None]               `delete:"delete-crop" doc:"Delete a crop."`
	Describe Op[Refs, Some[Crop]]        `read:"describe-crop|describe-crops" chunk:"1000" doc:"Describe one crop or a list of crops."`
	Search   SearchOp[Query, Crop]       `read:"search-crops" page:"0" served:"1000" filters:"_id|company|creation_date|modification_date|deletion_date|name" doc:"Find crops."`
	Update   Op[UpdateSeasonAsset, Crop] `set:"update-crop" doc:"Rename a crop, or give it to another company."`
}

// Inputs of the crop operations.
type (
	// CreateSeasonAsset creates what is a company's and has a name.
	CreateSeasonAsset struct {
		Company ID     `arg:"company,req" doc:"company it belongs to"`
		Name    string `arg:"name,req" doc:"its name"`
		Extra
	}
	// UpdateSeasonAsset changes what CreateSeasonAsset creates.
	UpdateSeasonAsset struct {
		ID      ID     `arg:"@,req" doc:"@"`
		Name    string `arg:"name,req" doc:"its name, the old one or a new one"`
		Company ID     `arg:"company" doc:"company it belongs to from now on"`
		Extra
	}
)

// Crop is a plant that trials grow.
type Crop struct {
	Record  `doc:"Plant that trials grow."`
	Company string `json:"company" type:"id" doc:"company it belongs to"`
	Name    string `json:"name" doc:"its name"`
	History
}

// GrowthStages are the steps in the growth of crops.
type GrowthStages struct {
	Create   Op[CreateSeasonAsset, GrowthStage] `create:"create-growth-stage" unknown:"key company,name" doc:"Create a growth stage."`
	Delete   Op[Ref, None]                      `delete:"delete-growth-stage" doc:"Delete a growth stage."`
	Describe Op[Refs, Some[GrowthStage]]        `read:"describe-growth-stage|describe-growth-stages" chunk:"1000" doc:"Describe one growth stage or a list of growth stages."`
	Search   SearchOp[Query, GrowthStage]       `read:"search-growth-stages" page:"0" doc:"Find growth stages."`
	Update   Op[UpdateSeasonAsset, GrowthStage] `set:"update-growth-stage" doc:"Rename a growth stage, or give it to another company."`
}

// GrowthStage is a step in the growth of crops.
type GrowthStage struct {
	Record  `doc:"Step in the growth of crops."`
	Company string `json:"company" type:"id" doc:"company it belongs to"`
	Name    string `json:"name" doc:"its name"`
	History
}

// AssessmentParametersVariables are the quantities that estimations assess.
type AssessmentParametersVariables struct {
	Create   Op[CreateSeasonAsset, AssessmentParameterVariable]                 `create:"create-assessment-parameter-variable" unknown:"key company,name" doc:"Create a variable."`
	Delete   Op[Ref, None]                                                      `delete:"delete-assessment-parameter-variable" doc:"Delete a variable."`
	Describe Op[Refs, Some[AssessmentParameterVariable]]                        `read:"describe-assessment-parameter-variable|describe-assessment-parameter-variables" chunk:"1000" doc:"Describe one variable or a list of variables."`
	Search   SearchOp[Query, AssessmentParameterVariable]                       `read:"search-assessment-parameter-variables" page:"0" doc:"Find variables."`
	Update   Op[UpdateAssessmentParameterVariable, AssessmentParameterVariable] `set:"update-assessment-parameter-variable" doc:"Set name, company and identifiers of your own of a variable."`
}

// Inputs of the operations on assessment parameter variables.
type (
	UpdateAssessmentParameterVariable struct {
		UpdateSeasonAsset
		CustomIDs any `arg:"custom_ids" doc:"identifiers of your own, sent as they are"`
	}
)

// AssessmentParameterVariable is a quantity that estimations assess.
type AssessmentParameterVariable struct {
	Record    `doc:"Quantity that estimations assess."`
	Company   string          `json:"company" type:"id" doc:"company it belongs to"`
	Name      string          `json:"name" doc:"its name"`
	CustomIDs json.RawMessage `json:"custom_ids" doc:"identifiers of your own"`
	History
}

// Fields are the pieces of land that trials are on.
type Fields struct {
	Create   Op[CreateField, Field]    `create:"create-field" unknown:"key project,name" doc:"Create a field."`
	Delete   Op[Ref, None]             `delete:"delete-field" doc:"Delete a field."`
	Describe Op[FieldIDs, Some[Field]] `read:"describe-field|describe-fields" chunk:"1000" doc:"Describe one field or a list of fields. A choice of properties of several fields takes one request each."`
	Search   SearchOp[Query, Field]    `read:"search-fields" page:"0" doc:"Find fields."`
	Update   Op[UpdateField, Field]    `set:"update-field" doc:"Change a field."`
}

// Inputs of the field operations.
type (
	CreateField struct {
		Company     ID     `arg:"company,req" doc:"company it belongs to"`
		Project     ID     `arg:"project,req" doc:"project it is in"`
		Name        string `arg:"name,req" doc:"name of the field"`
		Description string `arg:"description" doc:"what it is"`
		Extra
	}
	FieldIDs struct {
		Field  IDs    `arg:"field,req,pos" many:"fields" doc:"field, or a list of fields"`
		Fields Object `arg:"fields" omit:"falsy" doc:"properties to return: {include = {names}} or {exclude = {names}}, not both"`
		Extra
	}
	UpdateField struct {
		Field       ID     `arg:"field,req" doc:"field"`
		Project     ID     `arg:"project,req" doc:"project it is in"`
		Name        string `arg:"name,req" doc:"its name, the old one or a new one"`
		Company     ID     `arg:"company" doc:"company it belongs to from now on"`
		Description string `arg:"description" doc:"what it is"`
		Extra
	}
)

// Validate refuses fields that both include and exclude.
func (in FieldIDs) Validate() error { return oneChoice(&fault.ParameterError{}, in.Fields) }

// Chunk requests one field at a time when properties are chosen: the route for
// lists takes the ids under the very key that would hold the choice.
func (in FieldIDs) Chunk() int {
	if len(in.Fields) > 0 || in.Extra.Extra["fields"] != nil {
		return 1
	}
	return 0
}

// Field is a piece of land that trials are on.
type Field struct {
	Record      `doc:"Piece of land that trials are on."`
	Company     string `json:"company" type:"id" doc:"company it belongs to"`
	Project     string `json:"project" type:"id" doc:"project it is in"`
	Name        string `json:"name" doc:"name of the field"`
	Description string `json:"description" doc:"what it is"`
	History
}
