package platform

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strconv"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/clip"
	"github.com/paulmach/orb/simplify"
	"google.golang.org/protobuf/encoding/protowire"

	"transect/client/schema"
	"transect/platform/store"
)

// Tiles of collections of features: Mapbox vector tiles 2.1. They are made when they
// are asked for, since features change at any time. Encoded here, as orb's package
// needs the driver of a database.

const (
	vectorTileFormat = "pbf"
	vectorLayer      = "features" // the layer that all tiles have
	tileExtent       = 4096       // units of a tile's side
	tileBuffer       = 64         // of the tiles around it
	maxTileFeatures  = 50_000     // of a collection
)

func vectorTileRoutes() []route {
	return []route{{method: "GET", path: "map-service/features/collection-mvt/{collection}/{z}/{x}/{y}", open: true, stream: serveVectorTile}}
}

// serveVectorTile sends the features of a collection within a tile. It is open to a
// share token of a dataset that shows the collection, and to the access token of a
// user.
func serveVectorTile(w http.ResponseWriter, r *Request) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	z, x, y := r.tileAddress(vectorTileFormat)
	id := r.path("collection")
	r.mayShow(func(shared []string) {
		for _, dataset := range shared {
			if doc := r.find(datasets, dataset); doc != nil && doc["deletion_date"] == nil && collectionOf(doc) == id {
				return
			}
		}
		panic(forbidden("the share token does not open collection %s", id))
	})
	var docs []store.Doc
	r.read(func() {
		r.get(collections, id)
		docs = must(r.All(features.plural, store.Query{Filter: store.Doc{"collection": id},
			Fields: store.Projection{Include: []string{"geometry", "properties"}}, Limit: maxTileFeatures}))
	})
	tile := vectorTile(docs, z, x, y)
	sum := sha256.Sum256(tile)
	tag := `"` + hex.EncodeToString(sum[:12]) + `"`
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "private, no-cache") // features change
	if r.http.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "application/vnd.mapbox-vector-tile")
	w.Header().Set("Content-Length", strconv.Itoa(len(tile)))
	w.Write(tile)
}

// vectorTile encodes the features that are within a tile.
func vectorTile(docs []store.Doc, z, x, y int) []byte {
	l := tileLayer{keys: map[string]uint64{}, values: map[string]uint64{}}
	for _, doc := range docs {
		if g := geometryOf(doc["geometry"], z, x, y); g != nil {
			l.add(doc, g)
		}
	}
	if l.features == 0 {
		return nil
	}
	layer := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), vectorLayer)
	layer = append(layer, l.encoded...)
	for _, key := range l.keyList {
		layer = protowire.AppendString(protowire.AppendTag(layer, 3, protowire.BytesType), key)
	}
	for _, value := range l.valueList {
		layer = protowire.AppendBytes(protowire.AppendTag(layer, 4, protowire.BytesType), []byte(value))
	}
	layer = protowire.AppendVarint(protowire.AppendTag(layer, 5, protowire.VarintType), tileExtent)
	layer = protowire.AppendVarint(protowire.AppendTag(layer, 15, protowire.VarintType), 2) // the version
	return protowire.AppendBytes(protowire.AppendTag(nil, 3, protowire.BytesType), layer)
}

