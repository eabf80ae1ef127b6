// Package preflight looks at what is about to be sent and tells what is wrong
// with it: damaged files, photos without a place, bands that are missing, a
// survey that is not the one ordered. It changes nothing and stops nothing;
// what to do about a report is for the caller to decide.
package preflight

import (
	"context"
	"sync"
	"time"

	"transect/client/imagery"
	"transect/client/scan"
	"transect/client/tempfile"
)

// Options is what is known of the survey beforehand. All of it is optional.
type Options struct {
	// Expected is the number of images the mission should have.
	Expected int
	// Mission is the ring of the area to be flown, longitudes and latitudes in
	// degrees; RingOf makes one of GeoJSON.
	Mission [][2]float64
	// Date is when the flight was, in any zone.
	Date time.Time
	// MaxListed is how many problems of one code the report lists; 0 means 20.
	// All are counted.
	MaxListed int
	// MaxSpeed is how fast an aircraft may be, in m/s; 0 means 70.
	MaxSpeed float64
	// Now is the time that later photos are from the future of; zero is the
	// clock's.
	Now time.Time
	// SkipDuplicates spares the reading of files that are of one size.
	SkipDuplicates bool
	// Dir is the folder of temporary files, which only large surveys need; ""
	// is the system's.
	Dir string
	// Open opens the files.
	Open imagery.Opener
}

// Checker collects what files say of themselves. Its methods may be called
// from several goroutines; the report does not depend on the order of calls.
//
// It keeps 80 bytes of an image and 16 of any other file, and their names with
// 4 bytes each, in temporary files once they are many: of a million images a
// few megabytes are in memory, and some 40 while the report is made.
type Checker struct {
	opts Options

	mu       sync.Mutex
	report   Report
	problems problemList
	names    names
	files    tempfile.Column[fileRecord]
	photos   tempfile.Column[photoRecord]
	cameras  labels
	bands    labels
	unread   int // images that count, but were not looked at
}

// New returns a checker.
func New(opts Options) *Checker {
	if opts.MaxListed <= 0 {
		opts.MaxListed = 20
	}
	if opts.MaxSpeed <= 0 {
		opts.MaxSpeed = 70
	}
	if opts.Now.IsZero() {
		opts.Now = time.Now()
	}
	c := &Checker{opts: opts, report: Report{ByKind: map[string]int{}, BySkipped: map[string]int{}}}
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

// Add takes in an item, or an error that scan.Items gave in place of one.
// photo and err are what imagery.Read said of an image; when both are nil, Add
// reads it. Other files are opened to see whether they are whole.
func (c *Checker) Add(item scan.Item, photo *imagery.Photo, err error) {
	if len(item.Members) == 0 {
		c.addSkipped(err)
		return
	}
	main := item.Members[0].File
	var found []Problem
	switch {
	case item.Kind == "image":
		if photo == nil && err == nil {
			p, readErr := c.opts.Open.Read(main.Path)
			photo, err = &p, readErr
		}
		found = imageProblems(main, item.Format, photo, err)
	default:
		for _, m := range item.Members {
			if p, bad := checkWhole(c.opts.Open, m.File, item.Format, m.Component); bad {
				found = append(found, p)
			}
		}
	}
	if item.Note != "" {
		found = append(found, noteProblem(item))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count(item)
	for _, m := range item.Members {
		c.files.Add(fileRecord{c.names.add(m.Path, m.Name), m.Size})
	}
	for _, p := range found {
		c.problems.add(p)
	}
	if item.Kind == "image" && photo != nil && err == nil {
		c.addPhoto(main.Name, c.files.Len()-len(item.Members), *photo)
	}
}

// Compare says where and when the survey was to be, when that becomes known
// later than the other options.
func (c *Checker) Compare(mission [][2]float64, date time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opts.Mission, c.opts.Date = mission, date
}

// AddKnown takes in an item that is there already: it counts, and is not looked
// at.
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

// Report works out what was added so far. It may be called again after more
// was added.
func (c *Checker) Report() *Report { return c.ReportContext(context.Background()) }

// ReportContext is Report with an end to the reading of files that may be
// duplicates: when ctx ends, those not compared yet are not reported.
func (c *Checker) ReportContext(ctx context.Context) *Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	report := c.report.clone()
	problems := c.problems.clone()
	s := &survey{Checker: c, problems: &problems, photos: c.byTime()}
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
		s.checkDuplicates(ctx)
	}
	report.Problems, report.Counts = problems.list(c.opts.MaxListed)
	for _, n := range report.Counts {
		if n.Severity == Error {
			report.Errors += n.Count
		} else {
			report.Warnings += n.Count
		}
	}
	return report
}
