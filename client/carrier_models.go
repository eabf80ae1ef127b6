package client

import "encoding/json"

// CarrierModels are the kinds of carriers.
type CarrierModels struct {
	Create   Op[CreateCarrierModel, CarrierModel]    `create:"create-carrier-model" doc:"Create a carrier model."`
	Delete   Op[Ref, None]                           `delete:"delete-carrier-model" doc:"Delete a carrier model."`
	Describe Op[CarrierModelIDs, Some[CarrierModel]] `read:"describe-carrier-model|describe-carrier-models" chunk:"1000" doc:"Describe one carrier model or a list of carrier models."`
	Search   SearchOp[Query, CarrierModel]           `read:"search-carrier-models" page:"0" doc:"Find carrier models."`
}

// Inputs of the carrier model operations.
type (
	CreateCarrierModel struct {
		Name           string         `arg:"name,req" doc:"name of the model"`
		Maker          string         `arg:"maker,req" doc:"who makes it"`
		Type           string         `arg:"type,req" choices:"fixed-wing|fixed-wind|multirotor|ground-robot|helicopter|pedestrian" doc:"kind of carrier; fixed-wing travels as fixed-wind"`
		Company        ID             `arg:"company" doc:"company it belongs to"`
		UnloadedWeight *Quantity      `arg:"unloaded_weight" doc:"weight without sensor, {value, unit}"`
		FlightTime     *Quantity      `arg:"flight_time" doc:"how long it flies, {value, unit}"`
		Speed          *QuantityRange `arg:"speed" doc:"speeds it flies at, {min, max}, each {value, unit}"`
		Altitude       *QuantityRange `arg:"altitude" doc:"altitudes it flies at, {min, max}, each {value, unit}"`
		Sensors        []ID           `arg:"compatible_sensor_models" doc:"sensor models it can carry"`
		Extra
	}
	CarrierModelIDs struct {
		CarrierModels IDs `arg:"carrier_models,req,pos" wire:"carrier_model" many:"carrier_models" doc:"carrier model, or a list of carrier models"`
		Extra
	}
)

// fixedWing is how the platform spells fixed-wing.
const fixedWing = "fixed-wind"

// Shape spells the type as the platform does.
func (in CreateCarrierModel) Shape(body map[string]any) error {
	if in.Type == "fixed-wing" {
		body["type"] = fixedWing
	}
	return nil
}

// CarrierModel is a kind of carrier. Its quantities are {value, unit}, speeds
// and altitudes {min, max} of such.
type CarrierModel struct {
	Record
	Name                   string          `json:"name"`
	Maker                  string          `json:"maker"`
	Type                   string          `json:"type"` // fixed-wind, multirotor, ground-robot, helicopter, pedestrian
	Company                string          `json:"company"`
	UnloadedWeight         json.RawMessage `json:"unloaded_weight"`
	FlightTime             json.RawMessage `json:"flight_time"`
	Speed                  json.RawMessage `json:"speed"`
	Altitude               json.RawMessage `json:"altitude"`
	CompatibleSensorModels []string        `json:"compatible_sensor_models"`
	History
}
