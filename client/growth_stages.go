package client

// GrowthStages are the steps in the growth of crops.
type GrowthStages struct {
	Create   Op[CreateSeasonAsset, GrowthStage] `create:"create-growth-stage" doc:"Create a growth stage."`
	Delete   Op[Ref, None]                      `delete:"delete-growth-stage" doc:"Delete a growth stage."`
	Describe Op[Refs, Some[GrowthStage]]        `read:"describe-growth-stage|describe-growth-stages" chunk:"1000" doc:"Describe one growth stage or a list of growth stages."`
	Search   SearchOp[Query, GrowthStage]       `read:"search-growth-stages" page:"0" doc:"Find growth stages."`
	Update   Op[UpdateSeasonAsset, GrowthStage] `set:"update-growth-stage" doc:"Rename a growth stage, or give it to another company."`
}

// GrowthStage is a step in the growth of crops.
type GrowthStage struct {
	Record
	Company string `json:"company"`
	Name    string `json:"name"`
	History
}
