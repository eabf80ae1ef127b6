package imagery

import (
	"cmp"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"transect/client/formats/tiff"
)

// EXIF tags (CIPA DC-008).
const (
	tagDateTimeOriginal  = 0x9003
	tagDateTimeDigitized = 0x9004
	tagOffsetTime        = 0x9010
	tagOffsetOriginal    = 0x9011
	tagOffsetDigitized   = 0x9012
	tagSubSecTime        = 0x9290
	tagSubSecOriginal    = 0x9291
	tagSubSecDigitized   = 0x9292
	tagFocalLength       = 0x920A
	tagFocalLength35     = 0xA405
	tagPixelXDimension   = 0xA002
	tagFocalPlaneXRes    = 0xA20E
	tagFocalPlaneUnit    = 0xA210

	tagGPSLatitudeRef  = 0x01
	tagGPSLatitude     = 0x02
	tagGPSLongitudeRef = 0x03
	tagGPSLongitude    = 0x04
	tagGPSAltitudeRef  = 0x05
	tagGPSAltitude     = 0x06
	tagGPSTimeStamp    = 0x07
	tagGPSStatus       = 0x09
	tagGPSDateStamp    = 0x1D
)

// addEXIF sets the fields in the EXIF record. EXIF is parsed by hand because
// github.com/bep/imagemeta stops at the first invalid entry, which some cameras write in every
// photo, and needs the record in memory.
func (p *Photo) addEXIF(record *io.SectionReader) {
	t, first, ok := tiff.NewReader(record, record.Size())
	if !ok {
		return
	}
	d, ok := t.Directory(first)
	if !ok {
		return
	}
	p.Make, p.Model = t.Text(d, tiff.Make), t.Text(d, tiff.Model)
	if at, ok := t.Number(d, tiff.GPSIFD); ok {
		if gps, ok := t.Directory(int64(at)); ok {
			p.addGPS(t, gps)
		}
	}
	var exif tiff.Directory // without entries if it is missing
	if at, ok := t.Number(d, tiff.ExifIFD); ok {
		exif, _ = t.Directory(int64(at))
	}
	p.FocalLength, _ = t.Number(exif, tagFocalLength)
	p.FocalLength35, _ = t.Number(exif, tagFocalLength35)
	p.SensorWidth = sensorWidth(t, exif, p.Width)
	if clock, ok := clockOf(t, d, exif); ok && (p.Acquired.IsZero() || clock.After(p.Acquired.Add(-anyZone))) {
		p.Acquired = clock // a clock days behind the satellites' was reset
	}
}

// anyZone is the largest difference between the local times of two places, plus an hour.
const anyZone = 27 * time.Hour

// clockOf returns when a photo was taken by the camera's clock: when the shutter opened, else when
// the picture was stored, else when the file was last changed.
func clockOf(t tiff.Reader, d, exif tiff.Directory) (taken time.Time, ok bool) {
	anyOffset := t.Text(exif, tagOffsetTime)
	for _, c := range []struct {
		in                      tiff.Directory
		clock, fraction, offset uint16
	}{
		{exif, tagDateTimeOriginal, tagSubSecOriginal, tagOffsetOriginal},
		{exif, tagDateTimeDigitized, tagSubSecDigitized, tagOffsetDigitized},
		{d, tiff.DateTime, tagSubSecTime, tagOffsetTime},
	} {
		text := t.Text(c.in, c.clock)
		if fraction := strings.TrimSpace(t.Text(exif, c.fraction)); fraction != "" {
			text += "." + fraction
		}
		text += cmp.Or(t.Text(exif, c.offset), anyOffset)
		if taken, _, ok := parseTime(text); ok {
			return taken, true
		}
	}
	return time.Time{}, false
}

// sensorWidth returns the width of the sensor in millimetres, from the pixel
// density on the focal plane; 0 when that is unknown or implausible.
func sensorWidth(t tiff.Reader, exif tiff.Directory, stored int) float64 {
	density, ok := t.Number(exif, tagFocalPlaneXRes)
	if !ok || density <= 0 {
		return 0
	}
	pixels, ok := t.Number(exif, tagPixelXDimension)
	if !ok || pixels <= 0 {
		pixels = float64(stored)
	}
	unit := 25.4 // inches are the default
	if code, ok := t.Number(exif, tagFocalPlaneUnit); ok {
		unit = map[float64]float64{2: 25.4, 3: 10, 4: 1, 5: 1e-3}[code]
	}
	if width := pixels / density * unit; width >= 2 && width <= 100 {
		return width
	}
	return 0
}

