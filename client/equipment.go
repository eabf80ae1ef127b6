package client

import (
	"bytes"
	"cmp"
	"encoding/json"

	"transect/client/declare"
	"transect/client/fault"
)

// Carriers are the drones, robots and people that carry sensors.
type Carriers struct {
	Create   Op[CreateCarrier, Carrier] `create:"create-carrier" unknown:"key serial_number,carrier_model" doc:"Create a carrier."`
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
	// Equipment has the fields common to carriers and sensors.
	Equipment struct {
		Team         ID     `arg:"team,req" doc:"team it belongs to"`
		SerialNumber string `arg:"serial_number,req" doc:"serial number"`
		Firmware     string `arg:"firmware" doc:"version of its firmware"`
		Comment      string `arg:"comment" doc:"remark"`
	}
)

// Carrier carries sensors.
type Carrier struct {
	Record       `doc:"Drone, robot or person that carries sensors."`
	CarrierModel string `json:"carrier_model" type:"id" doc:"model of the carrier"`
	Team         string `json:"team" type:"id" doc:"team it belongs to"`
	SerialNumber string `json:"serial_number" doc:"serial number"`
	Firmware     string `json:"firmware" doc:"version of its firmware"`
	Status       string `json:"status" choices:"ready|in-maintenance|out-of-service" doc:"whether it can be used"`
	Comment      string `json:"comment" doc:"remark"`
	History
}

// CarrierModels are the kinds of carriers.
type CarrierModels struct {
	Create   Op[CreateCarrierModel, CarrierModel]    `create:"create-carrier-model" unknown:"key name,maker,company" doc:"Create a carrier model."`
	Delete   Op[Ref, None]                           `delete:"delete-carrier-model" doc:"Delete a carrier model."`
	Describe Op[CarrierModelIDs, Some[CarrierModel]] `read:"describe-carrier-model|describe-carrier-models" chunk:"1000" doc:"Describe one carrier model or a list of carrier models."`
	Search   SearchOp[Query, CarrierModel]           `read:"search-carrier-models" page:"0" doc:"Find carrier models."`
}

// Inputs of the carrier model operations.
type (
	CreateCarrierModel struct {
		Name           string    `arg:"name,req" doc:"name of the model"`
		Maker          string    `arg:"maker,req" doc:"who makes it"`
		Type           string    `arg:"type,req" choices:"fixed-wing|fixed-wind|multirotor|ground-robot|helicopter|pedestrian" doc:"kind of carrier; fixed-wing travels as fixed-wind, which is taken, too"`
		Company        ID        `arg:"company" doc:"company it belongs to"`
		UnloadedWeight *Quantity `arg:"unloaded_weight" doc:"weight without sensor, {value, unit}"`
		FlightTime     any       `arg:"flight_time" doc:"how long it flies, such as {value, unit}"`
		Speed          any       `arg:"speed" doc:"speeds it flies at, such as {min, max}, each {value, unit}"`
		Altitude       any       `arg:"altitude" doc:"altitudes it flies at, such as {min, max}, each {value, unit}"`
		Sensors        []ID      `arg:"compatible_sensor_models" set:"yes" doc:"sensor models it can carry"`
		Extra
	}
	CarrierModelIDs struct {
		CarrierModels IDs `arg:"carrier_models,req,pos" set:"yes" wire:"carrier_model" many:"carrier_models" doc:"carrier model, or a list of carrier models"`
		Extra
	}
)

// Shape spells the type as it is read back.
func (in CreateCarrierModel) Shape(body map[string]any) error {
	if in.Type == "fixed-wind" {
		body["type"] = "fixed-wing"
	}
	return nil
}

// onWings exchanges a request about carrier models, whose type fixed-wing travels as fixed-wind.
func onWings(s *declare.Spec, body []byte, send func(body []byte) ([]byte, error)) ([]byte, error) {
	before := `"type":`
	if s.Effect == declare.Read { // a condition
		before = ""
	}
	answer, err := send(bytes.ReplaceAll(body, []byte(before+`"fixed-wing"`), []byte(before+`"fixed-wind"`)))
	for _, before := range []string{`"type":`, `"type": `} {
		answer = bytes.ReplaceAll(answer, []byte(before+`"fixed-wind"`), []byte(before+`"fixed-wing"`))
	}
	return answer, err
}

// CarrierModel is a kind of carrier. Its quantities are {value, unit}, speeds
// and altitudes {min, max} of such.
type CarrierModel struct {
	Record                 `doc:"Kind of carrier."`
	Name                   string          `json:"name" doc:"name of the model"`
	Maker                  string          `json:"maker" doc:"who makes it"`
	Type                   string          `json:"type" choices:"fixed-wing|fixed-wind|multirotor|ground-robot|helicopter|pedestrian" doc:"kind of carrier; fixed-wind is given as fixed-wing"`
	Company                string          `json:"company" type:"id" doc:"company it belongs to"`
	UnloadedWeight         json.RawMessage `json:"unloaded_weight" type:"table" doc:"weight without sensor, {value, unit}"`
	FlightTime             json.RawMessage `json:"flight_time" type:"table" doc:"how long it flies, {value, unit}"`
	Speed                  json.RawMessage `json:"speed" type:"table" doc:"speeds it flies at, {min, max}, each {value, unit}"`
	Altitude               json.RawMessage `json:"altitude" type:"table" doc:"altitudes it flies at, {min, max}, each {value, unit}"`
	CompatibleSensorModels []string        `json:"compatible_sensor_models" type:"[]id" doc:"sensor models it can carry"`
	History
}

