package formats

import (
	"context"
	"image"

	"github.com/paulmach/orb"

	"transect/client/formats/imagery"
	"transect/client/formats/raster"
)

// isRaster tells a TIFF file of measurements or a map from a photo.
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
	if !f.isRaster() {
		return describePhoto(ctx, f)
	}
	r, err := raster.Open(f.Reader(ctx), f.Size)
	if err != nil {
		return Info{}, err
	}
	e := r.Extent()
	info := Info{Kind: "raster", Format: "tiff", System: e.System, Reason: e.Reason, Width: e.Width, Height: e.Height,
		Resolution: e.GroundResolution}
	if e.Outline != nil {
		info.Outline = orb.Polygon{e.Outline}
	}
	return info, nil
}
