package raster

// Ramp returns the colour ramp of measurements.
func Ramp() [256][4]uint8 { return Elevation }

// Stretch returns the range of values that is spread over all colours.
func (r *Raster) Stretch() (low, high []float64, err error) {
	s, err := r.colours()
	return s.low, s.high, err
}
