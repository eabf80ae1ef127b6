package imagery

import (
	"io"
	"math"
	"strings"
	"time"

	"transect/client/formats/tiff"
)

// EXIF tags (CIPA DC-008).
const (
	tagDateTimeOriginal   = 0x9003
	tagOffsetTimeOriginal = 0x9011
	tagFocalLength        = 0x920A
	tagFocalLength35      = 0xA405
	tagPixelXDimension    = 0xA002
	tagFocalPlaneXRes     = 0xA20E
	tagFocalPlaneUnit     = 0xA210

	tagGPSLatitudeRef  = 0x01
	tagGPSLatitude     = 0x02
	tagGPSLongitudeRef = 0x03
	tagGPSLongitude    = 0x04
	tagGPSAltitudeRef  = 0x05
	tagGPSAltitude     = 0x06
	tagGPSTimeStamp    = 0x07
	tagGPSDateStamp    = 0x1D
)

// addEXIF sets the fields that the EXIF record has. EXIF is read by hand because
// github.com/bep/imagemeta gives up on a record at its first invalid entry, which
// some cameras write in every photo, and needs the record in memory.
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
	at, ok := t.Number(d, tiff.ExifIFD)
	if !ok {
		return
	}
	exif, ok := t.Directory(int64(at))
	if !ok {
		return
	}
	p.FocalLength, _ = t.Number(exif, tagFocalLength)
	p.FocalLength35, _ = t.Number(exif, tagFocalLength35)
	p.SensorWidth = sensorWidth(t, exif, p.Width)
	taken, zone := t.Text(exif, tagDateTimeOriginal), t.Text(exif, tagOffsetTimeOriginal)
	if acquired, ok := parseTime(taken, zone); ok {
		p.Acquired = acquired
	}
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

// addGPS sets position, altitude and time of the GPS directory.
func (p *Photo) addGPS(t tiff.Reader, gps tiff.Directory) {
	latitude, ok := degrees(t.Numbers(gps, tagGPSLatitude), t.Text(gps, tagGPSLatitudeRef), "S")
	longitude, ok2 := degrees(t.Numbers(gps, tagGPSLongitude), t.Text(gps, tagGPSLongitudeRef), "W")
	if ok && ok2 {
		p.setPosition(latitude, longitude)
	}
	if altitude, ok := t.Number(gps, tagGPSAltitude); ok {
		if below, _ := t.Number(gps, tagGPSAltitudeRef); below == 1 || t.Text(gps, tagGPSAltitudeRef) == "1" {
			altitude = -altitude
		}
		p.Altitude = &altitude
	}
	clock := t.Numbers(gps, tagGPSTimeStamp)
	day, err := time.Parse("2006:01:02", t.Text(gps, tagGPSDateStamp))
	if err == nil && len(clock) == 3 {
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

// parseTime parses an EXIF time such as "2016:06:23 16:31:59" and a zone such as
// "+02:00".
func parseTime(text, zone string) (acquired time.Time, ok bool) {
	const layout = "2006:01:02 15:04:05"
	if acquired, err := time.Parse(layout+"Z07:00", text+zone); err == nil {
		return acquired, true
	}
	acquired, err := time.Parse(layout, text)
	return acquired, err == nil
}
