package client

// Carriers are the drones, robots and people that carry sensors.
type Carriers struct {
	Create   Op[CreateCarrier, Carrier] `create:"create-carrier" doc:"Create a carrier."`
	Delete   Op[Ref, None]              `delete:"delete-carrier" doc:"Delete a carrier."`
	Describe Op[Refs, Some[Carrier]]    `read:"describe-carrier|describe-carriers" chunk:"1000" doc:"Describe one carrier or a list of carriers."`
	Search   SearchOp[Query, Carrier]   `read:"search-carriers" page:"0" doc:"Find carriers."`
}

// Inputs of the carrier operations.
type (
	CreateCarrier struct {
		CarrierModel ID `arg:"carrier_model,req" doc:"model of the carrier"`
		Equipment
		Status string `arg:"status" choices:"ready|in-maintenance|out-of-service" doc:"whether it can be used"`
		Extra
	}
	// Equipment is what carriers and sensors have in common.
	Equipment struct {
		Team         ID     `arg:"team,req" doc:"team it belongs to"`
		SerialNumber string `arg:"serial_number,req" doc:"serial number"`
		Firmware     string `arg:"firmware" doc:"version of its firmware"`
		Comment      string `arg:"comment" doc:"remark"`
	}
)

// Carrier carries sensors.
type Carrier struct {
	Record
	CarrierModel string `json:"carrier_model"`
	Team         string `json:"team"`
	SerialNumber string `json:"serial_number"`
	Firmware     string `json:"firmware"`
	Status       string `json:"status"`
	Comment      string `json:"comment"`
	History
}
