package formats

import (
	"context"
	"errors"
	"io"

	"transect/client/fault"
	"transect/client/formats/source"
)

// CheckJSON reads JSON texts to their end, within the limits of time and memory. The error is a
// fault.FileError.
func CheckJSON(ctx context.Context, file File) error {
	limited, cancel := context.WithTimeout(ctx, MaxTime(file.Size))
	defer cancel()
	d, bounded := source.JSON(file.Reader(limited))
	for {
		err := d.SkipValue()
		switch {
		case err == io.EOF:
			return nil
		case err == nil:
			continue
		case ctx.Err() != nil:
			return ctx.Err()
		case limited.Err() != nil:
			err = tooSlow(file.Size)
		case bounded.Err != nil:
			err = bounded.Err
		case errors.Is(err, io.ErrUnexpectedEOF):
			err = source.ErrTruncated
		}
		return fault.Of(&fault.FileError{}, "%s is not valid JSON: %w", file.Name, err)
	}
}
