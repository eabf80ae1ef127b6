package client

import "encoding/json"

// DatastreamTemplates say how datastreams turn files into datasets.
type DatastreamTemplates struct {
	Create    Op[CreateDatastreamTemplate, DatastreamTemplate]      `create:"create-datastream-template" doc:"Create a datastream template. Its further members, contextualisation, transform, aggregate, company and description, are extra arguments."`
	Delete    Op[DatastreamTemplateOnly, None]                      `delete:"delete-datastream-template" extra:"no" doc:"Delete a datastream template."`
	Describe  Op[DatastreamTemplateKey, DatastreamTemplate]         `read:"describe-datastream-template" extra:"no" doc:"Describe a datastream template."`
	Describes Op[DatastreamTemplateList, []DatastreamTemplate]      `read:"describe-datastream-templates" extra:"no" doc:"Describe a list of datastream templates, in one request."`
	Search    SearchOp[DatastreamTemplateQuery, DatastreamTemplate] `read:"search-datastream-templates" page:"0" doc:"Find datastream templates."`
}

// Inputs of the datastream template operations.
type (
	CreateDatastreamTemplate struct {
		Name          string `arg:"name,req" doc:"name of the template"`
		Source        Object `arg:"source,req" doc:"where files come from: {type, …}"`
		ImportDataset Object `arg:"import_dataset,req" wire:"import" doc:"what becomes of a file: {dataset_parameters = {type, categories, horizontal_srs_wkt, ingestion}}"`
		Extra
	}
	DatastreamTemplateOnly struct {
		Template ID `arg:"template,req,pos" wire:"datastreamtemplate" doc:"datastream template"`
	}
	DatastreamTemplateKey struct {
		Template ID `arg:"template,req" wire:"datastreamtemplate" doc:"datastream template"`
	}
	DatastreamTemplateList struct {
		Templates []ID `arg:"templates,req" wire:"datastreamtemplates" doc:"list of datastream templates"`
	}
	DatastreamTemplateQuery struct {
		Query
		Exclude []string `arg:"exclude" doc:"names of properties to leave out of the results"`
	}
)

// DatastreamTemplate says how datastreams turn files into datasets.
type DatastreamTemplate struct {
	Record
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Source      json.RawMessage `json:"source"`
	Import      struct {
		DatasetParameters json.RawMessage `json:"dataset_parameters"`
	} `json:"import"`
	Contextualisation json.RawMessage `json:"contextualisation"`
	Transform         json.RawMessage `json:"transform"`
	Aggregate         struct {
		Type       string          `json:"type"`
		Parameters json.RawMessage `json:"parameters"`
		Strategy   json.RawMessage `json:"strategy"`
	} `json:"aggregate"`
	Company string `json:"company"`
	History
}
