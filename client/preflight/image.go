package preflight

import (
	"errors"
	"fmt"
	"math"
	"path"
	"strings"
	"time"

	"transect/client/fault"
	"transect/client/formats/imagery"
	"transect/client/scan"
)

// Tolerances between the EXIF and XMP metadata of a photo.
const (
	samePlace    = 30.0 // metres
	sameAltitude = 10.0 // metres
	sameTime     = 2 * time.Minute
	zones        = 27 * time.Hour // between the farthest time zones
)

// imageProblems returns the problems of one image.
func imageProblems(file scan.File, format string, p *imagery.Photo, err error) []Problem {
	if err != nil {
		return readProblems(file, format, err)
	}
	var found []Problem
	warn := func(code, hint, text string, args ...any) {
		found = append(found, newProblem(code, Warning, file.Name, fmt.Sprintf(text, args...), hint))
	}
	const hint = "write the position into the photo's EXIF record, or leave the photo out"
	switch {
	case p.Unsigned && !p.HasPosition:
		warn("no-position", hint, "its position does not say whether it is north or south, east or west")
	case p.Void && !p.HasPosition:
		warn("void-position", hint, "its position is 0, 0: the camera had no GPS fix")
	case !p.HasPosition:
		warn("no-position", hint, "it has no GPS position")
	case p.XMP.HasPosition:
		if apart := distance(p.Latitude, p.Longitude, p.XMP.Latitude, p.XMP.Longitude); apart > samePlace {
			warn("position-disagrees", "find out which tool changed one of the two; EXIF is used",
				"its EXIF and XMP positions are %s apart", metres(apart))
		}
	}
	if p.NoFix && p.HasPosition {
		warn("no-fix", "compare it with the photos before and after it",
			"its camera had no GPS fix: the position may be an earlier one")
	}
	if p.Altitude != nil && p.XMP.Altitude != nil && math.Abs(*p.Altitude-*p.XMP.Altitude) > sameAltitude {
		warn("altitude-disagrees",
			"find out whether one of them is above the ellipsoid or above take-off; EXIF is used",
			"its altitude is %.1f m in EXIF, %.1f m in XMP", *p.Altitude, *p.XMP.Altitude)
	}
	if clocksDisagree(p) {
		layout := "2006-01-02 15:04:05"
		if p.XMP.DateOnly {
			layout = time.DateOnly
		}
		warn("date-disagrees", "find out which tool changed one of the two; EXIF is used",
			"it was taken %s according to EXIF, %s according to XMP",
			p.Acquired.Format("2006-01-02 15:04:05"), p.XMP.Acquired.Format(layout))
	}
	if p.Acquired.IsZero() {
		warn("no-date", "set the camera's clock; the photo is sent without a date", "it does not say when it was taken")
	}
	return found
}

// clocksDisagree reports whether the two times cannot be the same moment in any two time zones.
func clocksDisagree(p *imagery.Photo) bool {
	if p.Acquired.IsZero() || p.XMP.Acquired.IsZero() || p.XMP.Acquired.Year() < 1990 || p.Acquired.Year() < 1990 {
		return false // checkDates reports an unset clock
	}
	apart := p.Acquired.Sub(p.XMP.Acquired).Abs()
	switch {
	case p.XMP.DateOnly:
		return apart > zones+24*time.Hour
	case apart > zones:
		return true
	}
	apart %= 15 * time.Minute
	return min(apart, 15*time.Minute-apart) > sameTime
}

// readProblems returns the problems of an image that could not be read.
func readProblems(file scan.File, format string, err error) []Problem {
	cause := imagery.CauseOf(err)
	p := Problem{Severity: Error, Name: file.Name, Message: err.Error()}
	if f := fault.Find(err); f != nil {
		p.Hint = f.Facts().Hint
		p.Message = f.Facts().Message
	}
	p.Message = strings.TrimPrefix(p.Message, file.Path+": ")
	switch cause {
	case "":
		p.Code = "unreadable"
	case imagery.Unsupported, imagery.NotImage:
		if cause == imagery.Unsupported || !imagery.Reads(format) {
			p.Severity, p.Code = Warning, "not-checked"
			p.Message = "it was not checked: " + p.Message
			break
		}
		p.Code = "not-an-image"
	default:
		p.Code = strings.ReplaceAll(string(cause), " ", "-")
	}
	return []Problem{p}
}

// addSkipped counts a skipped file, and reports it unless it is harmless.
func (c *Checker) addSkipped(err error) {
	if err == nil {
		return
	}
	var s *scan.Skipped
	c.mu.Lock()
	defer c.mu.Unlock()
	if !errors.As(err, &s) {
		p := Problem{Code: "unreadable", Severity: Error, Message: err.Error()}
		if f := fault.Find(err); f != nil {
			p.Hint = f.Facts().Hint
		}
		c.problems.add(p)
		return
	}
	c.report.BySkipped[string(s.Reason)]++
	c.report.tally(s.Verdict())
	if s.Harmless() {
		return
	}
	p := newProblem("left-out", Warning, s.Name, s.Why(), s.Hint())
	if s.Verdict().Bad() {
		p.Code, p.Severity = strings.ReplaceAll(string(s.Reason), " ", "-"), Error
	}
	c.problems.add(p)
}

// noteProblem returns the problem for a note by the scan.
func noteProblem(item scan.Item) Problem {
	p := Problem{Code: "odd", Severity: Warning, Name: item.Name, Message: item.Note}
	if item.Incomplete {
		p.Code, p.Severity = "incomplete", Error
		p.Hint = "copy the missing files next to " + path.Base(item.Name) + ": it consists of several files of one name"
	}
	return p
}
