package preflight

import (
	"encoding/json"

	"transect/client/fault"
)

// geometry is any GeoJSON object.
type geometry struct {
	Type        string          `json:"type"`
	Coordinates json.RawMessage `json:"coordinates"`
	Geometry    *geometry       `json:"geometry"`
	Geometries  []geometry      `json:"geometries"`
	Features    []geometry      `json:"features"`
}

// RingOf makes Options.Mission of a GeoJSON geometry, feature or collection:
// the outer ring of a polygon, the corners around anything else.
func RingOf(text []byte) ([][2]float64, error) {
	var g geometry
	if err := json.Unmarshal(text, &g); err != nil {
		return nil, noArea("it is no GeoJSON: " + err.Error())
	}
	return g.ring()
}

func noArea(why string) error {
	return fault.Hinted(fault.Of(&fault.ValueError{}, "the mission's area cannot be used: %s", why),
		"give a GeoJSON Polygon, of longitudes and latitudes")
}

func (g geometry) ring() ([][2]float64, error) {
	below := append(append([]geometry{}, g.Geometries...), g.Features...)
	switch {
	case g.Geometry != nil:
		return g.Geometry.ring()
	case len(below) == 1:
		return below[0].ring()
	case g.Type == "Polygon":
		var rings [][][]float64
		if json.Unmarshal(g.Coordinates, &rings) != nil || len(rings) == 0 {
			return nil, noArea("the coordinates of its polygon are none")
		}
		var ring [][2]float64
		for _, p := range rings[0] {
			if len(p) < 2 {
				return nil, noArea("a position needs two numbers")
			}
			ring = append(ring, [2]float64{p[0], p[1]})
		}
		return ring, nil
	}
	var all [][2]float64
	g.positions(&all)
	if len(all) == 0 {
		return nil, noArea("it holds no positions")
	}
	low, high := all[0], all[0]
	for _, p := range all {
		for i := range p {
			low[i], high[i] = min(low[i], p[i]), max(high[i], p[i])
		}
	}
	return [][2]float64{low, {high[0], low[1]}, high, {low[0], high[1]}, low}, nil
}

// positions collects those at any depth.
func (g geometry) positions(all *[][2]float64) {
	for _, list := range [][]geometry{g.Geometries, g.Features} {
		for _, o := range list {
			o.positions(all)
		}
	}
	if g.Geometry != nil {
		g.Geometry.positions(all)
	}
	var coordinates any
	if len(g.Coordinates) > 0 && json.Unmarshal(g.Coordinates, &coordinates) == nil {
		descend(coordinates, all)
	}
}

func descend(v any, all *[][2]float64) {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return
	}
	x, isNumber := list[0].(float64)
	if !isNumber {
		for _, e := range list {
			descend(e, all)
		}
		return
	}
	if len(list) >= 2 {
		if y, ok := list[1].(float64); ok {
			*all = append(*all, [2]float64{x, y})
		}
	}
}
