package formats

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"
	"strings"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/project"
	"golang.org/x/image/vector"

	"transect/client/formats/raster"
	shapes "transect/client/formats/vector"
)

// vectors are the formats of vectors.
var vectors = []Format{
	{name: "shx", kind: "file", match: func(p *probe) bool { return p.ext == "shx" && isShape(p) },
		truncated: byHeader(28, shapeSize)},
	{name: "shapefile", kind: "vector", match: isShape, extensions: []string{"shp"}, title: "a shapefile",
		zipped: true, beside: shapefileParts, required: []string{".dbf", ".shx"}, truncated: byHeader(28, shapeSize),
		reader: features},
	{name: "dbf", kind: "file", extensions: []string{"dbf"}, among: binaries, truncated: byHeader(12, tableSize)},
	{name: "geopackage", kind: "vector", magic: []string{"SQLite format 3\x00"}, sniff: sniffSQLite,
		extensions: []string{"gpkg"}, title: "a GeoPackage", zipped: true, logged: true, truncated: byHeader(100, sqliteSize),
		reader: reader{describe: describePackage, picture: drawVector, features: visitVector, open: openTiles}},
	{name: "sqlite", kind: "file", reader: features},
	{name: "mbtiles", kind: "file"},
	{name: "geojson", kind: "vector", extensions: []string{"geojson"}, title: "GeoJSON", textual: true, zipped: true,
		truncated: openObject, reader: features},
	{name: "topojson", kind: "vector", extensions: []string{"topojson"}, title: "TopoJSON", textual: true,
		truncated: openObject},
	{name: "kml", kind: "vector", roots: []string{"kml"}, extensions: []string{"kml"}, title: "KML", textual: true,
		tried: true, zipped: true, truncated: openElement, reader: features},
	{name: "kmz", kind: "vector", reader: features},
	{name: "gpx", kind: "vector", roots: []string{"gpx"}, extensions: []string{"gpx"}, title: "GPX", textual: true,
		tried: true, truncated: openElement, reader: features},
	{name: "gml", kind: "vector", roots: []string{"FeatureCollection"}, extensions: []string{"gml"}, among: otherXML,
		zipped: true, truncated: openElement},
	{name: "flatgeobuf", kind: "vector", magic: []string{"fgb\x03fgb"}, extensions: []string{"fgb"}, zipped: true},
	{name: "mapinfo", kind: "vector", extensions: []string{"tab", "mif"}, zipped: true},
	{name: "dxf", kind: "vector", match: func(p *probe) bool {
		return p.ext == "dxf" && p.trimmed() != "" && strings.Contains(p.text, "SECTION")
	}},
	{name: "dwg", kind: "file", extensions: []string{"dwg"}, among: binaries},
}

var features = reader{describe: describeVector, picture: drawVector, features: visitVector}

// shapefileParts are the components of a shapefile (ESRI, "Shapefile Technical Description", and additions of its
// software).
var shapefileParts = map[string]string{
	".shx": "index", ".dbf": "database", ".prj": "projection",
	".cpg": NotSent, ".cst": NotSent, ".sbn": NotSent, ".sbx": NotSent, ".qix": NotSent, ".fbn": NotSent, ".fbx": NotSent,
	".ain": NotSent, ".aih": NotSent, ".atx": NotSent, ".ixs": NotSent, ".mxs": NotSent, ".qpj": NotSent, ".qmd": NotSent,
	".qml": NotSent, ".sld": NotSent, ".shp.xml": NotSent,
}

// isShape recognises the main file of a shapefile and its index, which has the same header.
func isShape(p *probe) bool {
	return len(p.head) >= 100 && binary.BigEndian.Uint32(p.head) == 9994 && binary.LittleEndian.Uint32(p.head[28:]) == 1000
}

// sniffSQLite checks the application id (OGC 12-128r18, requirement 2), else the extension.
func sniffSQLite(p *probe) Content {
	id := ""
	if len(p.head) >= 72 {
		id = string(p.head[68:72])
	}
	isPackage, isTiles := id == "GPKG" || id == "GP10" || id == "GP11", id == "MPBX"
	switch {
	case isPackage, !isTiles && p.ext == "gpkg":
		if tiles, err := shapes.Tiles(context.Background(), p.File); err == nil && tiles != nil {
			return Content{Kind: "raster", Format: "geopackage"}
		}
		return named("geopackage").content()
	case isTiles, p.ext == "mbtiles":
		return named("mbtiles").content()
	}
	return named("sqlite").content()
}

