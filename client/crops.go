package client

// Crops are the plants that trials grow.
type Crops struct {
	Create   Op[CreateSeasonAsset, Crop] `create:"create-crop" doc:"Create a crop."`
	Delete   Op[Ref, None]               `delete:"delete-crop" doc:"Delete a crop."`
	Describe Op[Refs, Some[Crop]]        `read:"describe-crop|describe-crops" chunk:"1000" doc:"Describe one crop or a list of crops."`
	Search   SearchOp[Query, Crop]       `read:"search-crops" page:"0" doc:"Find crops."`
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
	Record
	Company string `json:"company"`
	Name    string `json:"name"`
	History
}
