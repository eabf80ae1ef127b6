package imagery

import (
	"io"

	"transect/client/formats/tiff"
)

// Traits indicate the purpose of a TIFF file.
type Traits struct {
	// Georeferenced means a georeference (GeoTIFF).
	Georeferenced bool
	// Camera means taken by a camera, by its EXIF record or its make and model.
	Camera bool
	// DNG means a raw photo.
	DNG bool
	// Picture means displayable unchanged, with integers in 1, 3 or 4 bands.
	Picture bool
}

// TraitsOf reads the first directory of a TIFF or BigTIFF file; ok is false for other files and
// truncated directories.
func TraitsOf(r io.ReaderAt, size int64) (traits Traits, ok bool) {
	t, first, ok := tiff.NewReader(r, size)
	if !ok {
		return traits, false
	}
	d, ok := t.Directory(first)
	if !ok {
		return traits, false
	}
	has := func(tags ...uint16) bool {
		for _, tag := range tags {
			if _, ok := d.Entries[tag]; ok {
				return true
			}
		}
		return false
	}
	samples, known := t.Number(d, tiff.SamplesPerPixel)
	if !known {
		samples = 1
	}
	format, _ := t.Number(d, tiff.SampleFormat)
	return Traits{
		Georeferenced: has(tiff.GeoKeys, tiff.Transformation) || has(tiff.Tiepoints) && has(tiff.PixelScale),
		Camera:        has(tiff.ExifIFD, tiff.GPSIFD) || t.Text(d, tiff.Make) != "" && t.Text(d, tiff.Model) != "",
		DNG:           has(tiff.DNGVersion),
		Picture:       (samples == 1 || samples == 3 || samples == 4) && format <= 1 && !has(tiff.NoData),
	}, true
}