func describeVector(ctx context.Context, f *file) (Info, error) {
	l, err := shapes.Open(ctx, f.File, f.beside...)
	if err != nil {
		return Info{}, err
	}
	info := Info{Kind: "vector", Format: l.Format, System: l.System}
	var b box
	if err := l.Each(ctx, func(g orb.Geometry) error {
		info.Features++
		info.Points += b.addGeometry(g)
		return nil
	}); err != nil {
		return info, err
	}
	switch {
	case b.empty():
		info.Reason = errors.New("it has no shapes")
	case l.System == nil:
		info.Reason = errors.New(l.Problem)
	default:
		info.place(&b)
	}
	return info, nil
}

func describePackage(ctx context.Context, f *file) (Info, error) {
	if content, err := f.recognise(); err == nil && content.Kind == "raster" {
		return describeRaster(ctx, f)
	}
	return describeVector(ctx, f)
}

// visitVector visits the features of a vector in longitude and latitude.
func visitVector(ctx context.Context, f *file, visit Visitor) error {
	l, err := shapes.Open(ctx, f.File, f.beside...)
	if err != nil {
		return err
	}
	return l.Features(ctx, func(g orb.Geometry, attributes json.RawMessage) error {
		if g == nil || l.System == nil {
			return visit(nil, attributes)
		}
		return visit(project.Geometry(g, func(p orb.Point) orb.Point {
			lon, lat := l.System.ToWGS84(p[0], p[1])
			return orb.Point{finite(lon), finite(lat)}
		}), attributes)
	})
}

// openTiles opens the raster in a GeoPackage, whose position replaces the one beside it.
func openTiles(ctx context.Context, f *file, beside *placed) (*raster.Raster, error) {
	t, err := shapes.Tiles(ctx, f.File)
	switch {
	case err != nil:
		return nil, err
	case t == nil:
		return nil, errors.New("it has no raster")
	}
	beside.world = fmt.Sprint(t.PixelX, 0, 0, -t.PixelY, t.West+t.PixelX/2, t.North-t.PixelY/2)
	beside.projection = t.Definition
	return raster.Header(t.Width, t.Height, t.Bands, "", undrawn("GeoPackages")), nil
}

// shapeSize returns the size in the header of .shp and .shx, stored in 16-bit words.
func shapeSize(head []byte) int64 {
	if binary.BigEndian.Uint32(head) != 9994 {
		return 0
	}
	return 2 * int64(binary.BigEndian.Uint32(head[24:]))
}

// tableSize returns the size by a dBASE header: number of records, lengths of header and record.
func tableSize(head []byte) int64 {
	return int64(binary.LittleEndian.Uint16(head[8:])) +
		int64(binary.LittleEndian.Uint32(head[4:]))*int64(binary.LittleEndian.Uint16(head[10:]))
}

// sqliteSize returns the size in pages times their size, if the header marks it as valid.
func sqliteSize(head []byte) int64 {
	page := int64(binary.BigEndian.Uint16(head[16:]))
	if page == 1 {
		page = 1 << 16
	}
	if !bytes.Equal(head[24:28], head[92:96]) {
		return 0
	}
	return page * int64(binary.BigEndian.Uint32(head[28:]))
}

// drawVector draws the features of a vector file: areas filled, lines and points in a darker tone.
func drawVector(ctx context.Context, f *file, side int) (image.Image, error) {
	l, err := shapes.Open(ctx, f.File, f.beside...)
	if err != nil {
		return nil, err
	}
	var b box
	if err := l.Each(ctx, func(g orb.Geometry) error { b.addGeometry(g); return nil }); err != nil {
		return nil, err
	}
	if b.empty() {
		return nil, errors.New("it has no shapes")
	}
	wide := 1.0 // a degree of longitude is shorter than one of latitude
	if degrees := l.System != nil && l.System.Geographic ||
		l.System == nil && b.low[0] >= -360 && b.high[0] <= 360 && b.low[1] >= -90 && b.high[1] <= 90; degrees {
		wide = max(0.1, math.Cos((b.low[1]+b.high[1])/2*math.Pi/180))
	}
	border := 4.0
	if side < 64 {
		border = 1
	}
	v := newView(b.low[0]*wide, b.low[1], b.high[0]*wide, b.high[1], max(1, side-2*int(border)))
	// Centre a single point, or a line along a meridian.
	w, h := min(side, max(v.w+2*int(border), side/3)), min(side, max(v.h+2*int(border), side/3))
	left, top := float64(w-v.w)/2, float64(h-v.h)/2
	release, err := reserve(ctx, int64(w)*int64(h)*12)
	if err != nil {
		return nil, err
	}
	defer release()
	p := &pen{fill: vector.NewRasterizer(w, h), line: vector.NewRasterizer(w, h),
		thick: max(0.6, float32(side)/512), radius: max(1.5, float32(side)/128),
		at: func(q orb.Point) (float32, float32) {
			x, y := v.at(q[0]*wide, q[1])
			return clamp(x+left, w), clamp(y+top, h)
		}}
	if err := l.Each(ctx, func(g orb.Geometry) error { p.draw(g); return nil }); err != nil {
		return nil, err
	}
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	p.fill.Draw(m, m.Bounds(), image.NewUniform(fillColour), image.Point{})
	p.line.Draw(m, m.Bounds(), image.NewUniform(lineColour), image.Point{})
	return m, nil
}

