package raster

// Ramp is the colour ramp of measurements.
func Ramp() [256][4]uint8 { return elevation }
