// Package formats reads files of every format: it recognises them, describes them,
// draws small pictures of them, and visits their features.
//
// Recognise tells the format of a file, Describe what it says of itself and where it
// lies, Picture draws it, Features visits the features of a vector, Truncation tells
// what is missing of it, Damage decodes it whole, Component which files belong to it. The scan of folders, the
// checks before an ingest, the local platform and the page of `transect ui` ask here;
// none of them knows a format by name.
//
// Files are read through an io.ReaderAt within limits of memory, points and time
// (limits.go), whatever they contain. readers.go lists the formats that are read; the
// packages below this one read them. A format is added there, with its first bytes in
// recognise.go and the files beside it in sidecars.go.
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

// File is a file to read: the main one, or one beside it, such as the projection of
// a shapefile, the material and texture of a mesh.
type File = source.File

// ErrNone means that files of this kind have no picture, extent or features.
var ErrNone = source.ErrOther

// Picture draws a file, with a longest side of at most side pixels. Files beside it
// may be given. The error is a fault.FileError that says why there is no preview; it
// is an ErrNone for files that cannot have one.
func Picture(ctx context.Context, main File, side int, beside ...File) (drawn image.Image, err error) {
	if side < 1 {
		return nil, fault.Of(&fault.ParameterError{}, "side must be positive, got %d", side)
	}
	f := &file{main, beside}
	err = f.within(ctx, "there is no preview", func(ctx context.Context, r reader) (err error) {
		drawn, err = r.picture(ctx, f, side)
		return err
	})
	return drawn, err
}

// PreviewSides are the longest sides of the previews of datasets, in pixels, by kind.
var PreviewSides = map[string]int{"tiny": 128, "small": 512}

// Encode writes a picture as JPEG, or as PNG where parts of it are transparent.
func Encode(m image.Image) ([]byte, error) {
	var b bytes.Buffer
	if o, ok := m.(interface{ Opaque() bool }); ok && !o.Opaque() {
		err := png.Encode(&b, m)
		return b.Bytes(), err
	}
	err := jpeg.Encode(&b, m, &jpeg.Options{Quality: 88})
	return b.Bytes(), err
}

// Describe reads what a file says of itself, without its pixels. Files beside it may
// be given. The error is a fault.FileError that says why nothing can be read, an
// ErrNone for files of other kinds; a missing position is no error.
func Describe(ctx context.Context, main File, beside ...File) (info Info, err error) {
	f := &file{main, beside}
	err = f.within(ctx, "it cannot be read", func(ctx context.Context, r reader) (err error) {
		info, err = r.describe(ctx, f)
		return err
	})
	return info, err
}

// Features visits all features of a vector file. An error of visit ends it and is
// returned; another error is the reason alone, an ErrNone for files of other kinds.
func Features(ctx context.Context, main File, visit Visitor, beside ...File) error {
	f := &file{main, beside}
	var stopped error
	err := f.within(ctx, "", func(ctx context.Context, r reader) error {
		if r.features == nil {
			return ErrNone
		}
		return r.features(ctx, f, func(g orb.Geometry, attributes json.RawMessage) error {
			stopped = visit(g, attributes)
			return stopped
		})
	})
	if stopped != nil {
		return stopped
	}
	return err
}

// file is a file that is looked at.
type file struct {
	File
	beside []File
}

// fault says what failed and why, in one line; without what, why alone.
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
