package imagery

import (
	"context"
	"errors"
	"slices"
	"time"

	"transect/client/fault"
	"transect/client/files"
	"transect/client/geodesic"
)

// ScanOptions configure Scan.
type ScanOptions struct {
	// Recursive includes subfolders, but not hidden ones.
	Recursive bool
	// Among, unless nil, selects the files to read.
	Among func(paths []string) []string
	// Tree holds the files.
	Tree files.Tree
}

// Survey is the result of Scan.
type Survey struct {
	// Photos are the usable photos in natural order of their paths (2 before 10).
	Photos []Photo
	// Problems are the excluded image files, in the same order.
	Problems []Problem
	// Date is the earliest acquisition, the zero time when unknown.
	Date time.Time
	// Footprint estimates the ground covered, see Footprint.
	Footprint [][2]float64
	// Area is the area of the footprint, in square metres.
	Area float64
	// Bytes is the total size of all Photos.
	Bytes int64
}

// Scan reads the image files of a folder, selected by their extension. An image that is empty,
// damaged, a duplicate or without position becomes a Problem.
//
// Errors are faults: a FileError for a missing folder or one without images, a CancelledError or
// TimeoutError when ctx ends.
func Scan(ctx context.Context, dir string, opt ScanOptions) (Survey, error) {
	paths, problems, err := Files(ctx, opt.Tree, dir, opt.Recursive)
	if err != nil {
		return Survey{}, err
	}
	if opt.Among != nil {
		paths = opt.Among(paths)
	}
	survey := Survey{Problems: problems}
	for r := NewReader(paths, opt.Tree); ; {
		p, problem, ok, err := r.Next(ctx)
		if err != nil {
			return Survey{}, stopped(ctx, dir)
		}
		if !ok {
			break
		}
		if problem != nil {
			survey.Problems = append(survey.Problems, *problem)
		} else {
			survey.Photos = append(survey.Photos, p)
		}
	}
	if survey.dropDuplicates(ctx, opt.Tree); ctx.Err() != nil {
		return Survey{}, stopped(ctx, dir)
	}
	survey.conclude()
	return survey, nil
}

// problemWith returns why a photo is excluded, or nil.
func problemWith(p Photo, err error) *Problem {
	var problem Problem
	switch {
	case err != nil:
		problem = problemOf(p.Path, err)
	case p.Void:
		problem = newProblem(p.Path, NoPosition, "its position is 0, 0: the camera had no GPS fix")
	case !p.HasPosition:
		problem = newProblem(p.Path, NoPosition, "it has no GPS position")
	default:
		return nil
	}
	return &problem
}

// conclude computes the totals of the photos.
func (s *Survey) conclude() {
	slices.SortStableFunc(s.Problems, func(a, b Problem) int { return NaturalCompare(a.Path, b.Path) })
	for _, p := range s.Photos {
		s.Bytes += p.Size
		if !p.Acquired.IsZero() && (s.Date.IsZero() || p.Acquired.Before(s.Date)) {
			s.Date = p.Acquired
		}
	}
	s.Footprint = Footprint(s.Photos)
	s.Area = geodesic.Area(s.Footprint)
}

func stopped(ctx context.Context, dir string) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, context.DeadlineExceeded) {
		return fault.Of(&fault.TimeoutError{}, "reading the photos of %s took too long: %w", dir, cause)
	}
	return fault.Of(&fault.CancelledError{}, "reading the photos of %s was stopped: %w", dir, cause)
}