// Sensors are the cameras and scanners that carriers carry.
type Sensors struct {
	Create   Op[CreateSensor, Sensor] `create:"create-sensor" unknown:"key serial_number,sensor_model" doc:"Create a sensor."`
	Delete   Op[Ref, None]            `delete:"delete-sensor" doc:"Delete a sensor."`
	Describe Op[Refs, Some[Sensor]]   `read:"describe-sensor|describe-sensors" chunk:"1000" doc:"Describe one sensor or a list of sensors."`
	Search   SearchOp[Query, Sensor]  `read:"search-sensors" page:"0" doc:"Find sensors."`
}

// Inputs of the sensor operations.
type (
	CreateSensor struct {
		SensorModel ID `arg:"sensor_model,req" doc:"model of the sensor"`
		Equipment
		Extra
	}
)

// Sensor is a camera or scanner.
type Sensor struct {
	Record       `doc:"Camera or scanner."`
	SensorModel  string `json:"sensor_model" type:"id" doc:"model of the sensor"`
	Team         string `json:"team" type:"id" doc:"team it belongs to"`
	SerialNumber string `json:"serial_number" doc:"serial number"`
	Firmware     string `json:"firmware" doc:"version of its firmware"`
	Comment      string `json:"comment" doc:"remark"`
	History
}

// SensorsModels are the kinds of sensors.
type SensorsModels struct {
	Create   Op[CreateSensorModel, SensorModel]    `create:"create-sensor-model" unknown:"key name,maker,company" doc:"Create a sensor model."`
	Delete   Op[Ref, None]                         `delete:"delete-sensor-model" doc:"Delete a sensor model."`
	Describe Op[SensorModelIDs, Some[SensorModel]] `read:"describe-sensor-model|describe-sensor-models" chunk:"1000" doc:"Describe one sensor model or a list of sensor models."`
	Search   SearchOp[Query, SensorModel]          `read:"search-sensor-models" page:"0" doc:"Find sensor models."`
}

// Inputs of the sensor model operations.
type (
	CreateSensorModel struct {
		Name           string    `arg:"name,req" doc:"name of the model"`
		Maker          string    `arg:"maker,req" doc:"who makes it"`
		Type           string    `arg:"type,req" choices:"rgb|ms|hs|lidar|thermal" doc:"kind of sensor"`
		Company        ID        `arg:"company" doc:"company it belongs to"`
		Weight         *Weight   `arg:"weight" doc:"{value, unit}, in g or kg"`
		LensType       string    `arg:"lens_type" choices:"perspective|fisheye" doc:"kind of lens"`
		Width          any       `arg:"width" doc:"width of an image in pixels, number or text"`
		Height         any       `arg:"height" doc:"height of an image in pixels, number or text"`
		FocalLength    *float64  `arg:"focal_length" doc:"focal length"`
		PixelSize      *float64  `arg:"pixel_size" doc:"size of a pixel of the sensor"`
		PrincipalPoint []float64 `arg:"principal_point" doc:"where the optical axis meets the image"`
		Distortion     Object    `arg:"distortion" doc:"coefficients of the lens's distortion by name"`
		Bands          []Band    `arg:"bands" doc:"bands, each {name, full_width_half_maximum, central_wavelength}, in nanometres"`
		Extra
	}
	SensorModelIDs struct {
		SensorModels IDs `arg:"sensor_models,req,pos" set:"yes" wire:"sensor_model" many:"sensor_models" doc:"sensor model, or a list of sensor models"`
		Extra
	}
)

// Validate checks the size.
func (in CreateSensorModel) Validate() error {
	return cmp.Or(pixels("width", in.Width), pixels("height", in.Height))
}

// pixels takes a number, or a text as the reference has it.
func pixels(argument string, v any) error {
	switch v.(type) {
	case nil, string, int, int64, float64:
		return nil
	}
	return fault.Of(&fault.ParameterError{}, "argument %s: must be a number of pixels", argument)
}

// SensorModel is a kind of sensor.
type SensorModel struct {
	Record         `doc:"Kind of sensor."`
	Name           string          `json:"name" doc:"name of the model"`
	Maker          string          `json:"maker" doc:"who makes it"`
	Type           string          `json:"type" choices:"rgb|ms|hs|lidar|thermal" doc:"kind of sensor"`
	Company        string          `json:"company" type:"id" doc:"company it belongs to"`
	Weight         json.RawMessage `json:"weight" type:"table" doc:"{value, unit}, in g or kg"`
	LensType       string          `json:"lens_type" choices:"perspective|fisheye" doc:"kind of lens"`
	Width          json.RawMessage `json:"width" unit:"pixels" doc:"width of an image, number or text"`
	Height         json.RawMessage `json:"height" unit:"pixels" doc:"height of an image, number or text"`
	FocalLength    float64         `json:"focal_length" doc:"focal length"`
	PixelSize      float64         `json:"pixel_size" doc:"size of a pixel of the sensor"`
	PrincipalPoint []float64       `json:"principal_point" doc:"where the optical axis meets the image"`
	Distortion     map[string]any  `json:"distortion" doc:"coefficients of the lens's distortion by name"`
	Bands          json.RawMessage `json:"bands" type:"[]table" doc:"list of {name, full_width_half_maximum, central_wavelength}, in nanometres"`
	History
}
