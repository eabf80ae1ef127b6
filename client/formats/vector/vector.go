// Package vector reads the shapes of vector files: GeoJSON, shapefiles (also zipped),
// GeoPackages, KML and KMZ, GPX. Open finds the reference system, Each visits the
// shape of every feature, one at a time, so that memory is bounded by the largest
// feature, which is limited. Features visits them with their attributes.
//
// Package picture draws and measures the shapes. Every format has a file of its own.
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
	// System is that of the coordinates, nil when it is not known: then Problem says
	// why.
	System  *crs.System
	Problem string

	each func(ctx context.Context, attributes bool, visit visitor) error
}

// visitor takes the shape of a feature, nil where it has none, and its attributes
// as a JSON object, nil where it has none or they are not wanted.
type visitor func(orb.Geometry, json.RawMessage) error

// maxPositions is how many positions a feature may have.
const maxPositions = 4_000_000

// mark is the byte order mark that some texts in UTF-8 begin with.
const mark = "\xef\xbb\xbf"

var errLong = fmt.Errorf("a feature has more than %d positions", maxPositions)

// Open recognises a file by its first bytes, text by its extension as well. The
// projection of a shapefile is among the files beside it.
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

// Each visits the shapes of all features; nil for a feature without one. Rings of
// polygons may have any direction, but holes have the other one.
func (l *Layer) Each(ctx context.Context, visit func(orb.Geometry) error) error {
	return l.visit(ctx, false, func(g orb.Geometry, _ json.RawMessage) error { return visit(g) })
}

// Features visits all features like Each, with their attributes as a JSON object in
// the order of the file: the members properties of GeoJSON, the columns of a
// shapefile's .dbf and of a GeoPackage, names, descriptions and the like of KML and
// GPX. They are nil for a feature without any.
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

// setWKT sets the system that a projection file describes.
func (l *Layer) setWKT(text string) {
	s, err := crs.FromWKT(strings.TrimPrefix(text, mark))
	if err != nil {
		l.System, l.Problem = nil, err.Error()
		return
	}
	l.System, l.Problem = s, ""
}
