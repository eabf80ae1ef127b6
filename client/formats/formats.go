// Package formats reads files of every format: it recognises them, describes them, draws small
// pictures of them, and visits their features.
//
// Recognise determines the format of a file, Describe reads its properties and position, Picture
// draws it, Features visits the features of a vector, Truncation detects a missing end, Damage
// decodes it completely, Component returns the role of a file that belongs to it. The scan of
// folders, the checks before an ingest, the local platform and the page of `transect ui` depend on
// these alone, on no format by name.
//
// Files are read through an io.ReaderAt within limits of memory, points and time (limits.go),
// whatever they contain. Each format is declared once, as a Format in the file of its family (photo.go,
// tiff.go, raster.go, shapes.go, mesh.go, cloud.go, documents.go), which reads it with a subpackage;
// registry.go lists the families. The rest asks the declarations.
package formats

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"

	"github.com/paulmach/orb"

	"transect/client/fault"
	"transect/client/formats/source"
)

// File is a file to read: the main one, or an accompanying one, e.g. the projection of a shapefile,
// the material and texture of a mesh.
type File = source.File

// ErrNone means that files of this kind never have a picture, extent or features.
var ErrNone = source.ErrOther

// Picture draws a file, its longest side at most side pixels, optionally with accompanying files.
// The error is a fault.FileError with the reason for no preview; it is an ErrNone for files that
// cannot have one.
func Picture(ctx context.Context, main File, side int, beside ...File) (drawn image.Image, err error) {
	if side < 1 {
		return nil, fault.Of(&fault.ParameterError{}, "side must be positive, got %d", side)
	}
	f := &file{File: main, beside: beside}
	err = f.within(ctx, "there is no preview", func(ctx context.Context, format *Format) (err error) {
		if format.picture == nil {
			return ErrNone
		}
		drawn, err = format.picture(ctx, f, side)
		return err
	})
	return drawn, err
}

// PreviewSides are the longest sides of the previews of datasets, in pixels, by kind.
var PreviewSides = map[string]int{"tiny": 128, "small": 512}

// Encode writes a picture as JPEG, or as PNG if parts of it are transparent.
func Encode(m image.Image) ([]byte, error) {
	var b bytes.Buffer
	if o, ok := m.(interface{ Opaque() bool }); ok && !o.Opaque() {
		err := png.Encode(&b, m)
		return b.Bytes(), err
	}
	err := jpeg.Encode(&b, m, &jpeg.Options{Quality: 88})
	return b.Bytes(), err
}

// Describe reads the properties of a file, without its pixels, optionally with accompanying files.
// The error is a fault.FileError, or an ErrNone for files of other kinds; a missing position is not
// an error.
func Describe(ctx context.Context, main File, beside ...File) (info Info, err error) {
	f := &file{File: main, beside: beside}
	err = f.within(ctx, "it cannot be read", func(ctx context.Context, format *Format) (err error) {
		info, err = format.describe(ctx, f)
		return err
	})
	return info, err
}

// Features visits all features of a vector file. An error of visit ends it and is returned; any
// other error is the bare reason, an ErrNone for files of other kinds.
func Features(ctx context.Context, main File, visit Visitor, beside ...File) error {
	f := &file{File: main, beside: beside}
	var stopped error
	err := f.within(ctx, "", func(ctx context.Context, format *Format) error {
		if format.features == nil {
			return ErrNone
		}
		return format.features(ctx, f, func(g orb.Geometry, attributes json.RawMessage) error {
			stopped = visit(g, attributes)
			return stopped
		})
	})
	if stopped != nil {
		return stopped
	}
	return err
}

// file is a file being examined.
type file struct {
	File
	beside  []File
	content *Content // once it is recognised
}

// fault returns the error for what failed, with the reason, in one line; without what, the reason alone.
func (f *file) fault(what string, err error) error {
	var known fault.Fault
	switch {
	case what == "", errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, ErrNone):
		err = fmt.Errorf("%w", ErrNone)
	case errors.As(err, &known):
		err = errors.New(known.Facts().Message)
	}
	return fault.Of(&fault.FileError{}, "%s: %s: %w", f.Name, what, fault.Reason(err))
}
