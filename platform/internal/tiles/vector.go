// Package tiles encodes features as vector tiles.
package tiles

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/clip"
	"github.com/paulmach/orb/encoding/mvt"
	orbjson "github.com/paulmach/orb/geojson"
	"github.com/paulmach/orb/project"
	"github.com/paulmach/orb/simplify"

	"transect/client/geojson"
)

const (
	layerName = "features" // of the only layer of a vector tile
	extent    = mvt.DefaultExtent
	buffer    = 64 // margin around a tile, in its units
)

// Feature is a feature ready to be put on vector tiles.
type Feature struct {
	Positions  int            // number of positions in its shapes
	shapes     []orb.Geometry // on the unit square of web mercator, one for each kind
	bound      orb.Bound
	properties orbjson.Properties
}

// Prepare reads a feature with a GeoJSON geometry; it returns nil without a geometry.
func Prepare(id string, geometry, properties map[string]any) *Feature {
	if geometry == nil || geojson.Geometry(geometry, geojson.Options{AnyNumber: true}) != nil {
		return nil
	}
	g, ok := geojson.Shape(geometry)
	if !ok {
		return nil
	}
	f := &Feature{properties: orbjson.Properties{"_id": id}}
	for key, value := range properties {
		if number, ok := value.(json.Number); ok {
			value, _ = number.Float64()
			if n, err := number.Int64(); err == nil {
				value = n
			}
		}
		if value != nil {
			f.properties[key] = value
		}
	}
	g = project.Geometry(g, func(p orb.Point) orb.Point {
		f.Positions++
		sin := math.Sin(min(max(p[1], -85.06), 85.06) * math.Pi / 180)
		return orb.Point{(p[0] + 180) / 360, 0.5 - math.Log((1+sin)/(1-sin))/(4*math.Pi)}
	})
	f.bound = g.Bound()
	var points orb.MultiPoint
	var lines orb.MultiLineString
	var polygons orb.MultiPolygon
	collect(g, &points, &lines, &polygons)
	f.shapes = []orb.Geometry{points, lines, polygons} // an empty one is on no tile
	return f
}

// collect sorts the parts of a geometry by kind. A feature of a tile has one kind.
func collect(g orb.Geometry, points *orb.MultiPoint, lines *orb.MultiLineString, polygons *orb.MultiPolygon) {
	switch g := g.(type) {
	case orb.Point:
		*points = append(*points, g)
	case orb.MultiPoint:
		*points = append(*points, g...)
	case orb.LineString:
		*lines = append(*lines, g)
	case orb.MultiLineString:
		*lines = append(*lines, g...)
	case orb.Polygon:
		*polygons = append(*polygons, g)
	case orb.MultiPolygon:
		*polygons = append(*polygons, g...)
	case orb.Collection:
		for _, part := range g {
			collect(part, points, lines, polygons)
		}
	}
}

// Vector encodes the features within a tile as a Mapbox vector tile 2.1, or returns nil when there are none.
func Vector(features []*Feature, z, x, y int) ([]byte, error) {
	layer := &mvt.Layer{Name: layerName, Version: 2, Extent: extent}
	for _, f := range features {
		for _, shape := range f.on(z, x, y) {
			layer.Features = append(layer.Features, &orbjson.Feature{Geometry: shape, Properties: f.properties})
		}
	}
	if layer.Features == nil {
		return nil, nil
	}
	return mvt.Marshal(mvt.Layers{layer})
}

// on returns the visible shapes within a tile, in its units.
func (f *Feature) on(z, x, y int) (seen []orb.Geometry) {
	size := math.Exp2(float64(z)) * extent
	place := func(p orb.Point) orb.Point {
		return orb.Point{p[0]*size - float64(x)*extent, p[1]*size - float64(y)*extent}
	}
	tile := orb.Bound{Min: orb.Point{-buffer, -buffer}, Max: orb.Point{extent + buffer, extent + buffer}}
	if !tile.Intersects(orb.Bound{Min: place(f.bound.Min), Max: place(f.bound.Max)}) {
		return nil
	}
	for _, shape := range f.shapes {
		if g := clip.Geometry(tile, project.Geometry(orb.Clone(shape), place)); g != nil {
			g = simplify.DouglasPeucker(0.5).Simplify(g)
			g = project.Geometry(g, func(p orb.Point) orb.Point { return orb.Point{math.Round(p[0]), math.Round(p[1])} })
			if g = visible(g); g != nil {
				seen = append(seen, g)
			}
		}
	}
	return seen
}

// visible drops what is too small to be seen, and returns nil if nothing is left. It orients outer rings one
// way and holes the other.
func visible(g orb.Geometry) orb.Geometry {
	switch g := g.(type) {
	case orb.LineString:
		return visible(orb.MultiLineString{g})
	case orb.MultiLineString:
		var lines orb.MultiLineString
		for _, l := range g {
			if l = slices.Compact(l); len(l) > 1 {
				lines = append(lines, l)
			}
		}
		if lines == nil {
			return nil
		}
		return lines
	case orb.Polygon:
		return visible(orb.MultiPolygon{g})
	case orb.MultiPolygon:
		var polygons orb.MultiPolygon
		for _, p := range g {
			if p = visibleRings(p); p != nil {
				polygons = append(polygons, p)
			}
		}
		if polygons == nil {
			return nil
		}
		return polygons
	}
	return g
}

func visibleRings(p orb.Polygon) (rings orb.Polygon) {
	for i, r := range p {
		if r = slices.Compact(r); len(r) > 1 && r.Closed() {
			r = r[:len(r)-1] // the encoding closes rings
		}
		turn := orb.CW
		if i == 0 {
			turn = orb.CCW
		}
		switch {
		case len(r) > 2 && r.Orientation() == turn:
		case len(r) > 2 && r.Orientation() == -turn:
			r.Reverse()
		case i == 0:
			return nil // the holes are invisible, too
		default:
			continue
		}
		rings = append(rings, r)
	}
	return rings
}
