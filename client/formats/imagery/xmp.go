package imagery

import (
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"transect/client/formats/tiff"
)

// addXMP sets the fields found only in the XMP record: height above take-off, gimbal angles,
// spectral band, and the position when EXIF has none.
//
// Properties are matched by their local name, because drone and camera makers use the same names,
// each in their own namespace.
func (p *Photo) addXMP(record io.Reader) {
	found := readXMP(record)
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
	// Some firmware writes "GpsLongtitude".
	latitude := coordinate(found, "S", "GPSLatitude", "GpsLatitude")
	longitude := coordinate(found, "W", "GPSLongitude", "GpsLongitude", "GpsLongtitude")
	if latitude != nil && longitude != nil && math.Abs(*latitude) <= 90 && math.Abs(*longitude) <= 180 {
		p.XMP.HasPosition, p.XMP.Latitude, p.XMP.Longitude = true, *latitude, *longitude
	}
	p.XMP.Altitude = number("AbsoluteAltitude")
	if above := number("GPSAltitude"); p.XMP.Altitude == nil && above != nil {
		if xmpText(found["GPSAltitudeRef"]) == "1" {
			*above = -*above
		}
		p.XMP.Altitude = above
	}
	for _, name := range []string{"DateTimeOriginal", "DateTimeDigitized", "CreateDate", "DateCreated", "ModifyDate"} {
		if taken, dateOnly, ok := parseTime(xmpText(found[name])); ok && p.XMP.Acquired.IsZero() {
			p.XMP.Acquired, p.XMP.DateOnly = taken, dateOnly
		}
	}
	if p.XMP.HasPosition && (!p.HasPosition || p.wholeSeconds()) {
		p.setPosition(p.XMP.Latitude, p.XMP.Longitude)
	}
	if p.Altitude == nil {
		p.Altitude = p.XMP.Altitude
	}
	if p.Acquired.IsZero() {
		p.Acquired = p.XMP.Acquired
	}
}

// wholeSeconds reports whether the position was truncated to whole seconds, up to 31 m, while XMP
// has the fractions.
func (p *Photo) wholeSeconds() bool {
	whole := func(degrees float64) bool {
		seconds := degrees * 3600
		return math.Abs(seconds-math.Round(seconds)) < 1e-6
	}
	const second = 1.0 / 3600
	return whole(p.Latitude) && whole(p.Longitude) && math.Abs(p.Latitude-p.XMP.Latitude) < second &&
		math.Abs(p.Longitude-p.XMP.Longitude) < second
}

// coordinate returns the degrees under one of several names: a number, or a text like "50,43.872N"
// (XMP part 2, GPSCoordinate).
func coordinate(found map[string]any, negative string, names ...string) *float64 {
	for _, name := range names {
		if n, ok := xmpNumber(found[name]); ok {
			return &n
		}
		text := xmpText(found[name])
		if text == "" {
			continue
		}
		reference := text[len(text)-1:]
		if !strings.Contains("NSEWnsew", reference) {
			continue
		}
		var parts []float64
		for _, part := range strings.Split(text[:len(text)-1], ",") {
			n, ok := xmpNumber(part)
			if !ok {
				parts = nil
				break
			}
			parts = append(parts, n)
		}
		if n, ok := degrees(parts, reference, negative); ok {
			return &n
		}
	}
	return nil
}

func xmpNumber(value any) (float64, bool) {
	switch v := value.(type) {
	case float64:
		return v, !tiff.NotFinite(v)
	case string:
		above, below, fraction := strings.Cut(strings.TrimSpace(v), "/") // like 136169/100
		n, err := strconv.ParseFloat(above, 64)
		if fraction {
			by, wrong := strconv.ParseFloat(below, 64)
			n, err = n/by, errors.Join(err, wrong)
		}
		return n, err == nil && !tiff.NotFinite(n)
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
