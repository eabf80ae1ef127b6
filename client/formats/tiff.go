package formats

import (
	"context"
	"image"
	"io"

	"transect/client/formats/imagery"
	"transect/client/formats/raster"
)

// tiffs are TIFF and the formats derived from it: photos and rasters. Raw photos are told apart by their extensions.
var tiffs = []Format{
	{name: "tiff", kind: "image", magic: []string{"II*\x00", "MM\x00*", "II+\x00", "MM\x00+"}, sniff: sniffTIFF,
		extensions: []string{"tif", "tiff"}, title: "a TIFF image", world: true, truncated: truncatedTIFF,
		reader: tiffPages, check: checkTIFF, position: ownFirst},
	{name: "geotiff", kind: "raster", dataset: "tiff", truncated: truncatedTIFF,
		reader: tiffPages, check: checkTIFF, position: ownFirst},
	{name: "dng", kind: "image", extensions: []string{"dng"}, title: "a DNG image",
		reader: tiffPages, check: checkTIFF, position: ownFirst},
	{kind: "image", extensions: []string{"cr2", "nef", "arw", "pef", "srw", "rwl"}, among: rawPhotos, reader: tiffPages,
		check: checkTIFF, position: ownFirst},
}

var tiffPages = reader{describe: describeTIFF, picture: drawTIFF}

// sniffTIFF distinguishes photos from maps. A georeferenced file is a raster, even if a camera
// wrote it; a camera's file is an image, and so is any other that can be displayed unchanged.
func sniffTIFF(p *probe) Content {
	c, raw := p.among(rawPhotos)
	if !raw && len(p.head) > 10 && string(p.head[8:10]) == "CR" {
		c, raw = Content{Kind: "image", Format: "cr2"}, true
	}
	if raw {
		c.camera = true
		return c
	}
	c = named("tiff").content()
	traits, ok := imagery.TraitsOf(p.Data, p.Size)
	switch c.camera = traits.Camera; {
	case !ok: // truncated or damaged, reported by the check
		if p.ext == "dng" {
			c.Format = p.ext
		}
	case traits.Georeferenced:
		c.Kind, c.Format = "raster", "geotiff"
	case traits.DNG:
		c.Format, c.flat = "dng", false
	case !traits.Camera && !traits.Picture:
		c.Kind = "raster"
	}
	return c
}

func truncatedTIFF(f io.ReaderAt, size int64) string {
	switch imagery.CauseOf(imagery.CheckTIFF(f, size)) {
	case imagery.Truncated:
		return "it points at pixels past its end: its end is missing"
	case imagery.Damaged:
		return "its directory gives no size"
	}
	return ""
}

// isRaster reports whether a TIFF file has measurements or a map rather than a photo.
func (f *file) isRaster() bool {
	traits, ok := imagery.TraitsOf(f.Data, f.Size)
	return ok && (traits.Georeferenced || !traits.Camera && !traits.DNG)
}

func drawTIFF(ctx context.Context, f *file, side int) (image.Image, error) {
	if !f.isRaster() {
		return drawPhoto(ctx, f, side)
	}
	r, err := raster.Open(f.Reader(ctx), f.Size)
	if err != nil {
		return nil, err
	}
	release, err := reserve(ctx, raster.DefaultCache+int64(side)*int64(side)*16)
	if err != nil {
		return nil, err
	}
	defer release()
	m, err := r.Overview(side)
	if err != nil {
		return nil, err
	}
	return Shrink(m, side), nil
}

func describeTIFF(ctx context.Context, f *file) (Info, error) {
	if p := f.position(ctx); p.world == "" && p.auxWorld == "" && !f.isRaster() {
		return describePhoto(ctx, f)
	}
	return describeRaster(ctx, f)
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
