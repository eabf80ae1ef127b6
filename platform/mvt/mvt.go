// Package mvt encodes features as Mapbox vector tiles 2.1. It is written here, as orb's
// package needs the driver of a database. Prepare reads a feature once, Tile encodes
// those within a tile.
package mvt

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/clip"
	"github.com/paulmach/orb/project"
	"github.com/paulmach/orb/simplify"
	"google.golang.org/protobuf/encoding/protowire"

	"transect/client/schema"
)

const (
	layerName = "features" // of the layer that all tiles have
	extent    = 4096       // units of a tile's side
	buffer    = 64         // of the tiles around it
)

// Feature is a feature ready to be put on tiles.
type Feature struct {
	id         string
	properties map[string]any
	shape      orb.Geometry // on the unit square of web mercator
	bound      orb.Bound
}

// Prepare reads a feature with a GeoJSON geometry; nil for one that has none.
func Prepare(id string, geometry, properties map[string]any) *Feature {
	g := parsedGeometry(geometry)
	if g == nil {
		return nil
	}
	g = project.Geometry(g, func(p orb.Point) orb.Point {
		sin := math.Sin(min(max(p[1], -85.06), 85.06) * math.Pi / 180)
		return orb.Point{(p[0] + 180) / 360, 0.5 - math.Log((1+sin)/(1-sin))/(4*math.Pi)}
	})
	return &Feature{id, properties, g, g.Bound()}
}

// Positions is how many the shape has.
func (f *Feature) Positions() (n int) {
	project.Geometry(orb.Clone(f.shape), func(p orb.Point) orb.Point { n++; return p })
	return n
}

// Tile encodes the features that are within a tile, nil when there are none.
func Tile(features []*Feature, z, x, y int) []byte {
	l := layer{keys: map[string]uint64{}, values: map[string]uint64{}}
	for _, f := range features {
		if g := f.on(z, x, y); g != nil {
			l.add(f, g)
		}
	}
	if l.features == 0 {
		return nil
	}
	encoded := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), layerName)
	encoded = append(encoded, l.encoded...)
	for _, key := range l.keyList {
		encoded = protowire.AppendString(protowire.AppendTag(encoded, 3, protowire.BytesType), key)
	}
	for _, value := range l.valueList {
		encoded = protowire.AppendBytes(protowire.AppendTag(encoded, 4, protowire.BytesType), []byte(value))
	}
	encoded = protowire.AppendVarint(protowire.AppendTag(encoded, 5, protowire.VarintType), extent)
	encoded = protowire.AppendVarint(protowire.AppendTag(encoded, 15, protowire.VarintType), 2) // the version
	return protowire.AppendBytes(protowire.AppendTag(nil, 3, protowire.BytesType), encoded)
}

// on is the shape in the units of a tile; nil for what is outside of it.
func (f *Feature) on(z, x, y int) orb.Geometry {
	size := math.Exp2(float64(z)) * extent
	place := func(p orb.Point) orb.Point {
		return orb.Point{p[0]*size - float64(x)*extent, p[1]*size - float64(y)*extent}
	}
	tile := orb.Bound{Min: orb.Point{-buffer, -buffer}, Max: orb.Point{extent + buffer, extent + buffer}}
	if !tile.Intersects(orb.Bound{Min: place(f.bound.Min), Max: place(f.bound.Max)}) {
		return nil
	}
	g := clip.Geometry(tile, project.Geometry(orb.Clone(f.shape), place))
	if g == nil {
		return nil
	}
	return simplify.DouglasPeucker(0.5).Simplify(g)
}

// parsedGeometry reads a geometry of a document, nil when it is none.
func parsedGeometry(doc map[string]any) orb.Geometry {
	if doc == nil {
		return nil
	}
	if members, ok := doc["geometries"].([]any); ok {
		var all orb.Collection
		for _, m := range members {
			member, _ := m.(map[string]any)
			if g := parsedGeometry(member); g != nil {
				all = append(all, g)
			}
		}
		return all
	}
	text, err := json.Marshal(doc["coordinates"])
	if err != nil {
		return nil
	}
	switch doc["type"] {
	case "Point":
		return decoded[orb.Point](text)
	case "MultiPoint":
		return decoded[orb.MultiPoint](text)
	case "LineString":
		return decoded[orb.LineString](text)
	case "MultiLineString":
		return decoded[orb.MultiLineString](text)
	case "Polygon":
		return decoded[orb.Polygon](text)
	case "MultiPolygon":
		return decoded[orb.MultiPolygon](text)
	}
	return nil
}

func decoded[G orb.Geometry](text []byte) orb.Geometry {
	var g G
	if json.Unmarshal(text, &g) != nil {
		return nil
	}
	return g
}

// layer is the layer of a tile. Keys and values of properties are listed once.
type layer struct {
	encoded            []byte
	features           int
	keys, values       map[string]uint64
	keyList, valueList []string
}

// add encodes a feature, each kind of its shapes as one.
func (l *layer) add(from *Feature, g orb.Geometry) {
	tags := l.tags("_id", from.id)
	for _, key := range schema.SortedKeys(from.properties) {
		tags = append(tags, l.tags(key, from.properties[key])...)
	}
	for kind := range uint64(4) {
		c := commands{}
		if c.add(kind, g); len(c.list) == 0 {
			continue
		}
		f := packed(nil, 2, tags)
		f = protowire.AppendVarint(protowire.AppendTag(f, 3, protowire.VarintType), kind)
		f = packed(f, 4, c.list)
		l.encoded = protowire.AppendBytes(protowire.AppendTag(l.encoded, 2, protowire.BytesType), f)
		l.features++
	}
}

func packed(b []byte, field protowire.Number, numbers []uint64) []byte {
	var inner []byte
	for _, n := range numbers {
		inner = protowire.AppendVarint(inner, n)
	}
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), inner)
}

// tags returns the numbers of a key and its value; none for null. Lists and objects
// become JSON texts.
func (l *layer) tags(key string, v any) []uint64 {
	var value []byte
	number := func(field protowire.Number, n float64) {
		value = protowire.AppendFixed64(protowire.AppendTag(nil, field, protowire.Fixed64Type), math.Float64bits(n))
	}
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		value = protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), v)
	case bool:
		value = protowire.AppendVarint(protowire.AppendTag(nil, 7, protowire.VarintType), protowire.EncodeBool(v))
	case float64:
		number(3, v)
	case json.Number:
		if n, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			value = protowire.AppendVarint(protowire.AppendTag(nil, 6, protowire.VarintType), protowire.EncodeZigZag(n))
		} else {
			n, _ := v.Float64()
			number(3, n)
		}
	default:
		text, _ := json.Marshal(v) // what came as JSON has a form
		value = protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), string(text))
	}
	return []uint64{numbered(l.keys, &l.keyList, key), numbered(l.values, &l.valueList, string(value))}
}

func numbered(known map[string]uint64, list *[]string, text string) uint64 {
	n, ok := known[text]
	if !ok {
		n = uint64(len(*list))
		known[text] = n
		*list = append(*list, text)
	}
	return n
}
