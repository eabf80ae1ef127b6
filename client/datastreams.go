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
