package formats

import (
	"context"
	"errors"
	"image"
	"image/jpeg"
	"image/png"
	"io/fs"

	"golang.org/x/image/bmp"

	"transect/client/formats/jpegcheck"
)

// Damage decodes a picture or a raster completely and returns what is wrong with it, "" for
// nothing. The error is why it was not decoded: ErrNone for files of other kinds.
func Damage(ctx context.Context, main File) (damage string, err error) {
	f := &file{File: main}
	err = f.within(ctx, "", func(ctx context.Context, format *Format) error {
		if format.check == nil {
			return ErrNone
		}
		err := format.check(ctx, f)
		if err == nil || isUndecided(ctx, err) {
			return err
		}
		damage = rephrase(err).Error()
		return nil
	})
	return damage, err
}

// notDecoded is the error for files that no reader can decode.
type notDecoded struct{ error }

// isUndecided reports whether an error shows nothing about the file itself.
func isUndecided(ctx context.Context, err error) bool {
	for _, other := range []error{errTooLarge, jpegcheck.ErrUnsupported, image.ErrFormat, bmp.ErrUnsupported} {
		if errors.Is(err, other) {
			return true
		}
	}
	var (
		unread *fs.PathError
		own    notDecoded
		inPNG  png.UnsupportedError
		inJPEG jpeg.UnsupportedError
	)
	return ctx.Err() != nil || errors.As(err, &unread) || errors.As(err, &own) || errors.As(err, &inPNG) ||
		errors.As(err, &inJPEG)
}