// geometryOf converts a GeoJSON geometry to the units of a tile; nil for what is
// outside of it.
func geometryOf(v any, z, x, y int) orb.Geometry {
	doc, _ := v.(map[string]any)
	g := parsedGeometry(doc)
	if g == nil {
		return nil
	}
	size := math.Exp2(float64(z)) * tileExtent
	g = onTile(g, func(p orb.Point) orb.Point {
		sin := math.Sin(min(max(p[1], -85.06), 85.06) * math.Pi / 180)
		return orb.Point{(p[0]+180)/360*size - float64(x)*tileExtent,
			(0.5-math.Log((1+sin)/(1-sin))/(4*math.Pi))*size - float64(y)*tileExtent}
	})
	bound := orb.Bound{Min: orb.Point{-tileBuffer, -tileBuffer}, Max: orb.Point{tileExtent + tileBuffer, tileExtent + tileBuffer}}
	if !g.Bound().Intersects(bound) {
		return nil
	}
	if g = clip.Geometry(bound, g); g == nil {
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

// onTile converts every position.
func onTile(g orb.Geometry, convert func(orb.Point) orb.Point) orb.Geometry {
	each := func(line []orb.Point) {
		for i, p := range line {
			line[i] = convert(p)
		}
	}
	switch g := g.(type) {
	case orb.Point:
		return convert(g)
	case orb.MultiPoint:
		each(g)
	case orb.LineString:
		each(g)
	case orb.MultiLineString:
		for _, l := range g {
			each(l)
		}
	case orb.Polygon:
		for _, r := range g {
			each(r)
		}
	case orb.MultiPolygon:
		for _, p := range g {
			onTile(p, convert)
		}
	case orb.Collection:
		for i := range g {
			g[i] = onTile(g[i], convert)
		}
	}
	return g
}

// tileLayer is the layer of a tile. Keys and values of properties are listed once.
type tileLayer struct {
	encoded            []byte
	features           int
	keys, values       map[string]uint64
	keyList, valueList []string
}

// add encodes a feature, each kind of its shapes as one.
func (l *tileLayer) add(doc store.Doc, g orb.Geometry) {
	tags := l.tags("_id", doc["_id"])
	properties := objectOf(doc, "properties")
	for _, key := range schema.SortedKeys(properties) {
		tags = append(tags, l.tags(key, properties[key])...)
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
func (l *tileLayer) tags(key string, v any) []uint64 {
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
		value = protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), string(must(json.Marshal(v))))
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

// The kinds of shapes, and the commands that draw them.
const (
	tilePoint, tileLine, tilePolygon = 1, 2, 3
	moveTo, lineTo, closePath        = 1, 2, 7
)

// commands are the positions of a feature, each relative to the one before.
type commands struct {
	list []uint64
	x, y int64
}

// add draws the shapes of one kind.
func (c *commands) add(kind uint64, g orb.Geometry) {
	switch g := g.(type) {
	case orb.Point:
		c.add(kind, orb.MultiPoint{g})
	case orb.MultiPoint:
		if kind == tilePoint && len(g) > 0 {
			c.command(moveTo, len(g))
			for _, p := range g {
				c.to(grid(p))
			}
		}
	case orb.LineString:
		if line := gridLine(g); kind == tileLine && len(line) > 1 {
			c.line(line)
		}
	case orb.MultiLineString:
		for _, l := range g {
			c.add(kind, l)
		}
	case orb.Polygon:
		if kind == tilePolygon {
			c.polygon(g)
		}
	case orb.MultiPolygon:
		for _, p := range g {
			c.add(kind, p)
		}
	case orb.Collection:
		for _, m := range g {
			c.add(kind, m)
		}
	}
}

func (c *commands) command(id, count int) { c.list = append(c.list, uint64(id|count<<3)) }

func (c *commands) to(p [2]int64) {
	c.list = append(c.list, protowire.EncodeZigZag(p[0]-c.x), protowire.EncodeZigZag(p[1]-c.y))
	c.x, c.y = p[0], p[1]
}

func (c *commands) line(line [][2]int64) {
	c.command(moveTo, 1)
	c.to(line[0])
	c.command(lineTo, len(line)-1)
	for _, p := range line[1:] {
		c.to(p)
	}
}

// polygon draws the outer ring with a positive area, holes with a negative one.
func (c *commands) polygon(p orb.Polygon) {
	for i, r := range p {
		ring := gridLine(orb.LineString(r))
		if len(ring) > 1 && ring[0] == ring[len(ring)-1] {
			ring = ring[:len(ring)-1]
		}
		area := int64(0)
		for j, a := range ring {
			b := ring[(j+1)%len(ring)]
			area += a[0]*b[1] - b[0]*a[1]
		}
		if len(ring) < 3 || area == 0 {
			if i == 0 {
				return // too small to be seen, with its holes
			}
			continue
		}
		if area > 0 != (i == 0) {
			slices.Reverse(ring)
		}
		c.line(ring)
		c.command(closePath, 1)
	}
}

func grid(p orb.Point) [2]int64 { return [2]int64{int64(math.Round(p[0])), int64(math.Round(p[1]))} }

// gridLine is a line without steps that are too small to be seen.
func gridLine(l orb.LineString) [][2]int64 {
	line := make([][2]int64, 0, len(l))
	for _, p := range l {
		line = append(line, grid(p))
	}
	return slices.Compact(line)
}
