package client

import "transect/client/fault"

// AnalyticConfigurations are sets of values for an analytic, each for a range
// of its versions.
type AnalyticConfigurations struct {
	Create              Op[CreateConfigurationSet, ConfigurationSet]    `create:"create-analytic-configuration" missing:"ResponseError" unknown:"key name,analytic_name" doc:"Create a configuration set with one configuration."`
	Update              Op[UpdateConfigurationSet, ConfigurationSet]    `set:"update-analytic-configuration" raises:"QueryError: nothing to change is given, versions is combined with value, or value lacks analytic_version_range" doc:"Change a configuration set. New configurations replace all it had."`
	Delete              Op[ConfigurationSetIDs, None]                   `delete:"delete-analytic-configuration" chunk:"1" doc:"Delete configuration sets with their configurations, one request each."`
	Describe            Op[ConfigurationSetIDs, Some[ConfigurationSet]] `read:"describe-analytic-configuration" chunk:"1" doc:"Describe one configuration set or a list of them, one request each."`
	Search              SearchOp[Query, ConfigurationSet]               `read:"search-analytic-configurations" page:"0" limit:"100" doc:"Find configuration sets."`
	AssignToCompany     Op[ConfigurationAssignment, Object]             `set:"assign-analytic-configuration-to-company" returns:"ids of company, analytic and configuration set" doc:"Assign a configuration set to a company, with the configurations it has now and later."`
	UnassignFromCompany Op[ConfigurationAssignment, None]               `set:"unassign-analytic-configuration-from-company" unknown:"gone" does:"delete" doc:"Unassign a configuration set from a company."`
}

// Inputs of the analytic configuration operations.
type (
	CreateConfigurationSet struct {
		Name         string `arg:"name,req,pos" doc:"name of the set"`
		AnalyticName string `arg:"analytic_name,req,pos" doc:"name of the analytic"`
		Value        Object `arg:"value,req,pos" wire:"versions[0].value" doc:"the configuration"`
		VersionRange string `arg:"analytic_version_range,pos" wire:"versions[0].analytic_version_range" default:"*" doc:"versions of the analytic it is for, such as 1.x"`
		Description  string `arg:"description,pos" doc:"what the set is for"`
		Extra
	}
	UpdateConfigurationSet struct {
		ConfigurationSetRef
		Name         string   `arg:"name" doc:"new name"`
		Description  *string  `arg:"description" doc:"new description"`
		Versions     []Object `arg:"versions" doc:"configurations, each {analytic_version_range, value}; they replace the existing ones"`
		Value        Object   `arg:"value" wire:"versions[0].value" doc:"the new and only configuration; with analytic_version_range"`
		VersionRange string   `arg:"analytic_version_range" wire:"versions[0].analytic_version_range" doc:"versions of the analytic that value is for"`
	}
	ConfigurationSetRef struct {
		ConfigurationSet ID `arg:"configuration_set,req,pos" wire:"analytic_configuration" doc:"configuration set"`
		Extra
	}
	ConfigurationSetIDs struct {
		ConfigurationSet IDs `arg:"configuration_set,req,pos" set:"yes" wire:"analytic_configuration" doc:"configuration set, or a list of configuration sets"`
		Extra
	}
	ConfigurationAssignment struct {
		ConfigurationSetRef
		Company ID `arg:"company,req" doc:"company"`
	}
)

// Shape lets an extra argument versions replace the configuration built from
// value and analytic_version_range.
func (in CreateConfigurationSet) Shape(body map[string]any) error {
	if versions, given := in.Extra.Extra["versions"]; given {
		body["versions"] = versions
	}
	return nil
}

// Validate requires a change, and configurations in one form only.
func (in UpdateConfigurationSet) Validate() error {
	pair := in.Value != nil || in.VersionRange != ""
	switch {
	case pair && in.Versions != nil:
		return fault.Of(&fault.QueryError{},
			"versions cannot be combined with value and analytic_version_range: both replace all configurations")
	case in.Value != nil && in.VersionRange == "":
		return fault.Of(&fault.QueryError{}, "analytic_version_range is missing: value requires it")
	case in.Value == nil && pair:
		return fault.Of(&fault.QueryError{}, "value is missing: analytic_version_range requires it")
	case !pair && in.Versions == nil && in.Name == "" && in.Description == nil && len(in.Extra.Extra) == 0:
		return fault.Of(&fault.QueryError{},
			"nothing to change: name, description, versions, or value with analytic_version_range is needed")
	}
	for i, version := range in.Versions {
		for _, key := range []string{"analytic_version_range", "value"} {
			if version[key] == nil {
				return fault.Of(&fault.QueryError{}, "versions[%d]: %s is missing", i+1, key)
			}
		}
	}
	return nil
}

// ConfigurationSet holds values for an analytic, each for a range of its versions.
type ConfigurationSet struct {
	Record       `doc:"Values for an analytic, each for a range of its versions."`
	Name         string          `json:"name" doc:"name of the set"`
	AnalyticName string          `json:"analytic_name" doc:"name of the analytic"`
	Description  string          `json:"description" doc:"what it is for"`
	Versions     []Configuration `json:"versions" doc:"its configurations"`
	Company      string          `json:"company" type:"id" doc:"company that owns it"`
	History
}

// Configuration is a value for a range of versions.
type Configuration struct {
	VersionRange string         `json:"analytic_version_range" doc:"versions it is for, such as 1.x"`
	Value        map[string]any `json:"value" doc:"the values"`
}
