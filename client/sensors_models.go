package client

import (
	"cmp"
	"encoding/json"

	"transect/client/fault"
)

// SensorsModels are the kinds of sensors.
type SensorsModels struct {
	Create   Op[CreateSensorModel, SensorModel]    `create:"create-sensor-model" doc:"Create a sensor model."`
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
		SensorModels IDs `arg:"sensor_models,req,pos" wire:"sensor_model" many:"sensor_models" doc:"sensor model, or a list of sensor models"`
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
	return fault.Of(&fault.ParameterError{}, "argument %s: wants a number of pixels", argument)
}

// SensorModel is a kind of sensor.
type SensorModel struct {
	Record
	Name           string          `json:"name"`
	Maker          string          `json:"maker"`
	Type           string          `json:"type"` // rgb, ms, hs, lidar, thermal
	Company        string          `json:"company"`
	Weight         json.RawMessage `json:"weight"`    // {value, unit}
	LensType       string          `json:"lens_type"` // perspective, fisheye
	Width          json.RawMessage `json:"width"`     // pixels, number or text
	Height         json.RawMessage `json:"height"`    // pixels, number or text
	FocalLength    float64         `json:"focal_length"`
	PixelSize      float64         `json:"pixel_size"`
	PrincipalPoint []float64       `json:"principal_point"`
	Distortion     map[string]any  `json:"distortion"`
	Bands          json.RawMessage `json:"bands"` // {name, full_width_half_maximum, central_wavelength} each
	History
}
