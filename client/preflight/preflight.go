// Package preflight checks files before they are ingested, and reports what is
// wrong with them: damaged files, photos without a position, missing bands, a
// survey that is not the one ordered. It changes nothing and stops nothing; what
// to do about a report is for the caller to decide.
//
// client/ingest adds each scan.Item to a Checker as it reads it, and asks for the
// Report at the end. Single images are checked in image.go, other files in
// truncated.go, the pixels of both in decode.go; the survey as a whole in positions.go, dates.go, bands.go and
// ground.go, from compact records of each photo (record.go). Begin at Checker.
package preflight

import (
	"context"
	"path/filepath"
	"sync"
	"time"
	"unicode/utf8"

	"transect/client/files"
	"transect/client/formats/imagery"
	"transect/client/scan"
	"transect/client/tempfile"
)

// Options is what is known about the survey. All of it is optional.
type Options struct {
	// Expected is the number of images the mission should have.
	Expected int
	// Mission is the ring of the area to be flown, longitudes and latitudes in
	// degrees; RingOf makes one of GeoJSON.
	Mission [][2]float64
	// Date is when the flight was, in any zone.
	Date time.Time
	// Now is the present time; zero is the clock's. Later photos are from the future.
	Now time.Time
	// Zone is that of the times in messages; nil is UTC, which the clock of a camera
	// without a recorded zone is taken for.
	Zone *time.Location
	// SkipDuplicates saves reading the files that have the same size.
	SkipDuplicates bool
	// Dir is the folder of temporary files, which only large surveys need; ""
	// is the system's.
	Dir string
	// Tree holds the files.
	Tree files.Tree
}

// Checker collects what files say about themselves. Its methods may be called
// from several goroutines; the report does not depend on the order of calls.
//
// It keeps 80 bytes of an image, 16 of any other file, and their names in
// temporary files once they are many: of a million images a few megabytes are in
// memory, and some 40 while the report is made.
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
	unread   int // images that are counted, but were not read
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

// Close removes the temporary files. What a report says stays.
func (c *Checker) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.names.Close()
	c.files.Close()
	c.photos.Close()
}

// Add checks an item, or an error that scan.Items gave in place of one. photo and
// err are the result of imagery.Read for an image; when both are nil, Add reads
// it. Other files are opened to see whether they are truncated. It returns the
// problem that makes the item unusable, or nil.
func (c *Checker) Add(item scan.Item, photo *imagery.Photo, err error) *Problem {
	return c.add(item, photo, err, func(found []Problem) []Problem { return found })
}

// add checks an item; decode adds what is found in the pixels of one without errors.
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
			"copy the file again from where it came from, or give it its right extension")}
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

// Compare sets Mission and Date when they become known later than the other
// options.
func (c *Checker) Compare(mission [][2]float64, date time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opts.Mission, c.opts.Date = mission, date
}

// AddKnown counts an item that is uploaded already, and does not check it.
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

// Report reports on what was added so far. It may be called again after more was
// added. When ctx ends, duplicates not yet compared are not reported.
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
	if c.unread == 0 { // else the others of a capture may be among them
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
