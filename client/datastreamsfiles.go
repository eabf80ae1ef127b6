package client

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
