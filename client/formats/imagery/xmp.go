package imagery

import (
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"transect/client/formats/tiff"
)

// addXMP sets the fields that only the XMP record has: height above take-off,
// gimbal angles, spectral band, and the position when EXIF has none.
//
// Properties are matched by their local name: drone and camera makers use the
// same names, each in a namespace of their own.
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
	for _, name := range []string{"DateTimeOriginal", "CreateDate"} {
		if p.XMP.Acquired.IsZero() {
			p.XMP.Acquired, p.XMP.DateOnly = xmpTime(xmpText(found[name]))
		}
	}
	if !p.HasPosition && p.XMP.HasPosition {
		if p.setPosition(p.XMP.Latitude, p.XMP.Longitude); p.HasPosition && p.Altitude == nil {
			p.Altitude = p.XMP.Altitude
		}
	}
}

// coordinate returns the degrees under one of several names: a number, or a text
// such as "50,43.872N" (XMP part 2, GPSCoordinate).
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

// xmpTime parses an XMP date (ISO 8601), possibly abbreviated.
func xmpTime(text string) (acquired time.Time, dateOnly bool) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04"} {
		if acquired, err := time.Parse(layout, text); err == nil {
			return acquired, false
		}
	}
	acquired, _ = time.Parse(time.DateOnly, text)
	return acquired, true
}

func xmpNumber(value any) (float64, bool) {
	switch v := value.(type) {
	case float64:
		return v, !tiff.NotFinite(v)
	case string:
		n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
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
