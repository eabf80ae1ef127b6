package client

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
