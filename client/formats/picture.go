// Package picture makes small pictures of files of every kind, and reads where on
// the ground they lie.
//
// Preview draws a photo, and Extent reads position, outline, reference system and
// size. The local platform uses both at ingestion, the page of `transect ui` for
// files that were not sent yet. Files are read through an io.ReaderAt within
// limits of memory, points and time (limits.go), whatever they contain. kind.go
// tells the kinds apart; each has a file of its own.
package formats

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"

	"transect/client/fault"
	"transect/client/formats/mesh"
	"transect/client/formats/vector"
)

// File is a file to read: the one that is shown, or one beside it, such as the
// projection of a shapefile, the material and texture of a mesh.
type File = vector.File

// ErrNone means that files of this kind have no picture or extent.
var ErrNone = errors.New("files of this kind have none")

// Preview draws a file of size bytes, with a longest side of at most side pixels.
// Files beside it may be given. The error is a fault.FileError that says why there
// is no preview; it is an ErrNone for files that cannot have one.
func Preview(ctx context.Context, name string, r io.ReaderAt, size int64, side int, beside ...File) (image.Image, error) {
	if side < 1 {
		return nil, fault.Of(&fault.ParameterError{}, "side must be positive, got %d", side)
	}
	f := &file{File: File{Name: name, Data: r, Size: size}, beside: beside}
	var picture image.Image
	err := f.within(ctx, func(ctx context.Context) (err error) {
		kind, err := f.kind()
		switch {
		case err != nil:
			return err
		case kind.preview == nil:
			return ErrNone
		}
		picture, err = kind.preview(ctx, f, side)
		return err
	})
	if err != nil {
		return nil, f.fault("there is no preview", err)
	}
	return picture, nil
}

// file is a file that is looked at.
type file struct {
	File
	beside []File
}

// section returns the whole file for sequential reading, which ends with ctx.
func (f *file) section(ctx context.Context) stoppable {
	return stoppable{ctx, io.NewSectionReader(f.Data, 0, f.Size)}
}

// fault says what failed and why, in one line.
func (f *file) fault(what string, err error) error {
	var known fault.Fault
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, ErrNone), errors.Is(err, vector.ErrNotVector), errors.Is(err, mesh.ErrNotMesh):
		err = fmt.Errorf("%w", ErrNone)
	case errors.As(err, &known):
		err = errors.New(known.Facts().Message)
	}
	return fault.Of(&fault.FileError{}, "%s: %s: %w", f.Name, what, fault.Reason(err))
}
