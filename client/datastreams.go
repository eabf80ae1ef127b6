package client

import "encoding/json"

// Datastreams bring files from a source into the platform, again and again.
type Datastreams struct {
	Create   Op[CreateDatastream, Datastream] `create:"create-datastream" unknown:"search name,template" doc:"Create a datastream from a template."`
	Delete   Op[Ref, None]                    `delete:"delete-datastream" does:"datastreamsfiles.delete|datastreamsassetsmonitored.delete" doc:"Delete a datastream."`
	Describe Op[DatastreamKey, Datastream]    `read:"describe-datastream" doc:"Describe a datastream."`
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
		Extra
	}
)

// Validate refuses a datastream that ends before it starts.
func (in CreateDatastream) Validate() error { return DateRange{in.StartDate, in.EndDate}.Validate() }

// Datastream brings files from a source into the platform.
type Datastream struct {
	Record      `doc:"Recurring import of files from a source into the platform."`
	Name        string `json:"name" doc:"name of the datastream"`
	Description string `json:"description" doc:"what it is for"`
	StartDate   string `json:"start_date" type:"date" doc:"when it starts"`
	EndDate     string `json:"end_date" type:"date" doc:"when it ends"`
	Source      struct {
		URL             string          `json:"url" doc:"address of the source"`
		Regex           string          `json:"regex" doc:"names of files that are taken"`
		Synchronisation json.RawMessage `json:"synchronisation" type:"table" doc:"how it is looked at, {type}"`
	} `json:"source" doc:"where files come from"`
	Template string `json:"template" type:"id" doc:"datastream template"`
	Company  string `json:"company" type:"id" doc:"company it belongs to"`
	History
}

// DatastreamsAssetsMonitored are the assets datastreams watch.
type DatastreamsAssetsMonitored struct {
	Search SearchOp[Query, AssetMonitored] `read:"search-datastreams-assets-monitoring" page:"0" doc:"Find assets that datastreams watch."`
}

// AssetMonitored is an asset a datastream watches.
type AssetMonitored struct {
	Record     `doc:"Asset a datastream watches."`
	Datastream string `json:"datastream" type:"id" doc:"datastream"`
	Asset      string `json:"asset" doc:"what is watched"`
	History
}

// DatastreamsFiles are the files datastreams have found.
type DatastreamsFiles struct {
	Search SearchOp[Query, DatastreamFile] `read:"search-datastreams-files" page:"0" doc:"Find files of datastreams."`
}

// DatastreamFile is a file a datastream has found.
type DatastreamFile struct {
	Record     `doc:"File a datastream has found."`
	Datastream string `json:"datastream" type:"id" doc:"datastream"`
	Status     string `json:"status" doc:"state"`
	History
}

// DatastreamTemplates describe how datastreams turn files into datasets.
type DatastreamTemplates struct {
	Create    Op[CreateDatastreamTemplate, DatastreamTemplate]      `create:"create-datastream-template" unknown:"key name,company" doc:"Create a datastream template."`
	Delete    Op[DatastreamTemplateOnly, None]                      `delete:"delete-datastream-template" doc:"Delete a datastream template."`
	Describe  Op[DatastreamTemplateKey, DatastreamTemplate]         `read:"describe-datastream-template" doc:"Describe a datastream template."`
	Describes Op[DatastreamTemplateList, []DatastreamTemplate]      `read:"describe-datastream-templates" doc:"Describe a list of datastream templates, in one request."`
	Search    SearchOp[DatastreamTemplateQuery, DatastreamTemplate] `read:"search-datastream-templates" page:"0" doc:"Find datastream templates."`
}

// Inputs of the datastream template operations.
type (
	CreateDatastreamTemplate struct {
		Name              string  `arg:"name,req" doc:"name of the template"`
		Source            Object  `arg:"source,req" doc:"where files come from: {type, …}"`
		ImportDataset     Object  `arg:"import_dataset,req" wire:"import" doc:"dataset to make of a file: {dataset_parameters = {type, categories, horizontal_srs_wkt, ingestion}}"`
		Contextualisation Object  `arg:"contextualisation" doc:"how files find their project and mission: {type, …}"`
		Transform         Object  `arg:"transform" doc:"how files are processed"`
		Aggregate         Object  `arg:"aggregate" doc:"how files are combined: {type, parameters, strategy}"`
		Company           ID      `arg:"company" doc:"company it belongs to"`
		Description       *string `arg:"description" doc:"what it is for"`
		Extra
	}
	DatastreamTemplateOnly struct {
		Template ID `arg:"template,req,pos" wire:"datastreamtemplate" doc:"datastream template"`
		Extra
	}
	DatastreamTemplateKey struct {
		Template ID `arg:"template,req" wire:"datastreamtemplate" doc:"datastream template"`
		Extra
	}
	DatastreamTemplateList struct {
		Templates []ID `arg:"templates,req" wire:"datastreamtemplates" doc:"list of datastream templates"`
		Extra
	}
	DatastreamTemplateQuery struct {
		Query
		Exclude []string `arg:"exclude" doc:"names of properties to leave out of the results"`
	}
)

// DatastreamTemplate describes how datastreams turn files into datasets.
type DatastreamTemplate struct {
	Record      `doc:"How datastreams turn files into datasets."`
	Name        string          `json:"name" doc:"name of the template"`
	Description string          `json:"description" doc:"what it is for"`
	Source      json.RawMessage `json:"source" type:"table" doc:"where files come from: {type, …}"`
	Import      struct {
		DatasetParameters json.RawMessage `json:"dataset_parameters" type:"table" doc:"{type, categories, horizontal_srs_wkt, ingestion} of the datasets"`
	} `json:"import" alias:"import_dataset" doc:"dataset to make of a file: {dataset_parameters}"`
	Contextualisation json.RawMessage `json:"contextualisation" type:"table" doc:"how files find their project and mission"`
	Transform         json.RawMessage `json:"transform" type:"table" doc:"how files are processed"`
	Aggregate         struct {
		Type       string          `json:"type" doc:"kind"`
		Parameters json.RawMessage `json:"parameters" type:"table" doc:"parameters"`
		Strategy   json.RawMessage `json:"strategy" doc:"strategy"`
	} `json:"aggregate" doc:"how files are put together"`
	Company string `json:"company" type:"id" doc:"company it belongs to"`
	History
}
