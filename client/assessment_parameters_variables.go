package client

import "encoding/json"

// AssessmentParametersVariables are the quantities that estimations assess.
type AssessmentParametersVariables struct {
	Create   Op[CreateSeasonAsset, AssessmentParameterVariable]                 `create:"create-assessment-parameter-variable" doc:"Create a variable."`
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
	Record
	Company   string          `json:"company"`
	Name      string          `json:"name"`
	CustomIDs json.RawMessage `json:"custom_ids"`
	History
}
