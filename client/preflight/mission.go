package preflight

import (
	"github.com/tidwall/gjson"

	"transect/client/fault"
)

// RingOf makes Options.Mission of a GeoJSON geometry, feature or collection: the
// outer ring of a polygon, the bounding box of anything else.
func RingOf(text []byte) ([][2]float64, error) {
	if !gjson.ValidBytes(text) {
		return nil, noArea("it is not valid JSON")
	}
	g := gjson.ParseBytes(text)
	for { // into a feature, or a collection of one
		below := append(g.Get("geometries").Array(), g.Get("features").Array()...)
		if inner := g.Get("geometry"); inner.IsObject() {
			below = []gjson.Result{inner}
		}
		if len(below) != 1 {
			break
		}
		g = below[0]
	}
	if g.Get("type").String() == "Polygon" {
		ring := positions(g.Get("coordinates.0"), nil)
		if len(ring) == 0 {
			return nil, noArea("its polygon has no positions")
		}
		return ring, nil
	}
	all := positions(g, nil)
	if len(all) == 0 {
		return nil, noArea("it has no positions")
	}
	low, high := all[0], all[0]
	for _, p := range all {
		for i := range p {
			low[i], high[i] = min(low[i], p[i]), max(high[i], p[i])
		}
	}
	return [][2]float64{low, {high[0], low[1]}, high, {low[0], high[1]}, low}, nil
}

func noArea(why string) error {
	return fault.Hinted(fault.Of(&fault.ValueError{}, "the mission's area cannot be used: %s", why),
		"give a GeoJSON Polygon, of longitudes and latitudes")
}

// positions appends those at any depth of a GeoJSON value.
func positions(v gjson.Result, all [][2]float64) [][2]float64 {
	list := v.Array()
	if v.IsObject() {
		list = []gjson.Result{v.Get("coordinates"), v.Get("geometry"), v.Get("geometries"), v.Get("features")}
	} else if len(list) >= 2 && list[0].Type == gjson.Number && list[1].Type == gjson.Number {
		return append(all, [2]float64{list[0].Float(), list[1].Float()})
	}
	for _, e := range list {
		if e.IsArray() || e.IsObject() {
			all = positions(e, all)
		}
	}
	return all
}
