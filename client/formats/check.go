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
	"transect/client/formats/raster"
)

// Damage decodes a picture or a raster completely and returns what is wrong with it, "" for
// nothing. The error is why it was not decoded: ErrNone for files of other kinds.
func Damage(ctx context.Context, main File) (damage string, err error) {
	f := &file{main, nil}
	err = f.within(ctx, "", func(ctx context.Context, r reader) error {
		if r.check == nil {
			return ErrNone
		}
		err := r.check(ctx, f)
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

func checkJPEG(ctx context.Context, f *file) error {
	var reserved []func()
	defer func() {
		for _, release := range reserved {
			release()
		}
	}()
	return jpegcheck.Check(ctx, f.Reader(ctx), func(bytes int64) error {
		release, err := reserve(ctx, bytes)
		if err == nil {
			reserved = append(reserved, release)
		}
		return err
	})
}

func checkPicture(ctx context.Context, f *file) error {
	config, _, err := image.DecodeConfig(f.Reader(ctx))
	if err != nil {
		return err
	}
	_, err = decode(ctx, f.Reader(ctx), config, false)
	return err
}

// checkWebP skips animations, which the decoder rejects as invalid.
func checkWebP(ctx context.Context, f *file) error {
	err := checkPicture(ctx, f)
	if err != nil && err.Error() == "webp: invalid format" {
		return notDecoded{errors.New("this kind of WebP is not supported")}
	}
	return err
}

func checkTIFF(ctx context.Context, f *file) error {
	r, err := raster.Open(f.Reader(ctx), f.Size)
	if err != nil {
		return notDecoded{err}
	}
	if err := r.Undrawn(); err != nil {
		return notDecoded{err}
	}
	return r.Check(ctx)
}
