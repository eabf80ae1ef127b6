package imagery

import (
	"io"
	"strconv"
	"strings"

	"github.com/bep/imagemeta"
)

// addXMP takes over what only the XMP record tells: height above take-off,
// gimbal angles, spectral band, and the position where EXIF has none. A record
// that cannot be read is as good as none.
//
// Properties are recognised by their local name: makers of drones and cameras
// use the same names, each in a namespace of its own.
func (p *Photo) addXMP(s *source) {
	formats := map[Format]imagemeta.ImageFormat{
		JPEG: imagemeta.JPEG, TIFF: imagemeta.TIFF, PNG: imagemeta.PNG, WebP: imagemeta.WebP,
	}
	if _, err := s.r.Seek(0, io.SeekStart); err != nil {
		return
	}
	found := map[string]any{}
	_, _ = imagemeta.Decode(imagemeta.Options{
		R: s.r, ImageFormat: formats[p.Format], Sources: imagemeta.XMP,
		HandleTag: func(tag imagemeta.TagInfo) error {
			if _, repeated := found[tag.Tag]; !repeated {
				found[tag.Tag] = tag.Value
			}
			return nil
		},
	})
	number := func(names ...string) *float64 {
		for _, name := range names {
			if n, ok := xmpNumber(found[name]); ok {
				return &n
			}
		}
		return nil
	}
	p.RelativeAltitude = number("RelativeAltitude")
	p.Yaw = number("GimbalYawDegree")
	p.Pitch = number("GimbalPitchDegree")
	p.Roll = number("GimbalRollDegree")
	p.Band = xmpText(found["BandName"])
	for _, name := range []string{"CaptureUUID", "CaptureId"} {
		if p.CaptureID == "" {
			p.CaptureID = xmpText(found[name])
		}
	}
	// "GpsLongtitude" is how some firmware spells it.
	latitude, longitude := number("GPSLatitude", "GpsLatitude"), number("GPSLongitude", "GpsLongitude", "GpsLongtitude")
	if !p.HasPosition && latitude != nil && longitude != nil {
		if p.setPosition(*latitude, *longitude); p.HasPosition && p.Altitude == nil {
			p.Altitude = number("AbsoluteAltitude")
		}
	}
}

func xmpNumber(value any) (float64, bool) {
	switch v := value.(type) {
	case float64:
		return v, !notFinite(v)
	case string:
		n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		return n, err == nil && !notFinite(n)
	}
	return 0, false
}

func xmpText(value any) string {
	switch v := value.(type) {
	case string:
		return strings.TrimSpace(v)
	case []string:
		return strings.Join(v, ", ")
	}
	return ""
}
