// Package vector reads the shapes of vector files: GeoJSON, shapefiles (also zipped), GeoPackages, KML
// and KMZ, GPX. Open determines the reference system, Each visits the shape of every feature, one at a
// time, so that memory is bounded by the largest feature, which is limited. Features visits them with
// their attributes.
//
// Package formats draws and measures the shapes. Every format has its own file.
package vector

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/paulmach/orb"

	"transect/client/formats/crs"
	"transect/client/formats/source"
)

// File is a file to read.
type File = source.File

// Layer is an open vector file.
type Layer struct {
	Format string
	// System is the reference system of the coordinates, nil when unknown, for the reason in Problem.
	System  *crs.System
	Problem string

	each func(ctx context.Context, attributes bool, visit visitor) error
}

// visitor receives the shape of a feature, nil without one, and its attributes as a JSON object, nil
// without any or when not requested.
type visitor func(orb.Geometry, json.RawMessage) error

// maxPositions limits the positions of a feature.
const maxPositions = 4_000_000

// mark is the byte order mark at the start of some UTF-8 texts.
const mark = "\xef\xbb\xbf"

var errLong = fmt.Errorf("a feature has more than %d positions", maxPositions)

// Open recognises a file by its first bytes, text also by its extension. The projection of a shapefile
// is among the accompanying files.
func Open(ctx context.Context, f File, beside ...File) (*Layer, error) {
	head, err := f.Head(512)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(head, []byte(mark)) {
		f.Data, f.Size = io.NewSectionReader(f.Data, 3, f.Size-3), f.Size-3
		head = head[3:]
	}
	text := bytes.TrimLeft(head, " \t\r\n")
	ext := strings.ToLower(filepath.Ext(f.Name))
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return openZip(ctx, f)
	case bytes.HasPrefix(head, []byte("SQLite format 3\x00")):
		return openPackage(ctx, f)
	case isShape(head):
		return openShape(f, beside)
	case bytes.HasPrefix(text, []byte("{")):
		return openGeoJSON(ctx, f)
	case bytes.HasPrefix(text, []byte("<")) && (ext == ".kml" || bytes.Contains(text, []byte("<kml"))):
		return &Layer{Format: "kml", System: crs.WGS84, each: eachKML(f)}, nil
	case bytes.HasPrefix(text, []byte("<")) && (ext == ".gpx" || bytes.Contains(text, []byte("<gpx"))):
		return &Layer{Format: "gpx", System: crs.WGS84, each: eachGPX(f)}, nil
	}
	return nil, source.ErrOther
}

// Each visits the shapes of all features; nil for a feature without one. Rings of polygons may have any
// orientation, but holes have the opposite one.
func (l *Layer) Each(ctx context.Context, visit func(orb.Geometry) error) error {
	return l.visit(ctx, false, func(g orb.Geometry, _ json.RawMessage) error { return visit(g) })
}

// Features visits all features like Each, with their attributes as a JSON object in the order of the
// file: the member properties of GeoJSON, the columns of a shapefile's .dbf and of a GeoPackage, names,
// descriptions etc. of KML and GPX. They are nil for a feature without any.
func (l *Layer) Features(ctx context.Context, visit func(g orb.Geometry, attributes json.RawMessage) error) error {
	return l.visit(ctx, true, visit)
}

func (l *Layer) visit(ctx context.Context, attributes bool, visit visitor) error {
	n := 0
	return l.each(ctx, attributes, func(g orb.Geometry, properties json.RawMessage) error {
		if n++; n%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		return visit(g, properties)
	})
}

// setWKT sets the system from the text of a projection file.
func (l *Layer) setWKT(text string) {
	s, err := crs.FromWKT(strings.TrimPrefix(text, mark))
	if err != nil {
		l.System, l.Problem = nil, err.Error()
		return
	}
	l.System, l.Problem = s, ""
}