// Colours that are visible on light and on dark pages.
var (
	fillColour = color.NRGBA{46, 134, 193, 90}
	lineColour = color.NRGBA{30, 120, 190, 255}
)

// clamp moves positions that are far outside, or NaN, close to the picture.
func clamp(v float64, size int) float32 {
	if v != v {
		return 0
	}
	return float32(min(max(v, -float64(size)), 2*float64(size)))
}

// pen draws geometries. All areas share one mask and all lines another, so that the time per
// feature does not depend on the size of the picture.
type pen struct {
	fill, line *vector.Rasterizer
	thick      float32
	radius     float32 // of points
	at         func(orb.Point) (x, y float32)
}

func (p *pen) draw(g orb.Geometry) {
	switch g := g.(type) {
	case orb.Point:
		p.dot(g)
	case orb.MultiPoint:
		for _, q := range g {
			p.dot(q)
		}
	case orb.LineString:
		p.path(g)
	case orb.Ring:
		p.path(orb.LineString(g))
	case orb.MultiLineString:
		for _, l := range g {
			p.path(l)
		}
	case orb.Polygon:
		p.area(g)
	case orb.MultiPolygon:
		for _, a := range g {
			p.area(a)
		}
	case orb.Collection:
		for _, m := range g {
			p.draw(m)
		}
	}
}

// dot draws a small octagon.
func (p *pen) dot(q orb.Point) {
	x, y := p.at(q)
	r := p.radius
	p.line.MoveTo(x+r, y)
	for _, d := range [][2]float32{{0.7, 0.7}, {0, 1}, {-0.7, 0.7}, {-1, 0}, {-0.7, -0.7}, {0, -1}, {0.7, -0.7}} {
		p.line.LineTo(x+d[0]*r, y+d[1]*r)
	}
	p.line.ClosePath()
}

// path draws a line as quadrilaterals of one orientation, which add up where they overlap. It skips
// steps within a pixel.
func (p *pen) path(line orb.LineString) {
	if len(line) == 0 {
		return
	}
	x, y := p.at(line[0])
	drawn := false
	for i, q := range line[1:] {
		tx, ty := p.at(q)
		length := float32(math.Hypot(float64(tx-x), float64(ty-y)))
		if length < 0.5 && (i+2 < len(line) || drawn) {
			continue
		}
		drawn = true
		if length == 0 {
			length, tx = 1, tx+1
		}
		dx, dy := (tx-x)/length*p.thick, (ty-y)/length*p.thick
		p.line.MoveTo(x-dy, y+dx)
		p.line.LineTo(x+dy, y-dx)
		p.line.LineTo(tx+dy, ty-dx)
		p.line.LineTo(tx-dy, ty+dx)
		p.line.ClosePath()
		x, y = tx, ty
	}
}

// area fills a polygon and draws its rings.
func (p *pen) area(a orb.Polygon) {
	if len(a) == 0 {
		return
	}
	for i, ring := range a {
		if len(ring) < 3 {
			continue
		}
		backwards := (ring.Orientation() == orb.CCW) != (i == 0) // holes run opposite to their ring
		for j := range ring {
			if backwards {
				j = len(ring) - 1 - j
			}
			x, y := p.at(ring[j])
			if j == 0 && !backwards || backwards && j == len(ring)-1 {
				p.fill.MoveTo(x, y)
			} else {
				p.fill.LineTo(x, y)
			}
		}
		p.fill.ClosePath()
		p.path(orb.LineString(ring))
	}
}
