package client

// Sensors are the cameras and scanners that carriers carry.
type Sensors struct {
	Create   Op[CreateSensor, Sensor] `create:"create-sensor" doc:"Create a sensor."`
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
	Record
	SensorModel  string `json:"sensor_model"`
	Team         string `json:"team"`
	SerialNumber string `json:"serial_number"`
	Firmware     string `json:"firmware"`
	Comment      string `json:"comment"`
	History
}
