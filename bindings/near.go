package bindings

import (
	"math"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/module"
)

// metresPerDegree is the length of a degree of latitude on a sphere of the
// Earth's mean radius, 6,371,008.8 m (IUGG).
const metresPerDegree = math.Pi * 6371008.8 / 180

// near bounds longitude and latitude of a point. The platform has no operator
// for distances; a square is what its comparisons can say.
func near(c *module.Call) (any, error) {
	longitude, latitude, metres := c.Number("longitude"), c.Number("latitude"), c.Number("metres")
	if math.Abs(latitude) > 89 || math.Abs(longitude) > 180 || metres <= 0 {
		return nil, fault.Of(&fault.ParameterError{}, "wants a longitude, a latitude up to 89 degrees, and a distance above 0; got %v, %v, %v", longitude, latitude, metres)
	}
	north := metres / metresPerDegree
	east := north / math.Cos(latitude*math.Pi/180)
	f := c.L.NewTable()
	for place, bounds := range map[string][2]float64{".coordinates.0": {longitude - east, longitude + east}, ".coordinates.1": {latitude - north, latitude + north}} {
		t := c.L.NewTable()
		t.RawSetString("$gte", lua.LNumber(bounds[0]))
		t.RawSetString("$lte", lua.LNumber(bounds[1]))
		f.RawSetString(c.String("property")+place, t)
	}
	return f, nil
}
