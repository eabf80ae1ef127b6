package client

import "encoding/json"

// Datastreams bring files from a source into the platform, again and again.
type Datastreams struct {
	Create   Op[CreateDatastream, Datastream] `create:"create-datastream" doc:"Create a datastream from a template."`
	Delete   Op[Ref, None]                    `delete:"delete-datastream" extra:"no" doc:"Delete a datastream."`
	Describe Op[DatastreamKey, Datastream]    `read:"describe-datastream" extra:"no" doc:"Describe a datastream."`
	Search   SearchOp[Query, Datastream]      `read:"search-datastreams" page:"0" doc:"Find datastreams."`
}

// Inputs of the datastream operations.
type (
	CreateDatastream struct {
		Name      string `arg:"name,req" doc:"name of the datastream"`
		StartDate Date   `arg:"start_date,req" doc:"when it starts"`
		EndDate   Date   `arg:"end_date,req" doc:"when it ends"`
		Source    Object `arg:"source,req" doc:"where files come from: {url, regex, synchronisation = {type}}"`
		Template  ID     `arg:"template,req" doc:"datastream template"`
		Extra
	}
	DatastreamKey struct {
		Datastream ID `arg:"datastream,req" doc:"datastream"`
	}
)

// Validate refuses a datastream that ends before it starts.
func (in CreateDatastream) Validate() error { return DateRange{in.StartDate, in.EndDate}.Validate() }

// Datastream brings files from a source into the platform.
type Datastream struct {
	Record
	Name        string `json:"name"`
	Description string `json:"description"`
	StartDate   string `json:"start_date"`
	EndDate     string `json:"end_date"`
	Source      struct {
		URL             string          `json:"url"`
		Regex           string          `json:"regex"`
		Synchronisation json.RawMessage `json:"synchronisation"`
	} `json:"source"`
	Template string `json:"template"`
	Company  string `json:"company"`
	History
}

// DatastreamsAssetsMonitored are the assets datastreams watch.
type DatastreamsAssetsMonitored struct {
	Search SearchOp[Query, AssetMonitored] `read:"search-datastreams-assets-monitoring" page:"0" doc:"Find assets that datastreams watch."`
}

// AssetMonitored is an asset a datastream watches.
type AssetMonitored struct {
	Record
	Datastream string `json:"datastream"`
	Asset      string `json:"asset"`
	History
}

// DatastreamsFiles are the files datastreams have found.
type DatastreamsFiles struct {
	Search SearchOp[Query, DatastreamFile] `read:"search-datastreams-files" page:"0" doc:"Find files of datastreams."`
}

// DatastreamFile is a file a datastream has found.
type DatastreamFile struct {
	Record
	Datastream string `json:"datastream"`
	Status     string `json:"status"`
	History
}

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
