package raster

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"

	"golang.org/x/sync/errgroup"

	"transect/client/formats/jpegcheck"
)

// Check decodes every chunk of the raster, its overviews and masks, on all cores, and discards the
// pixels. The error names the first chunk that fails. Of uncompressed pixels it checks only the
// presence, because they can have any value.
func (r *Raster) Check(ctx context.Context) error {
	if r.undrawn != nil {
		return r.undrawn
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, l := range r.levels {
		for _, p := range []*page{l.page, l.mask} {
			if p == nil {
				continue
			}
			for i := range p.chunks() {
				if ctx.Err() != nil {
					return group.Wait()
				}
				group.Go(func() error { return p.checkChunk(ctx, i) })
			}
		}
	}
	return group.Wait()
}

func (p *page) checkChunk(ctx context.Context, i int64) error {
	stored, err := p.stored(i)
	if err != nil || stored == nil || ctx.Err() != nil {
		return err
	}
	if p.compression == jpegCoded {
		if err := jpegcheck.Check(ctx, p.stream(stored), reserveChunk); err != nil {
			return fmt.Errorf("piece %d: %w", i, err)
		}
		return nil
	}
	r, err := p.rows(stored)
	if err != nil {
		return p.broken(i, err)
	}
	count := p.rowsIn(int(i / int64(p.across()) % int64(p.down())))
	decoded := bufio.NewReaderSize(r.r, 64<<10)
	if _, err = io.CopyN(io.Discard, decoded, int64(count)*p.rowBytes()); err == nil && p.compression != plain {
		_, err = decoded.ReadByte() // the checksum follows the last row
		if err == io.EOF {
			err = nil
		}
	}
	return p.broken(i, err)
}

// reserveChunk refuses more memory than the pixels of a chunk can need.
func reserveChunk(bytes int64) error {
	if bytes > maxJPEG {
		return jpegcheck.ErrUnsupported
	}
	return nil
}

// stream returns a JPEG chunk preceded by the tables that chunks share: two streams, each between
// its start and end markers.
func (p *page) stream(stored *io.SectionReader) io.Reader {
	if n := len(p.tables); n > 4 {
		return io.MultiReader(bytes.NewReader(p.tables[:n-2]), io.NewSectionReader(stored, 2, stored.Size()))
	}
	return io.NewSectionReader(stored, 0, stored.Size())
}