// addGPS sets position, altitude and time from the GPS directory.
func (p *Photo) addGPS(t tiff.Reader, gps tiff.Directory) {
	north, east := t.Text(gps, tagGPSLatitudeRef), t.Text(gps, tagGPSLongitudeRef)
	latitude, ok := degrees(t.Numbers(gps, tagGPSLatitude), north, "S")
	longitude, ok2 := degrees(t.Numbers(gps, tagGPSLongitude), east, "W")
	if p.Unsigned = north == "" && latitude != 0 || east == "" && longitude != 0; ok && ok2 && !p.Unsigned {
		p.setPosition(latitude, longitude)
	}
	p.NoFix = strings.HasPrefix(t.Text(gps, tagGPSStatus), "V")
	if altitude, ok := t.Number(gps, tagGPSAltitude); ok {
		if below, _ := t.Number(gps, tagGPSAltitudeRef); below == 1 || t.Text(gps, tagGPSAltitudeRef) == "1" {
			altitude = -altitude
		}
		p.Altitude = &altitude
	}
	clock := t.Numbers(gps, tagGPSTimeStamp)
	day, _, ok := parseTime(t.Text(gps, tagGPSDateStamp))
	if ok && len(clock) == 3 {
		seconds := clock[0]*3600 + clock[1]*60 + clock[2]
		if seconds >= 0 && seconds < 24*3600+1 {
			p.Acquired = day.Add(time.Duration(math.Round(seconds*1e6)) * time.Microsecond)
		}
	}
}

// setPosition sets a valid position.
func (p *Photo) setPosition(latitude, longitude float64) {
	switch {
	case latitude == 0 && longitude == 0:
		p.Void = true
	case math.Abs(latitude) <= 90 && math.Abs(longitude) <= 180:
		p.HasPosition, p.Latitude, p.Longitude = true, latitude, longitude
	}
}

// degrees converts degrees, minutes and seconds to signed degrees.
func degrees(parts []float64, reference, negative string) (float64, bool) {
	if len(parts) == 0 {
		return 0, false
	}
	sum, unit := 0.0, 1.0
	for _, part := range parts[:min(len(parts), 3)] {
		// Some writers of decimal degrees set minutes and seconds to 0/0.
		if !math.IsNaN(part) {
			sum += part / unit
		} else if unit == 1 {
			return 0, false
		}
		unit *= 60
	}
	if strings.HasPrefix(strings.ToUpper(reference), negative) {
		sum = -sum
	}
	return sum, true
}

// timePattern matches a date in EXIF (2016:06:23 16:31:59), in XMP (2016-06-23T16:31+02:00), and as
// cameras write it: with any separators, with or without time of day, fraction and zone.
var timePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(\d{4})[-:/.](\d\d?)[-:/.](\d\d?)` +
		`(?:[T\s]+(\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?\s*(?:Z|([-+])(\d\d):?(\d\d))?)?\s*$`)
})

// parseTime parses a date in any form of timePattern, as UTC if it has no zone; 24:00 is the
// following midnight.
func parseTime(text string) (taken time.Time, dateOnly, ok bool) {
	m := timePattern().FindStringSubmatch(strings.TrimRight(text, "\x00 "))
	if m == nil {
		return taken, false, false
	}
	n := func(at int) int { v, _ := strconv.Atoi(m[at]); return v } // digits or ""
	fraction, _ := strconv.ParseFloat("0."+m[7], 64)
	taken = time.Date(n(1), time.Month(n(2)), n(3), n(4), n(5), n(6), int(math.Round(fraction*1e9)), time.UTC)
	day := time.Date(n(1), time.Month(n(2)), n(3), 0, 0, 0, 0, time.UTC)
	if n(1) == 0 || day.Month() != time.Month(n(2)) || n(2) == 0 || n(4) > 24 || n(5) > 59 || n(6) > 60 {
		return time.Time{}, false, false
	}
	if offset := n(9)*3600 + n(10)*60; m[8] == "+" {
		taken = taken.In(time.FixedZone("", offset)).Add(-time.Duration(offset) * time.Second)
	} else if m[8] == "-" {
		taken = taken.In(time.FixedZone("", -offset)).Add(time.Duration(offset) * time.Second)
	}
	return taken, m[4] == "", true
}
