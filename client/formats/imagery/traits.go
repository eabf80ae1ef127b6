package imagery

import (
	"io"

	"transect/client/formats/tiff"
)

// TIFF tags that tell photos, rasters and maps apart (GeoTIFF 1.1; DNG 1.7; TIFF 6.0).
const (
	tagSamplesPerPixel = 0x0115
	tagSampleFormat    = 0x0153
	tagModelPixelScale = 0x830E
	tagModelTiepoint   = 0x8482
	tagModelTransform  = 0x85D8
	tagGeoKeys         = 0x87AF
	tagGDALNoData      = 0xA481
	tagDNGVersion      = 0xC612
)

// Traits tell the purpose of a TIFF file.
type Traits struct {
	// Georeferenced: it has a georeference (GeoTIFF).
	Georeferenced bool
	// Camera: a camera took it, by its EXIF record or its make and model.
	Camera bool
	// DNG: it is a raw photo.
	DNG bool
	// Picture: it can be displayed as it is, with integers in 1, 3 or 4 bands.
	Picture bool
}

// TraitsOf reads the first directory of a TIFF or BigTIFF file; ok is false for
// other files and truncated directories.
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
	samples, known := t.Number(d, tagSamplesPerPixel)
	if !known {
		samples = 1
	}
	format, _ := t.Number(d, tagSampleFormat)
	return Traits{
		Georeferenced: has(tagGeoKeys, tagModelTransform) || has(tagModelTiepoint) && has(tagModelPixelScale),
		Camera:        has(tagExifIFD, tagGPSIFD) || t.Text(d, tagMake) != "" && t.Text(d, tagModel) != "",
		DNG:           has(tagDNGVersion),
		Picture:       (samples == 1 || samples == 3 || samples == 4) && format <= 1 && !has(tagGDALNoData),
	}, true
}
