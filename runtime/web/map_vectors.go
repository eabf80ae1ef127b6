package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/project"
	"github.com/tidwall/gjson"

	"transect/client/picture"
	"transect/client/vector"
)

// vectorLimits bound what a map reads of vector files.
type vectorLimits struct {
	bytes int64
	left  int // features
}

const (
	mostVectorBytes = 32 << 20 // of all files of a map
	mostProperties  = 64 << 10 // bytes of a feature's
)

func newVectorLimits() *vectorLimits { return &vectorLimits{mostVectorBytes, mostDrawings} }

var errEnough = errors.New("the map has enough features")

// features sends those of a vector file, each like one. What cannot be read is
// left to the outline of the file.
func (l *vectorLimits) features(ctx context.Context, one shape, main picture.File, beside []picture.File, send func(any) error) error {
	if l.bytes -= main.Size; l.bytes < 0 || l.left <= 0 {
		return nil
	}
	id, n := one.ID, 0
	var failed error
	emit := func(geometry, properties json.RawMessage) error {
		if l.left--; l.left < 0 {
			return errEnough
		}
		n++
		one.Of, one.ID, one.Geometry, one.Properties = "feature", id+"/"+strconv.Itoa(n), geometry, nil
		if len(properties) > 0 && len(properties) <= mostProperties {
			one.Properties = properties
		}
		f := one
		f.Name = cmp.Or(titleOf(string(properties)), "Feature "+strconv.Itoa(n)+" of "+one.Name)
		f.Preview = ""
		failed = send(f)
		return failed
	}
	layer, err := vector.Open(ctx, main, beside...)
	if err == nil && layer.System != nil {
		if layer.Format == "geojson" && layer.System.Geographic {
			err = geoJSONFeatures(ctx, main, emit)
		} else {
			err = layer.Each(ctx, func(g orb.Geometry) error {
				if g == nil {
					return nil
				}
				return emit(geometryOf(project.Geometry(orb.Clone(g), func(p orb.Point) orb.Point {
					lon, lat := layer.System.ToWGS84(p[0], p[1])
					return orb.Point{roundedTo(lon), roundedTo(lat)}
				})), nil)
			})
		}
	}
	if failed != nil || ctx.Err() != nil {
		return cmp.Or(failed, ctx.Err())
	}
	return nil
}

func roundedTo(degrees float64) float64 {
	if math.IsNaN(degrees) || math.IsInf(degrees, 0) {
		return 0
	}
	return rounded(degrees)
}

// geoJSONFeatures visits the features of a GeoJSON text with their properties.
func geoJSONFeatures(ctx context.Context, f picture.File, emit func(geometry, properties json.RawMessage) error) error {
	text, err := io.ReadAll(f.Reader(ctx))
	if err != nil {
		return err
	}
	all := gjson.ParseBytes(text)
	visit := func(feature gjson.Result) error {
		geometry, properties := feature.Get("geometry"), feature.Get("properties")
		if feature.Get("type").Str != "Feature" {
			geometry, properties = feature, gjson.Result{}
		}
		if !geometry.IsObject() {
			return nil
		}
		return emit(json.RawMessage(geometry.Raw), json.RawMessage(properties.Raw))
	}
	if all.Get("type").Str != "FeatureCollection" {
		return visit(all)
	}
	all.Get("features").ForEach(func(_, feature gjson.Result) bool {
		err = visit(feature)
		return err == nil
	})
	return err
}

// geometryOf is a geometry as GeoJSON.
func geometryOf(g orb.Geometry) json.RawMessage {
	v := map[string]any{"type": g.GeoJSONType(), "coordinates": g}
	if list, ok := g.(orb.Collection); ok {
		var parts []json.RawMessage
		for _, part := range list {
			parts = append(parts, geometryOf(part))
		}
		v = map[string]any{"type": "GeometryCollection", "geometries": parts}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil // numbers that JSON has no form for
	}
	return text
}
