// Package preflight checks files before they are ingested, and reports problems: damaged files,
// photos without a position, missing bands, a survey other than the one ordered. It changes nothing
// and stops nothing; the caller decides what to do about a report.
//
// client/ingest adds each scan.Item to a Checker while reading it, and calls Report at the end.
// Single images are checked in image.go, other files in truncated.go, the pixels of both in
// decode.go; the survey as a whole in positions.go, dates.go, bands.go and ground.go, from compact
// records of each photo (record.go). Begin at Checker.
package preflight

import (
	"context"
	"path/filepath"
	"sync"
	"time"
	"unicode/utf8"

	"transect/client/files"
	"transect/client/formats/imagery"
	"transect/client/internal/tempfile"
	"transect/client/scan"
)

// Options describe the survey. All of them are optional.
type Options struct {
	// Expected is the number of images the mission should have.
	Expected int
	// Mission is the ring of the planned area, longitudes and latitudes in degrees; RingOf makes it from GeoJSON.
	Mission [][2]float64
	// Date is the date of the flight, in any zone.
	Date time.Time
	// Now is the current time, the clock's if zero. Later photos are in the future.
	Now time.Time
	// Zone is the zone of times in messages, UTC if nil; a camera's clock without a recorded zone
	// counts as UTC.
	Zone *time.Location
	// SkipDuplicates avoids reading the files of equal size.
	SkipDuplicates bool
	// Dir is the folder of temporary files, which only large surveys need; "" is the system's.
	Dir string
	// Tree holds the files.
	Tree files.Tree
}

// Checker collects the metadata of files. Its methods may be called from several goroutines; the
// report does not depend on the order of calls.
//
// It keeps 80 bytes per image, 16 per other file, and their names in temporary files once there are
// many: a million images take a few megabytes of memory, and some 40 while the report is made.
type Checker struct {
	opts Options

	mu       sync.Mutex
	report   Report
	problems problemList
	names    tempfile.Records
	files    tempfile.Column[fileRecord]
	photos   tempfile.Column[photoRecord]
	cameras  interner
	bands    interner
	unread   int // images counted but not read
}

// New returns a checker.
func New(opts Options) *Checker {
	if opts.Now.IsZero() {
		opts.Now = time.Now()
	}
	c := &Checker{opts: opts, problems: problemList{},
		report: Report{ByKind: map[string]int{}, BySkipped: map[string]int{}}}
	c.names.Dir, c.files.Dir, c.photos.Dir = opts.Dir, opts.Dir, opts.Dir
	return c
}

// Close removes the temporary files. Reports remain valid.
func (c *Checker) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.names.Close()
	c.files.Close()
	c.photos.Close()
}

// Add checks an item, or an error yielded by scan.Items in place of one. photo and err are the
// result of imagery.Read for an image; when both are nil, Add reads it. Other files are opened to
// check whether they are truncated. It returns the problem that makes the item unusable, or nil.
func (c *Checker) Add(item scan.Item, photo *imagery.Photo, err error) *Problem {
	return c.add(item, photo, err, func(found []Problem) []Problem { return found })
}

// add checks an item; decode adds the problems found in the pixels of one without errors.
func (c *Checker) add(item scan.Item, photo *imagery.Photo, err error, decode func([]Problem) []Problem) *Problem {
	if len(item.Members) == 0 {
		c.addSkipped(err)
		return nil
	}
	main := item.Members[0].File
	var found []Problem
	if item.Kind == "image" {
		if photo == nil && err == nil {
			p, readErr := imagery.Read(c.opts.Tree, main.Path)
			photo, err = &p, readErr
		}
		found = imageProblems(main, item.Format, photo, err)
	} else {
		for _, m := range item.Members {
			if p, bad := checkTruncated(c.opts.Tree, m.File, item.Format, m.Component); bad {
				found = append(found, p)
			}
		}
	}
	if item.Damage != "" {
		found = []Problem{newProblem("damaged", Error, item.Name, item.Damage,
			"copy the file again from its source, or give it its right extension")}
	}
	if item.Note != "" {
		found = append(found, noteProblem(item))
	}
	if !utf8.ValidString(filepath.Base(main.Path)) {
		found = append(found, newProblem("name-not-text", Warning, item.Name,
			"its name is not valid UTF-8: on the platform it is another", "rename it, so that it comes back as it was"))
	}
	if !unusable(found) {
		found = decode(found)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count(item)
	c.report.Checked += len(item.Members)
	for i, m := range item.Members {
		c.addFile(item.Kind, m.File, i > 0)
	}
	if item.Kind == "image" && photo != nil && err == nil {
		c.addPhoto(main.Name, c.files.Len()-len(item.Members), *photo)
	}
	var bad *Problem
	for _, p := range found {
		c.problems.add(p)
		if p.Verdict = verdicts[p.Code]; bad == nil && p.Severity == Error && p.Verdict.Bad() {
			bad = &p
		}
	}
	if bad != nil {
		c.report.tally(bad.Verdict)
	}
	return bad
}

// Compare sets Mission and Date when they become known later than the other options.
func (c *Checker) Compare(mission [][2]float64, date time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opts.Mission, c.opts.Date = mission, date
}

// AddKnown counts an item that is already uploaded, without checking it.
func (c *Checker) AddKnown(item scan.Item) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count(item)
	if item.Kind == "image" {
		c.unread++
	}
}

func (c *Checker) count(item scan.Item) {
	c.report.Items++
	c.report.ByKind[item.Kind]++
	c.report.Files += len(item.Members)
	c.report.Bytes += item.Size()
	if item.Kind == "image" {
		c.report.Images++
	}
}

// Report reports on the files added so far. It may be called again after adding more. When ctx
// ends, duplicates not yet compared are not reported.
func (c *Checker) Report(ctx context.Context) *Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	report := c.report.clone()
	problems := c.problems.clone()
	s := &survey{Checker: c, problems: problems, photos: c.byTime()}
	defer s.photos.Close()
	s.checkPositions()
	s.checkDates(report)
	s.checkCameras()
	if c.unread == 0 { // otherwise they may include the rest of a capture
		s.checkBands()
	}
	s.checkGround(report)
	s.checkCount()
	if !c.opts.SkipDuplicates {
		s.checkDuplicates(ctx, report)
	}
	report.Problems, report.Counts = problems.list()
	for _, n := range report.Counts {
		if n.Severity == Error {
			report.Errors += n.Count
		} else {
			report.Warnings += n.Count
		}
	}
	return report
}
